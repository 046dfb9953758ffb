// Reports which work landed because a person decided. Pure.

import { epicLinePrefix } from '../../server/core/plan/outcome.ts';
import type { EpicView, StatusSnapshot, TaskView } from '../../server/protocol/views.ts';

const shaChars = 7;

/**
 * Remembers the work that waited for a person's approval or merge, so that each landing is reported
 * once, even if the person decided in another window or on the command line.
 */
export class LandedDecisions {
  #waiting: ReadonlySet<string> = new Set();

  /** Returns the sentences for landings since the last board. */
  fresh(board: StatusSnapshot): readonly string[] {
    const before = this.#waiting;
    const epics = board.epics.filter(({ id, landing_state: state }) => {
      return before.has(id) && state === 'landed';
    });
    const tasks = board.tasks.filter(({ id, status }) => before.has(id) && status === 'completed');
    this.#waiting = new Set([
      ...board.epics.filter((epic) => isOpenEpic(epic, before)).map(({ id }) => id),
      ...board.tasks.filter((task) => isOpenTask(task, before)).map(({ id }) => id),
    ]);
    return [...epics.map((epic) => epicSentence(epic, board)), ...taskSentences(tasks, board)];
  }
}

/** An approved epic may have no state while it lands. */
function isOpenEpic({ id, landing_state: state }: EpicView, before: ReadonlySet<string>): boolean {
  if (state === 'needs_review' || state === 'conflict' || state === 'gate_failed') return true;
  return before.has(id) && (state === null || state === 'landing');
}

function isOpenTask(task: TaskView, before: ReadonlySet<string>): boolean {
  if (task.candidate_of !== null) return false;
  if (task.status === 'conflict') return true;
  if (task.status === 'needs_review') return task.review_kind !== 'plan';
  return before.has(task.id) && task.phase === 'land';
}

function epicSentence(
  { title, landed_sha: sha }: EpicView,
  { run, target }: StatusSnapshot,
): string {
  const branch = run?.target_branch ?? target?.branch ?? 'its target';
  return `${title} landed on ${branch}${sha === null ? '' : ` (${sha.slice(0, shaChars)})`}`;
}

function taskSentences(tasks: readonly TaskView[], board: StatusSnapshot): readonly string[] {
  return [...Map.groupBy(tasks, ({ landed_on: line }) => line)].map(([line, landed]) => {
    const where = line === null ? '' : ` landed on ${branchWords(line, board)}`;
    const [only] = landed;
    if (landed.length === 1 && only !== undefined) {
      if (where === '') return `${only.title} is completed without a change`;
      const { landed_sha: sha } = only;
      return `${only.title}${where}${sha === null ? '' : ` (${sha.slice(0, shaChars)})`}`;
    }
    if (where === '') return `${landed.length} tasks are completed without a change`;
    // Each landing has its own commit; the target's tip contains all of them.
    const tip = board.target?.branch === line ? (board.target.sha ?? null) : null;
    return `${landed.length} tasks${where}${tip === null ? '' : `, ${tip.slice(0, shaChars)}`}`;
  });
}

/** An epic's branch is named by an id, which is meaningless to a person. */
function branchWords(line: string, { epics }: StatusSnapshot): string {
  if (!line.startsWith(epicLinePrefix)) return line;
  const id = line.slice(epicLinePrefix.length);
  const title = epics.find((epic) => epic.id === id)?.title ?? null;
  return title === null ? 'the branch of its epic' : `the branch of “${title}”`;
}
