// Where the token for a host comes from.

import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../../../server/core/failure.ts';
import { findToken } from '../../../server/forge/sign-in.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('signing in to a forge', () => {
  let folder: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-sign-in-'));
  });
  teardown(() => removeFolder(folder));

  const fileWith = (text: string): string => {
    const path = join(folder, 'token');
    writeFileSync(path, text);
    return path;
  };
  const programThat = (script: string): string => {
    const path = join(folder, 'helper');
    writeFileSync(path, `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
    return path;
  };
  const PATH = process.env['PATH'];

  test('the token is read from a file, and a renewed one is found', async () => {
    const env = { GH_TOKEN_FILE: fileWith('first\n') };
    assert.equal(await findToken('github.com', env), 'first');
    fileWith('second\n');
    assert.equal(await findToken('github.com', env), 'second');
  });

  test('a token in a variable takes precedence over a file', async () => {
    const env = { GH_TOKEN: 'here', GH_TOKEN_FILE: fileWith('there') };
    assert.equal(await findToken('github.com', env), 'here');
  });

  test('the token file for a private server is not used for github.com or another server', async () => {
    const env = { GH_ENTERPRISE_TOKEN_FILE: fileWith('own'), GH_HOST: 'git.example', PATH: folder };
    assert.equal(await findToken('git.example', env), 'own');
    assert.equal(await findToken('github.com', env), null);
    assert.equal(await findToken('evil.example', env), null);
  });

  test('a program gets the host, and prints its token', async () => {
    const env = { PATH, GH_TOKEN_PROGRAM: programThat('echo "token-of-$1"') };
    assert.equal(await findToken('git.example', env), 'token-of-git.example');
  });

  const faults: readonly [string, () => Readonly<Record<string, string | undefined>>, RegExp][] = [
    [
      'a missing file',
      () => ({ GH_TOKEN_FILE: join(folder, 'none') }),
      /none, which GH_TOKEN_FILE/,
    ],
    ['an empty file', () => ({ GH_TOKEN_FILE: fileWith('\n') }), /has no token/],
    ['a file of two words', () => ({ GH_TOKEN_FILE: fileWith('a b') }), /has no token/],
    [
      'a relative path',
      () => ({ GH_TOKEN_FILE: 'token' }),
      /GH_TOKEN_FILE must be an absolute path/,
    ],
    [
      'a program that fails',
      () => ({ PATH, GH_TOKEN_PROGRAM: programThat('echo secret; exit 1') }),
      /helper, which GH_TOKEN_PROGRAM names, prints no token for github\.com\.$/,
    ],
  ];
  for (const [name, env, wanted] of faults) {
    test(`${name} is named`, async () => {
      await assert.rejects(
        () => findToken('github.com', env()),
        (error) => error instanceof Refusal && wanted.test(error.message),
      );
    });
  }
});
