// Folders that have become links: git refuses every path below such a link.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { GitRepository } from '../../server/git/port.ts';
import { removeFolder } from '../remove-folder.ts';
import {
  leftoversOf,
  makeFixture,
  startTask,
  valueOf,
  type Fixture,
  type Task,
} from './fixture.ts';

interface Slot extends Task {
  readonly fixture: Fixture;
  readonly repository: GitRepository;
}

async function slotOf(fixture: Fixture): Promise<Slot> {
  const repository = await fixture.open();
  const task = await startTask(fixture, repository, 's0', 'task-1');
  return { ...task, fixture, repository };
}

const write = (slot: Slot, path: string, content: string | Uint8Array): void =>
  slot.fixture.write(join(slot.path, path), content);

/** The tree of a snapshot. */
async function taken({ repository, path, fixture }: Slot): Promise<string> {
  const request = { path, label: 'task-1/1', reason: 'interval', author: 'agent' } as const;
  const made = valueOf(await repository.snapshot({ ...request, base: null }));
  return fixture.git('rev-parse', `${made?.commit ?? ''}^{tree}`);
}

/** The listing of the same folder through git's own index. */
function asGit({ fixture, path }: Slot): string {
  const file = join(fixture.home, 'other-index');
  const own = fixture.gitIn(path, 'rev-parse', '--path-format=absolute', '--git-path', 'index');
  const environment = { ...fixture.environment, GIT_INDEX_FILE: file };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: path, env: environment, encoding: 'utf8' }).trim();
  rmSync(file, { force: true });
  execFileSync('cp', ['-p', own, file]);
  git('add', '-A');
  return git('write-tree');
}

suite('git: folders that have become links', () => {
  let slot: Slot;
  setup(async () => {
    slot = await slotOf(makeFixture());
  });
  teardown(() => slot.fixture.remove());

  for (const [where, prepare] of [
    ['nowhere', () => undefined],
    ['to the same files', () => renameSync(join(slot.path, 'src'), join(slot.path, 'moved'))],
    ['and that is ignored', () => write(slot, '.gitignore', '/src\n/moved\n')],
  ] as const) {
    const becomeLink = (): void => {
      prepare();
      removeFolder(join(slot.path, 'src'));
      symlinkSync('moved', join(slot.path, 'src'));
    };

    test(`${where} are kept in a snapshot`, async () => {
      becomeLink();
      assert.equal(await taken(slot), asGit(slot));
    });

    test(`${where} are committed`, async () => {
      becomeLink();
      const expected = asGit(slot);
      const done = valueOf(await slot.repository.commitLeftovers(leftoversOf(slot)));
      assert.deepEqual([done.tree, done.held], [expected, []]);
    });
  }
});
