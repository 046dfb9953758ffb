// Which values count as secret, and in which forms they are found again.

import assert from 'node:assert/strict';
import { createMask } from '../../../server/agents/kit/log/masking.ts';
import { knownSecrets } from '../../../server/agents/secrets/known-secrets.ts';

function values(environment: Readonly<Record<string, string>>): readonly string[] {
  return knownSecrets(environment).map(({ value }) => value);
}

suite('known secrets', () => {
  test('secrets are recognized by a wide list of names, in any case', () => {
    const names = `STRIPE_PAT PGPASS MYSQL_PWD SLACK_WEBHOOK SENTRY_DSN AUTH_COOKIE LDAP_CREDENTIAL SSH_PASSPHRASE
      Db_Passwd proxy_auth APP_CREDS AUTHORIZATION MY_PRIVATE FOO_SESSION apikey`;
    for (const name of names.split(/\s+/))
      assert.deepEqual(values({ [name]: 'v4lue-x' }), ['v4lue-x'], name);
    assert.deepEqual(values({ MYSQL_PWD: 'geheimnis' }), ['geheimnis']);
  });
  test('folders, sockets and ordinary words are not secrets', () => {
    const plain = {
      PWD: '/home/me/work',
      OLDPWD: '/home/me',
      SSH_AUTH_SOCK: '/run/user/1000/keyring/ssh',
      GIT_ASKPASS: '/usr/bin/askpass',
      XDG_SESSION_TYPE: 'wayland',
      XDG_SESSION_ID: '12345678',
      GOOGLE_APPLICATION_CREDENTIALS: '~/keys/service.json',
      PATTERN: 'abc-123-x',
      AUTHOR: 'some-body-1',
    };
    assert.deepEqual(values(plain), []);
  });
  test('secrets inside URLs and JSON are recognized', () => {
    const dsn = 'https://0123456789abcdef01@o1.ingest.example.io/7';
    assert.deepEqual(values({ ERRORS: dsn }), ['0123456789abcdef01']);
    const json = JSON.stringify({ type: 'service_account', auth: [{ private_key: 'k1-k2-k3' }] });
    assert.deepEqual(values({ ACCOUNT: json }), ['k1-k2-k3']);
    assert.deepEqual(values({ ACCOUNT: '{"private_key": ' }), []);
  });
  test('secrets are hidden in every form in which they are commonly written', () => {
    const secret = 'pa/ss wörd+?42';
    const mask = createMask([secret]);
    const bytes = Buffer.from(secret);
    for (const before of ['', 'a', 'ab', 'abc', 'some:']) {
      const around = Buffer.from(`${before}${secret}after`);
      for (const encoding of ['base64', 'base64url'] as const) {
        assert.match(mask(around.toString(encoding)), /\[hidden\]/, `${before} ${encoding}`);
      }
    }
    const forms = [
      secret,
      JSON.stringify(secret),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      encodeURIComponent(secret),
      encodeURIComponent(secret).replaceAll('%20', '+'),
      Array.from(secret).toReversed().join(''),
      Array.from(secret).join(' '),
      Array.from(secret).join('\0'),
      encodeURIComponent(secret).replace(/%../g, (code) => code.toLowerCase()),
      secret.replaceAll('/', '\\/'),
      secret.replaceAll('+', '\\u002b'),
    ];
    for (const form of forms) assert.match(mask(`x${form}y`), /^x"?\[hidden\]"?y$/, form);
  });
  test('keys in a published format are hidden without being known', () => {
    const mask = createMask([]);
    const letters = 'aB3dE6gH9jK2mN5pQ8sT1vW4yZ7bD0fG3hJ6';
    const keys = [
      `AKIA${'QWERTZUIOPASDFGH'}`,
      `ghp_${letters}`,
      `npm_${letters}`,
      `xoxb-${'3948572039'}-${letters}`,
      `pypi-AgE${letters}${letters}`,
      `-----BEGIN ${'PRIVATE'} KEY-----\\n${letters}\\n-----END ${'PRIVATE'} KEY-----`,
    ];
    for (const key of keys) assert.equal(mask(`a "${key}" b`), 'a "[hidden]" b');
    assert.equal(mask('npm_config_cache of key-names'), 'npm_config_cache of key-names');
  });
});
