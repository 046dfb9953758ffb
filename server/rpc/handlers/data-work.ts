// Requests for an agent's prompt and for its change.

import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import type { Handlers } from '../../protocol/api.ts';
import { attemptLog } from '../../store/work/attempt-log.ts';
import { findChange, type Change } from '../../store/status/compared-commits.ts';
import type { TaskSnapshots, TaskSnapshotView } from '../../protocol/views.ts';
import type { DataGit, DataHandlerDeps } from './data-deps.ts';
import { basesByAttempt } from '../../store/port.ts';

type WorkRequests = 'log.prompt' | 'diff' | 'snapshots';

/** Loaded only for requests about snapshots, because most requests do not need the engine. */
const loadSnapshots = async () => await import('../../workflows/person/restore-task.ts');

const promptBytesMax = 4 * 1024 * 1024;
const diffCharactersMax = 8 * 1024 * 1024;

export function workHandlers(deps: DataHandlerDeps): Pick<Handlers, WorkRequests> {
  const { db } = deps.store;
  return {
    'log.prompt': async ({ id, attempt }) => {
      const log = await attemptLog(db, id, attempt);
      await deps.output.beforeRead(log);
      const prompt =
        log.file === null ? null : await readStart(`${join(deps.logs, log.file)}.prompt`);
      if (prompt === null) {
        throw new Refusal(
          'no_prompt',
          `${log.taskId} has not been given to an agent yet${log.attempt > 0 ? ` in attempt ${log.attempt}` : ''}; "drover run" starts it, and then it has a prompt.`,
        );
      }
      return { task_id: log.taskId, attempt: log.attempt, prompt };
    },
    snapshots: async ({ id }) => snapshotViews(deps, id),
    diff: async ({ id, snapshot: wanted }) => {
      const change = await findChange(db, id);
      const { base, head } =
        wanted === undefined
          ? await changeEndpoints(deps.git, change)
          : await endsOfSnapshot(deps, change.id, wanted);
      const diff = await deps.git.diff(base, head);
      if (!diff.ok) throw new Refusal('git', diff.error.message);
      return { id: change.id, base, head, text: cut(diff.value) };
    },
  };
}

async function endsOfSnapshot(
  deps: DataHandlerDeps,
  id: string,
  wanted: number,
): Promise<{ base: string; head: string }> {
  const { chooseSnapshot, readSnapshots } = await loadSnapshots();
  const all = await readSnapshots(deps.store.db, deps.git, id);
  const { label, head, commit } = chooseSnapshot(all, id, wanted);
  const base = (await basesOf(deps, id)).get(label) ?? head;
  if (base === null) throw new Refusal('no_change', `Snapshot ${wanted} of ${id} has no base.`);
  return { base, head: commit };
}

/** Keyed by `<task>/<attempt>`. */
async function basesOf(deps: DataHandlerDeps, id: string): Promise<ReadonlyMap<string, string>> {
  const bases = await basesByAttempt(deps.store.db, id);
  return new Map([...bases].map(([number, sha]) => [`${id}/${number}`, sha]));
}

async function snapshotViews(deps: DataHandlerDeps, wanted: string): Promise<TaskSnapshots> {
  const { id } = await findChange(deps.store.db, wanted);
  const bases = await basesOf(deps, id);
  const snapshots: TaskSnapshotView[] = [];
  const { readSnapshots } = await loadSnapshots();
  for (const each of await readSnapshots(deps.store.db, deps.git, id)) {
    const from = bases.get(each.label) ?? each.head;
    const size = from === null ? null : await deps.git.sizeOfChange(from, each.commit);
    snapshots.push({
      number: each.number,
      attempt: Number(each.label.slice(id.length + 1)),
      timestamp: Math.floor(each.timeMs / 1000),
      reason: each.reason,
      author: each.author,
      files: size?.ok === true ? size.value.files : 0,
      insertions: size?.ok === true ? size.value.insertions : 0,
      deletions: size?.ok === true ? size.value.deletions : 0,
      commit: each.commit,
    });
  }
  return { id, snapshots };
}

/** The start of a file; null if it does not exist. */
async function readStart(path: string): Promise<string | null> {
  let file;
  try {
    file = await open(path, 'r');
  } catch {
    return null;
  }
  try {
    const buffer = Buffer.alloc(promptBytesMax);
    const { bytesRead } = await file.read(buffer, 0, promptBytesMax, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

export async function changeEndpoints(
  git: DataGit,
  change: Change,
): Promise<{ base: string; head: string }> {
  for (const { base, head } of change.candidates) {
    const from = await git.resolve(base);
    const to = await git.resolve(head);
    if (from.ok && to.ok) return { base: from.value, head: to.value };
  }
  throw new Refusal(
    'no_change',
    `${change.id} has no commit to show yet (${change.state}); "drover run" makes one.`,
  );
}

function cut(text: string): string {
  if (text.length <= diffCharactersMax) return text;
  const left = text.length - diffCharactersMax;
  return `${text.slice(0, diffCharactersMax)}\n… ${left} characters more; use git diff to see them.\n`;
}
