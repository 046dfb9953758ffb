// A confined program's commits are in the repository once its folder is imported; files that are
// not objects, or that git refuses, never are.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { randomBytes } from 'node:crypto';
import type { LentGit } from '../../server/git/local-port.ts';
import type { LocalRepository } from '../../server/git/local-port.ts';
import { makeFixture, startTask, type Task, valueOf, type Fixture } from './fixture.ts';
import { gitInside } from './lent-git.ts';

const formats = ['sha1', 'sha256'] as const;
for (const format of formats)
  suite(`git: import of a confined program's commits (${format})`, function () {
    this.timeout(60_000);
    let fixture: Fixture;
    let repository: LocalRepository;
    let task: Task;
    let lent: LentGit;
    setup(async () => {
      fixture = makeFixture({ init: [`--object-format=${format}`] });
      repository = (await fixture.open()) as LocalRepository;
      task = await startTask(fixture, repository, 's0', 'task-1');
      lent = valueOf(await repository.lend(task.path));
    });
    teardown(() => fixture.remove());

    const inside = (...args: readonly string[]): string =>
      gitInside(
        task.path,
        lent,
      )(...args)
        .toString('utf8')
        .trim();
    /** The program's own objects, whatever they contain. */
    const put = (kind: string, content: Uint8Array): string =>
      gitInside(task.path, lent, content)('hash-object', '-w', '--literally', '-t', kind, '--stdin')
        .toString('utf8')
        .trim();
    const write = (path: string, content: string | Uint8Array): void =>
      fixture.write(join(task.path, path), content);
    const commitFiles = (count: number, content: (at: number) => string | Uint8Array): string => {
      for (let at = 0; at < count; at += 1) write(`made/${at}.txt`, content(at));
      inside('add', '-A');
      inside('commit', '-qm', 'made');
      return inside('rev-parse', 'HEAD');
    };
    const line = (at: number): string => `file ${at}\n`.repeat(100);
    const takeBack = async (): Promise<void> => {
      valueOf(await repository.takeBack(task.path));
      // The program writes the worktree's own log of HEAD.
      fixture.git('fsck', '--strict', '--no-dangling', '--no-reflogs');
    };
    const tip = (): string => fixture.git('rev-parse', task.branch);
    const holds = (id: string): boolean => {
      try {
        return fixture.git('cat-file', '-t', id) !== '';
      } catch {
        return false;
      }
    };

    test('twenty files are imported with their commit', async () => {
      const made = commitFiles(20, line);
      await takeBack();
      assert.equal(tip(), made);
      assert.equal(fixture.git('show', `${made}:made/7.txt`), line(7).trimEnd());
    });

    test('an empty file, arbitrary bytes and a note on the commit are imported unchanged', async () => {
      const bytes = randomBytes(70_000);
      write('empty', '');
      const made = commitFiles(1, () => bytes);
      inside('tag', '-am', 'told', 'told', made);
      const tag = inside('rev-parse', 'told');
      await takeBack();
      assert.equal(tip(), made);
      assert.equal(fixture.git('cat-file', '-s', `${made}:empty`), '0');
      assert.equal(
        fixture.git('hash-object', '-t', 'blob', join(task.path, 'made/0.txt')),
        fixture.git('rev-parse', `${made}:made/0.txt`),
      );
      assert.ok(holds(tag));
    });

    test('many files and a large one are imported', async () => {
      write('large', randomBytes(3 * 1024 * 1024));
      const made = commitFiles(300, line);
      await takeBack();
      assert.equal(tip(), made);
    });

    test('without a commit, the branch stays', async () => {
      await takeBack();
      assert.equal(tip(), task.base);
    });

    for (const content of ['blob 2\0hi', 'blob 9\0hi', 'tree 2\0hi'])
      test(`${JSON.stringify(content)} under a wrong object name never exists under that name`, async () => {
        commitFiles(1, line);
        const forged = '1'.repeat(task.base.length);
        const folder = join(lent.folder, 'objects', forged.slice(0, 2));
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, forged.slice(2)), deflateSync(Buffer.from(content)));
        await takeBack();
        assert.equal(holds(forged), false);
      });

    const refused: Readonly<Record<string, () => string>> = {
      'a tree with a file called .git': () => {
        const blob = put('blob', Buffer.from('x'));
        const entry = Buffer.concat([Buffer.from('100644 .git\0'), Buffer.from(blob, 'hex')]);
        return put('tree', entry);
      },
      'a tree whose file is missing': () => {
        const entry = Buffer.from('100644 gone\0');
        return put('tree', Buffer.concat([entry, Buffer.alloc(task.base.length / 2, 7)]));
      },
      'a kind that git does not know': () => put('thing', Buffer.from('x')),
      'a commit without a date': () =>
        put(
          'commit',
          Buffer.from(`tree ${fixture.git('rev-parse', 'main^{tree}')}\nauthor x\n\nx\n`),
        ),
    };
    for (const [name, make] of Object.entries(refused))
      test(`${name}: the whole import is refused, and the branch stays`, async () => {
        commitFiles(1, line);
        const id = make();
        await takeBack();
        assert.equal(holds(id), false);
        assert.equal(tip(), task.base);
      });
  });
