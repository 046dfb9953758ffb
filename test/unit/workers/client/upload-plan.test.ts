// C06–C12: the content of an upload, decided before any instance exists.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  exclusionReason,
  safePath,
  staysInside,
} from '../../../../server/workers/client/exclusion.ts';
import { planUpload, type TreeListing } from '../../../../server/workers/client/upload-plan.ts';
import { removeFolder } from '../../../remove-folder.ts';

const nothing: TreeListing = {
  tracked: [],
  untracked: [],
  droverIgnored: new Set(),
  submodules: [],
};

suite('upload plan', () => {
  let root: string;
  setup(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-plan-'));
  });
  teardown(() => removeFolder(root));

  const write = (path: string, bytes = 1): string => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), '');
    truncateSync(join(root, path), bytes);
    return path;
  };
  const planned = (listing: Partial<TreeListing>): ReturnType<typeof planUpload> =>
    planUpload(root, { ...nothing, ...listing });
  const paths = (listing: Partial<TreeListing>): string[] => {
    const plan = planned(listing);
    assert.ok(plan.ok);
    return plan.value.entries.map((entry) => entry.path);
  };

  test('C06 secrets are never packed, even if git tracks them, and the plan lists them', () => {
    const secrets = ['.env', '.env.local', 'a.pem', 'x/B.KEY', 'credentials.json', 'Credentials-x'];
    const tracked = [...secrets.slice(0, 3), 'a.txt'].map((path) => write(path));
    const untracked = secrets.slice(3).map((path) => write(path));
    const plan = planned({ tracked, untracked });
    assert.ok(plan.ok);
    assert.deepEqual(plan.value.excludedSecrets, secrets.toSorted());
    assert.deepEqual(
      plan.value.entries.map((entry) => entry.path),
      ['a.txt'],
    );
  });

  test('a file whose name is not UTF-8 is left out with a notice, because it cannot be found by that name', () => {
    const plan = planned({ tracked: ['caf\uFFFD', write('a.txt')] });
    assert.ok(plan.ok);
    assert.equal(plan.value.files, 1);
    const notice = 'The name of caf\uFFFD is not UTF-8; it is not uploaded.';
    assert.deepEqual(plan.value.notices, [notice]);
  });

  test('C08 dependency folders are left out unless git tracks them, and .git is never uploaded', () => {
    const tracked = ['dist/x.js', 'bin/run'].map((path) => write(path));
    const untracked = ['a/node_modules/m.js', 'target/t', '.venv/v', 'b/__pycache__/c', 'new.txt'];
    assert.deepEqual(
      paths({ tracked, untracked: [...untracked.map((path) => write(path)), write('.git/x')] }),
      ['bin/run', 'dist/x.js', 'new.txt'],
    );
  });

  test('files that are not uploaded are listed with their reason, a folder of dependencies once', () => {
    const tracked = ['.env', 'big.bin', 'a.txt'].map((path) => write(path));
    const untracked = ['a/node_modules/x/m.js', 'a/node_modules/y/n.js', 'dist/x'].map((path) =>
      write(path),
    );
    symlinkSync('/etc', join(root, 'out'));
    const droverIgnored = new Set(['big.bin']);
    const submodules = ['sub'];
    const listed = { tracked: [...tracked, 'out', 'sub'], untracked: [...untracked, 'own/'] };
    const plan = planned({ ...listed, droverIgnored, submodules });
    assert.ok(plan.ok);
    assert.deepEqual(
      plan.value.leftOut.map(({ path, reason }) => `${path} ${reason}`),
      [
        'sub submodule',
        '.env secret',
        'big.bin ignored',
        'out link',
        'a/node_modules/ dependency',
        'dist/ dependency',
        'own/ repository',
      ],
    );
    assert.equal(plan.value.notices.length, 3);
  });

  test('C07 files that .droverignore names are left out, and a secret stays out whatever it says', () => {
    const tracked = ['a.txt', 'big.bin', 'secret.pem'].map((path) => write(path));
    assert.deepEqual(paths({ tracked, droverIgnored: new Set(['big.bin']) }), ['a.txt']);
  });

  test('C09 a file of 10 MiB passes, and one more byte rejects the job with both sizes', () => {
    const cap = 10 * 1024 * 1024;
    assert.deepEqual(paths({ tracked: [write('big', cap)] }), ['big']);
    const plan = planned({ tracked: [write('big', cap + 1)] });
    assert.deepEqual(plan, {
      ok: false,
      error: `workspace exclusion: file big exceeds max size (${cap + 1} > ${cap} bytes)`,
    });
  });

  test('C10 more than 500 MiB in total rejects the job', () => {
    const tracked = Array.from({ length: 51 }, (_, n) => write(`f${n}`, 10 * 1024 * 1024));
    const plan = planned({ tracked });
    assert.ok(!plan.ok);
    assert.match(plan.error, /total payload exceeds max \(534773760 > 524288000 bytes\)/);
  });

  test('C11 a pipe is left out with a notice', () => {
    execFileSync('mkfifo', [join(root, 'pipe')]);
    const plan = planned({ untracked: ['pipe'] });
    assert.ok(plan.ok);
    assert.deepEqual(plan.value.notices, ['pipe is not a regular file and is not uploaded.']);
  });

  test('C12 links inside are packed as links, and links out of the tree are left out with a notice', () => {
    write('folder/a.txt');
    symlinkSync('../folder/a.txt', join(root, 'folder/inner'));
    symlinkSync('../outside', join(root, 'outer'));
    symlinkSync('/etc', join(root, 'etc'));
    const plan = planned({
      tracked: ['folder/a.txt', 'folder/inner', 'outer', 'etc', 'etc/passwd'],
    });
    assert.ok(plan.ok);
    assert.deepEqual(
      plan.value.entries.map((entry) => `${entry.kind} ${entry.path}`),
      ['file folder/a.txt', 'link folder/inner'],
    );
    assert.equal(plan.value.notices.length, 2);
  });

  test('a submodule and a nested repository are left out with a notice, and a removed file is absent', () => {
    write('sub/a');
    const plan = planned({
      tracked: ['sub', 'gone.txt'],
      untracked: ['nested/'],
      submodules: ['sub'],
    });
    assert.ok(plan.ok);
    assert.deepEqual(plan.value.entries, []);
    assert.equal(plan.value.notices.length, 2);
  });
});

suite('names from and for workers', () => {
  test('safePath accepts only relative names', () => {
    const taken = ['a', './a/b', 'a/', '.hidden'].map(safePath);
    assert.deepEqual(taken, ['a', 'a/b', 'a', '.hidden']);
    const refused = ['../x', '/abs', 'C:\\x', 'c:x', 'a/../b', 'a//b', 'a\\b', 'a\0b', '..', 'a/.'];
    assert.deepEqual(
      refused.map(safePath),
      refused.map(() => null),
    );
  });

  test('staysInside follows no links and counts the steps up', () => {
    assert.ok(staysInside('a/b/link', '../../c'));
    assert.ok(!staysInside('a/b/link', '../../../c'));
    assert.ok(!staysInside('link', '/etc'));
    assert.ok(!staysInside('link', '.git/hooks'));
  });

  test('the floor is the same in any case', () => {
    for (const path of ['.ENV', 'x/ID_RSA', 'A.P12', '.aws/config', 'my-Service-Account-1.json']) {
      assert.equal(exclusionReason(path, true), 'secret', path);
    }
    assert.equal(exclusionReason('src/environment.ts', true), null);
  });
});
