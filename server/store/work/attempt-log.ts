// The path of an attempt's log. A sub-task has no attempt of its own, but its part of the parent's
// attempt has a separate log.

import { Refusal } from '../../core/failure.ts';
import { taskOrRefuse } from '../rows/find-rows.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import { rootTaskId } from '../status/transition.ts';

export interface AttemptLog {
  readonly taskId: string;
  /** 0 before the first attempt. */
  readonly attempt: number;
  /** Relative to the log folder; null if no attempt exists. */
  readonly file: string | null;
  /** Nothing more will be written to it, unless the task is started again. */
  readonly isOver: boolean;
  /** The machine whose disk has the file; '' = the project's only machine. */
  readonly machine: string;
  readonly endedAtMs: number | null;
  /** Whether its agent has been started. */
  readonly isBegun: boolean;
}

const attemptsOver: ReadonlySet<string> = new Set([
  'submitted',
  'succeeded',
  'failed',
  'interrupted',
]);
const tasksOver: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled']);

/** The given attempt, or the last one if the number is 0 or omitted. */
export async function attemptLog(db: Db, id: string, wanted = 0): Promise<AttemptLog> {
  return readAtOneMoment(db, async (at) => {
    const row = await taskOrRefuse(at, id);
    const root = await rootTaskId(at, id);
    const attempts = await at
      .selectFrom('attempts')
      .select(['number', 'state', 'machine', 'ended_at_ms', 'session_started', 'log_path'])
      .where('task_id', '=', root)
      .orderBy('number', 'desc')
      .execute();
    const attempt =
      wanted === 0 ? attempts[0] : attempts.find((candidate) => candidate.number === wanted);
    if (attempt === undefined && wanted !== 0) {
      const has = attempts.length === 0 ? 'no attempt yet' : `attempts 1 to ${attempts[0]?.number}`;
      throw new Refusal(
        'unknown_id',
        `${id} has no attempt ${wanted}; it has ${has}. See "drover log ${id}" for the last one.`,
      );
    }
    if (attempt === undefined) {
      const isOver = tasksOver.has(row.status);
      const nothing = { attempt: 0, file: null, machine: '', endedAtMs: null, isBegun: false };
      return { taskId: id, isOver, ...nothing };
    }
    return {
      taskId: id,
      attempt: attempt.number,
      file: attemptLogFile(root, attempt.number, id),
      isOver: attemptsOver.has(attempt.state),
      machine: attempt.machine,
      endedAtMs: attempt.ended_at_ms,
      isBegun: attempt.session_started === 1 || attempt.log_path !== null,
    };
  });
}

/** The file name that the engine gives to the log of one part of an attempt. */
export function attemptLogFile(taskId: string, attempt: number, part: string): string {
  const suffix = part === taskId ? '' : `.${part.replace(/[^A-Za-z0-9._-]/g, '_')}`;
  return `${taskId}/${attempt}${suffix}.ndjson`;
}
