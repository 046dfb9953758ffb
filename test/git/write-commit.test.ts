// The commit of a merge is to the byte the one that git would have written.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeCommit } from '../../server/git/files/write-commit.ts';
import type { GitRepository } from '../../server/git/port.ts';
import { makeFixture, valueOf, type Fixture } from './fixture.ts';

suite('git: commits written here', () => {
  let fixture: Fixture;
  setup(() => {
    fixture = makeFixture();
  });
  teardown(() => fixture.remove());

  let count = 0;
  function commitOn(made: Fixture): string {
    count += 1;
    made.git('switch', '-q', '-c', `side-${count}`, 'main');
    made.write(join(made.root, `side-${count}.txt`), `${count}\n`);
    made.git('add', '-A');
    made.git('commit', '-qm', `side ${count}`);
    const sha = made.git('rev-parse', 'HEAD');
    made.git('switch', '-q', 'main');
    return sha;
  }

  async function mergeIn(made: Fixture, repository: GitRepository): Promise<string> {
    const [tip, commit] = [commitOn(made), commitOn(made)];
    const subject = 'drover: task ü 1';
    const merged = valueOf(await repository.merge({ tip, commit, subject, trailers: ['A: b'] }));
    assert.ok(merged.kind === 'merged');
    return merged.commit;
  }

  /** What git's own commit-tree makes of the same at the same time. */
  function asGit(made: Fixture, sha: string): string {
    const raw = made.git('cat-file', 'commit', sha);
    const when = /^author .*> (\d+ [+-]\d{4})$/mu.exec(raw)?.[1] ?? '';
    const parents = made.git('show', '-s', '--format=%P', sha).split(' ');
    const args = ['commit-tree', `${sha}^{tree}`, ...parents.flatMap((parent) => ['-p', parent])];
    return execFileSync('git', [...args, '-F', '-'], {
      cwd: made.root,
      env: { ...made.environment, GIT_AUTHOR_DATE: when, GIT_COMMITTER_DATE: when },
      input: 'drover: task ü 1\n\nA: b\n',
      encoding: 'utf8',
    }).trim();
  }

  const zone = process.env['TZ'];
  for (const tz of ['UTC', 'America/St_Johns', 'Asia/Kathmandu']) {
    test(`are the same to the byte in ${tz}`, async () => {
      try {
        process.env['TZ'] = tz;
        const sha = await mergeIn(fixture, await fixture.open());
        assert.equal(asGit(fixture, sha), sha);
        assert.equal(fixture.git('fsck', '--strict', '--no-dangling'), '');
        const file = join(fixture.root, '.git', 'objects', sha.slice(0, 2), sha.slice(2));
        assert.equal(statSync(file).mode & 0o777, 0o444);
        assert.match(fixture.git('cat-file', 'commit', sha), /^author .* [+-]\d{4}$/mu);
      } finally {
        if (zone === undefined) delete process.env['TZ'];
        else process.env['TZ'] = zone;
      }
    });
  }

  test('are the same where ids are long', async () => {
    const long = makeFixture({ init: ['--object-format=sha256'] });
    const sha = await mergeIn(long, await long.open());
    assert.equal(sha.length, 64);
    assert.equal(asGit(long, sha), sha);
    long.remove();
  });

  test('a name that is changed later counts at once', async () => {
    const repository = await fixture.open();
    fixture.git('config', 'user.name', 'Somebody Else');
    const changed = await mergeIn(fixture, repository);
    assert.equal(fixture.git('show', '-s', '--format=%an', changed), 'Somebody Else');
    valueOf(await repository.refresh());
    const known = await mergeIn(fixture, repository);
    assert.equal(
      fixture.git('show', '-s', '--format=%an,%cn', known),
      'Somebody Else,Somebody Else',
    );
  });

  for (const [key, value] of [
    ['user.name', 'Dr. A. <x>.'],
    ['i18n.commitEncoding', 'ISO-8859-1'],
    ['core.sharedRepository', 'group'],
    ['include.path', 'elsewhere'],
  ] as const) {
    test(`git makes them where ${key} is ${value}`, async () => {
      fixture.git('config', key, value);
      const sha = await mergeIn(fixture, await fixture.open());
      assert.equal(asGit(fixture, sha), sha);
    });
  }

  test('nothing is left behind where they cannot be written', () => {
    const objects = join(fixture.home, 'objects');
    writeFileSync(objects, 'no folder');
    const commit = {
      tree: '1'.repeat(40),
      parents: [],
      author: 'A <a>',
      committer: 'A <a>',
      atMs: 0,
    };
    assert.equal(writeCommit(objects, { ...commit, message: 'a' }), null);
    const folder = join(fixture.root, '.git', 'objects');
    const before = readdirSync(folder, { recursive: true }).length;
    assert.equal(writeCommit(folder, { ...commit, message: 'a\0b' }), null);
    assert.equal(readdirSync(folder, { recursive: true }).length, before);
    const sha = writeCommit(folder, { ...commit, message: 'a' });
    assert.equal(writeCommit(folder, { ...commit, message: 'a' }), sha);
    assert.deepEqual(
      readdirSync(folder, { recursive: true }).filter((one) => /tmp_obj/u.test(String(one))),
      [],
    );
  });
});
