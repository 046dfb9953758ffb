// Secrets that are found in contents, and texts that only look like them: keys by their format,
// random-looking assignments.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { secretSearch } from '../../../server/agents/secrets/content.ts';

const search = secretSearch([
  { name: 'DB_PASSWORD', value: 'postgres' },
  { name: 'SSH_AUTH', value: '/run/user/1/agent' },
]);

async function found(text: string, path = 'src/a.ts'): Promise<readonly string[]> {
  return (await search(Buffer.from(text), path)).map(({ what }) => what);
}

/** Made here, so that this file contains no secret. */
function random(characters: number): string {
  const text = 'qW7eR9tYuI3oP5aSdF1gHjK2lZxC4vB6nM8'.repeat(5);
  return text.slice(0, characters);
}

suite('secrets in contents', () => {
  // A few values that are really random look artificial.
  const hex = (bytes: number): string =>
    createHash('sha256')
      .update('a secret')
      .digest('hex')
      .slice(0, 2 * bytes);
  for (const [what, text] of [
    ['AWS key', `aws_secret_access_key = "${random(40)}"`],
    ['GitHub key', `ghp_${random(36)}`],
    ['OpenAI key', `sk-proj-${random(74)}T3BlbkFJ${random(74)}`],
    ['Anthropic key', `sk-ant-api03-${random(93)}AA`],
    ['Slack key', `xoxb-123123123123-123123123123-${random(24)}`],
    ['Stripe key', `sk_live_${random(24)}`],
    ['GitLab key', `glpat-${random(20)}`],
    ['JSON web token', `eyJ${random(20)}.eyJ${random(30)}.${random(43)}`],
    ['Google API key', `AIza${random(35)}`],
    ['password in a URL', `postgresql://app:${random(12)}@db.somewhere.io/app`],
    [
      'private key',
      `-----BEGIN ${'RSA'} PRIVATE KEY-----\n${`${random(64)}\n`.repeat(8)}-----END RSA PRIVATE KEY-----`,
    ],
    ['secret', `const apiKey = '${hex(16)}';`],
    ['secret', `const apiKey = '${'9e31b7c5a0'.repeat(3)}e1';`],
    ['secret', `DEPLOY_TOKEN=${random(32)}`],
    ['secret', `  "client_secret": "${random(24)}",`],
  ] as const) {
    test(`a secret is found, ${what}: ${text.slice(0, 20)}…`, async () => {
      assert.deepEqual((await found(text)).slice(0, 1), [what]);
    });
  }

  for (const text of [
    '"integrity": "sha512-6rdwBwLP9+TO3rRjMVW1tX+lQeo5gBbxl1I5F8nh8bgGtKwdlCMhMKsBWzWg1ostxx/tIG7OjZI0/BxsP8bUgw=="',
    'const id = "3f2504e0-4f89-11d3-9a0c-0305e82c3301"; token_id: 3f2504e0-4f89-11d3-9a0c-0305e82c3301',
    'commit 1f6fe36d0621ad4e06d7eef319e889d11046ebf412c8 and key: value',
    'password: process.env.DB_PASSWORD2, apiKey: config.services.api2.key1',
    'API_KEY=your-api-key-goes-here-12345',
    'token = "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"',
    'AKIAIOSFODNN7EXAMPLE',
    'postgresql://drover:s3cr3t-word@127.0.0.1:5432/x https://me:some-word-1@localhost/',
    'image: postgres, at /run/user/1/agent',
    'sort-key: 1700000000000-0000000001-a',
    '// secretlint-disable',
  ]) {
    test(`no secret is found: ${text.slice(0, 40)}…`, async () =>
      assert.deepEqual(await found(text), []));
  }

  test('a comment that disables rules has no effect', async () => {
    assert.deepEqual(await found(`// secretlint-disable\nghp_${random(36)}`), ['GitHub key']);
  });
  test('lock files look random throughout, but keys are still found in them', async () => {
    assert.deepEqual(await found(`token = "${hex(16)}"`, 'sub/yarn.lock'), []);
    assert.deepEqual(await found(`ghp_${random(36)}`, 'yarn.lock'), ['GitHub key']);
  });
  test('if data may look like secrets, only known values count', async () => {
    const value = `kn0wn-${random(10)}`;
    const allowing = secretSearch([{ name: 'A', value }], () => true);
    const whats = await allowing(Buffer.from(`ghp_${random(36)} ${value}`), 'test/a.ts');
    assert.deepEqual(
      whats.map(({ what }) => what),
      ['value of A'],
    );
  });

  for (const [path, text] of [
    ['.npmrc', '//registry.npmjs.org/:_authToken=hunter2-token'],
    ['a/.npmrc', 'registry=https://npm.corp/\n_auth = YWRhOmh1bnRlcjI=\n'],
    ['.yarnrc.yml', 'nodeLinker: node-modules\nnpmAuthToken: "hunter2hunter2"\n'],
    ['.yarnrc.yml', 'npmScopes:\n  corp:\n    npmAuthIdent: ada:hunter2\n'],
    ['pip.conf', `[global]\nindex-url = https://ada:${random(12)}@pypi.corp.io/simple\n`],
    ['.pypirc', '[pypi]\nusername = ada\npassword = hunter2\n'],
    ['.envrc', 'export DEPLOY_TOKEN=hunter2'],
    ['nuget.config', '<add key="ClearTextPassword" value="hunter2" />'],
    ['gradle.properties', 'mavenPassword=hunter2'],
    ['.mvn/settings.xml', '<server><password>hunter2</password></server>'],
  ] as const) {
    test(`${path} contains a credential: ${text.slice(0, 30)}`, async () => {
      assert.notDeepEqual(await found(text, path), []);
    });
  }

  for (const [path, text] of [
    ['.npmrc', 'save-exact=true\nengine-strict=true\n'],
    ['.npmrc', 'registry=https://registry.npmjs.org/\n//npm.corp/:_authToken=${NPM_TOKEN}\n'],
    ['.yarnrc.yml', 'nodeLinker: node-modules\nyarnPath: .yarn/releases/yarn-4.9.1.cjs\n'],
    ['.yarnrc.yml', 'npmAuthToken: "${NPM_TOKEN:-}"\n'],
    ['pip.conf', '[global]\nindex-url = https://pypi.org/simple\nno-cache-dir = true\n'],
    ['.pypirc', '[distutils]\nindex-servers = pypi\n[pypi]\nusername = __token__\n'],
    ['.envrc', 'use flake\nexport DEPLOY_TOKEN=$(pass deploy)\nexport EDITOR=vim\n'],
    ['nuget.config', '<add key="nuget.org" value="https://api.nuget.org/v3/index.json" />'],
    ['gradle.properties', 'org.gradle.parallel=true\nmavenPassword=${env.MAVEN_PASSWORD}\n'],
    ['src/config.ts', 'password = hunter2'],
  ] as const) {
    test(`${path} contains no credential: ${text.slice(0, 30)}`, async () => {
      assert.deepEqual(await found(text, path), []);
    });
  }
});
