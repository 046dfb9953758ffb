// The outcome of a pull request that reverts an epic's work.

import type { PullCore } from '../core/forge/pull-facts.ts';
import type { GitRemote } from '../forge/git-remote.ts';
import { type PullRow, setEpicWaiting, setPull } from '../store/forge/pull-requests.ts';
import { epicOnForge, readRootTasks, runById } from '../store/port.ts';
import { noteUndone } from '../workflows/person/undo-landing.ts';
import { bringHome } from './pull-ends.ts';
import type { SendDeps } from './sent.ts';

type Engine = SendDeps['engine'];

/** Returns false while it is open. Drover's agents do not work on it, because a person decides. */
export async function endUndo(
  engine: Engine,
  remote: GitRemote,
  pull: PullRow,
  { state, mergeCommit }: PullCore,
): Promise<boolean> {
  switch (state) {
    case 'open':
      return false;
    case 'closed':
      await engine.store.transaction(async (tx) => {
        const note = `PR #${pull.number}, which reverts it, was closed and not merged`;
        await setPull(tx, pull, { state: 'closed', note });
        await setEpicWaiting(tx, pull.epic_id, { state: 'landed', note });
        const data = { kind: 'bad_state', reason: note, workflow: null };
        await engine.store.append(tx, { type: 'landing.undo_failed', epicId: pull.epic_id, data });
      });
      return true;
    case 'merged':
      if (mergeCommit !== null) await endUndone(engine, remote, pull, mergeCommit);
      return true;
  }
}

async function endUndone(
  engine: Engine,
  remote: GitRemote,
  pull: PullRow,
  commit: string,
): Promise<void> {
  const { store } = engine;
  const fetched = await remote.fetch(pull.base);
  const run = await runById(store.db, pull.run_id);
  if (!fetched.ok || run === null) return;
  if (!(await engine.git.isAncestor(commit, fetched.value))) return;
  await bringHome(engine, run.target_branch, fetched.value);
  const merged = (await epicOnForge(store.db, pull.epic_id))?.merged ?? [];
  await store.transaction(async (tx) => {
    const landed = (await readRootTasks(tx, pull.epic_id)).flatMap((row) => {
      const { id, epoch, status, landed_sha: sha } = row;
      return status === 'completed' && sha !== null ? [{ id, epoch, landed: sha }] : [];
    });
    const reverts = merged.map((merge) => ({ sha: merge.commit, mark: null }));
    await setPull(tx, pull, { state: 'merged', note: `PR #${pull.number} was merged` });
    const undone = { epicId: pull.epic_id, line: run.target_branch, tasks: landed, reverts };
    await noteUndone(engine, tx, undone, { sha: commit, workflow: null });
  });
  engine.switchboard.wake();
}
