// Passes a fact about a pull request to the conversation that last changed the file, or shows it to
// a person, and replies in the thread after the work has been pushed.

import { nameCause, type Reaction } from '../core/forge/decide.ts';
import type { Read } from '../core/forge/observed-pull.ts';
import type { PullCore, ReviewThread } from '../core/forge/pull-facts.ts';
import { fixText } from '../core/forge/reaction-text.ts';
import {
  addReaction,
  nameReactionTask,
  type PullRow,
  type ReactionRow,
  reactionsOfPull,
  tasksInPull,
} from '../store/forge/pull-requests.ts';
import { addRequest, addTask } from '../store/port.ts';
import type { ReplyPlan, SendDeps } from './sent.ts';
import type { LevelPlace } from './stack-place.ts';

type Engine = SendDeps['engine'];
/** Maximum number of the line's commits searched for the last change of a file. */
const commitsMax = 200;

interface FixTarget {
  readonly pull: PullRow;
  readonly core: PullCore;
  /** The tasks of one level of a stack. Null for a whole epic. */
  readonly tasks: readonly string[] | null;
}

export async function addFix(
  engine: Engine,
  { pull, core, tasks }: FixTarget,
  { key, subject, cause }: Extract<Reaction, { readonly kind: 'fix' }>,
): Promise<void> {
  const paths =
    cause.kind === 'thread'
      ? [cause.thread.path]
      : cause.kind === 'check'
        ? cause.check.annotations.map(({ path }) => path)
        : [];
  const author = tasks === null ? await lastAuthor(engine, core, paths) : (tasks.at(-1) ?? null);
  const text = fixText(core, cause);
  await engine.store.transaction(async (tx) => {
    const at = { state: 'delivered' as const, task_id: null, at_ms: engine.clock.now() };
    const row = { ...keyOf(pull), key, subject, ...at };
    if (!(await addReaction(tx, row))) return;
    const task = await addTask(tx, engine.store.sources, {
      title: engine.mask(text.title),
      description: engine.mask(text.description),
      epic: pull.epic_id,
      ...(author === null ? {} : { continues: author }),
    });
    await nameReactionTask(tx, row, task.id);
    await engine.store.append(tx, {
      type: 'epic.pull_request_reaction',
      epicId: pull.epic_id,
      data: { number: pull.number, about: engine.mask(nameCause(cause)), task: task.id },
    });
  });
}

export async function addShown(
  engine: Engine,
  pull: PullRow,
  { key, subject }: Extract<Reaction, { readonly kind: 'show' }>,
): Promise<void> {
  await engine.store.transaction(async (tx) => {
    if (!(await addReaction(tx, shownReaction(pull, { key, subject }, engine.clock.now())))) return;
    await engine.store.append(tx, {
      type: 'epic.pull_request_shown',
      epicId: pull.epic_id,
      data: { number: pull.number, about: engine.mask(subject) },
    });
  });
}

/** The task whose landing last changed one of the files; null if none of the line's tasks did. */
async function lastAuthor(
  engine: Engine,
  core: PullCore,
  paths: readonly (string | null)[],
): Promise<string | null> {
  const wanted = new Set(paths.filter((path) => path !== null));
  if (wanted.size === 0) return null;
  const commits = await engine.git.lineCommits(null, core.head, commitsMax);
  if (!commits.ok) return null;
  for (const { sha, parents, trailers } of commits.value) {
    const task = trailers.find((line) => line.startsWith(taskTrailer))?.slice(taskTrailer.length);
    const [parent] = parents;
    if (task === undefined || parent === undefined) continue;
    const changed = await engine.git.changedPaths(parent, sha);
    if (changed.ok && changed.value.some((path) => wanted.has(path))) return task;
  }
  return null;
}

const taskTrailer = 'Drover-Task: ';

/** For threads whose work is in the pushed head. */
export async function planReplies(
  engine: Engine,
  pull: PullRow,
  threads: Read<readonly ReviewThread[]>,
  place: Pick<LevelPlace, 'levels'> | null,
): Promise<void> {
  if (threads.kind === 'unread') return;
  const { store } = engine;
  const given = await reactionsOfPull(store.db, pull);
  const landed = await tasksInPull(store.db, pull.epic_id);
  for (const { subject, task_id: taskId } of given) {
    if (taskId === null || !subject.startsWith('thread/')) continue;
    const work = landed.find(({ id }) => id === taskId)?.landed_sha ?? null;
    // The commits of a stack differ from those of the line.
    const level = place?.levels.find(({ commits }) => work !== null && commits.includes(work));
    const isSent = work !== null && (await engine.git.isAncestor(work, pull.head_sha));
    const sha = level === undefined && isSent ? work : (level?.head ?? null);
    if (sha === null) continue;
    const threadId = subject.slice('thread/'.length);
    if (!threads.value.some(({ id }) => id === threadId)) continue;
    const { native_id: nativeId, number } = pull;
    const plan: ReplyPlan = { nativeId, number, threadId, taskId, sha };
    const key = `${pull.epic_id}/reply/${taskId}`;
    const row = { key, epicId: pull.epic_id, position: 0, kind: 'reply', request: plan };
    await store.transaction((tx) => addRequest(tx, row, engine.clock.now()));
  }
}

export function shownReaction(
  pull: PullRow,
  { key, subject }: { readonly key: string; readonly subject: string },
  nowMs: number,
): ReactionRow {
  return { ...keyOf(pull), key, subject, state: 'shown', task_id: null, at_ms: nowMs };
}

function keyOf({ provider, host, native_id: id }: PullRow) {
  return { provider, host, native_id: id };
}
