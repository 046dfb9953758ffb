// Conflict marks in the work of an attempt, also if that work could not be pushed: it lands later without another attempt.

import assert from 'node:assert/strict';
import { err, ok } from '../../../server/core/failure.ts';
import { gitFailure } from '../../../server/git/failures.ts';
import type { GitRepository } from '../../../server/git/port.ts';
import type { CommitLeftoversOutcome } from '../../../server/git/slot-port.ts';
import { withUndecided } from '../../../server/workflows/kit/merge-check.ts';
import { addTasks, memoryStore, type TestStore } from '../store/memory-store.ts';

const marks = '<<<<<<< HEAD\nmine\n=======\ntheirs\n>>>>>>> other\n';
const work: CommitLeftoversOutcome = {
  commit: 'work',
  tree: null,
  changed: true,
  held: [],
  protected: [],
};

suite('conflict markers in finished work', () => {
  let project: TestStore;
  let claim: { readonly taskId: string; readonly attempt: number };
  setup(async () => {
    project = await memoryStore();
    claim = { taskId: (await addTasks(project, [{ title: 'A' }]))['A'] ?? '', attempt: 1 };
  });
  teardown(() => project.close());

  function engineWith(before: Record<string, string>, after: Record<string, string>) {
    const git = {
      changedPaths: async () => ok(Object.keys(after)),
      fileAt: async (commit: string, path: string) => {
        const text = (commit === 'work' ? after : before)[path];
        return ok(text === undefined ? null : { size: text.length, bytes: Buffer.from(text) });
      },
    } as unknown as GitRepository;
    return { git, store: project.store };
  }
  const after = { 'new.txt': marks, 'old.txt': `${marks}more\n`, 'two.txt': marks + marks };
  const before = { 'old.txt': marks, 'two.txt': marks };
  const undecided = { marked: ['new.txt', 'two.txt'], asBase: [] };

  test('markers that the base had do not count', async () => {
    const checked = await withUndecided(engineWith(before, after), claim, 'base', ok(work));
    assert.deepEqual(checked, ok({ ...work, undecided }));
    const same = await withUndecided(engineWith(after, after), claim, 'base', ok(work));
    assert.deepEqual(same, ok(work));
  });

  test('work whose push was refused is checked as well', async () => {
    const refused = err({ ...gitFailure('refused', 'a rule of the server'), made: work });
    const checked = await withUndecided(engineWith(before, after), claim, 'base', refused);
    assert.ok(!checked.ok);
    assert.deepEqual(checked.error.made, { ...work, undecided });
  });
});
