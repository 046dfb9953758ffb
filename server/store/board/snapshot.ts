// The complete state at one event number. `drover status --json` prints it, and panels start from
// it.

import { sql } from 'kysely';
import type {
  ConfigValueView,
  EpicView,
  QuestionView,
  StatusSnapshot,
} from '../../protocol/api.ts';
import type { HoldView } from '../../protocol/views.ts';
import { type Board, readBoard } from './board.ts';
import { epicOrRefuse } from '../rows/find-rows.ts';
import { readHolds } from '../status/holds.ts';
import { awaitedAgents } from '../work/accounts.ts';
import { type Db, readAtOneMoment } from '../rows/one-moment.ts';
import { stuckViews } from './stuck.ts';
import type { EpicRow, LineRow, RunRow } from '../schema/tables.ts';
import { unlandedScopes } from '../status/unlanded.ts';
import { readLine, wrongStates } from '../lines/lines.ts';
import {
  addCount,
  countOne,
  countTasks,
  emptyCounts,
  epicView,
  holdView,
  type MutableCounts,
  epicProgress,
  questionView,
  runView,
} from './views.ts';
import { newestRun } from '../work/runs.ts';

/** The parts of a snapshot that the database does not contain. */
export interface SnapshotExtras {
  /**
   * The current settings. Read after the events: a run's settings are accepted before the event of
   * its start, so the settings are never older than the events.
   */
  readonly config: () => Readonly<Record<string, ConfigValueView>>;
  /** The branch that a first run would land on: the setting, or the branch that is checked out. */
  readonly targetBranch: string | null;
  /** Tip of a branch; null if it does not exist. */
  readonly shaOf: (branch: string) => Promise<string | null>;
}

interface Moment {
  readonly seq: number;
  readonly board: Board;
  readonly epics: readonly EpicRow[];
  readonly run: RunRow | null;
  readonly line: LineRow | null;
  readonly branch: string | null;
  readonly questions: readonly QuestionView[];
  readonly holds: readonly HoldView[];
  readonly unlanded: ReadonlySet<string | null>;
}

export async function readSnapshot(
  db: Db,
  scope: { readonly epic?: string },
  extras: SnapshotExtras,
): Promise<StatusSnapshot> {
  const moment = await readAtOneMoment(db, (at) => readMoment(at, scope.epic, extras));
  const { board, branch, line, unlanded } = moment;
  const tasks =
    scope.epic === undefined
      ? board.tasks
      : board.tasks.filter((task) => task.epic_id === scope.epic);
  const counts = countTasks(tasks);
  const ids = new Set(scope.epic === undefined ? [] : tasks.map((task) => task.id));
  const isShown = (id: string): boolean => scope.epic === undefined || ids.has(id);
  return {
    seq: moment.seq,
    counts,
    progress: epicProgress(
      counts,
      scope.epic === undefined ? unlanded.size > 0 : unlanded.has(scope.epic),
    ),
    run: moment.run === null ? null : runView(moment.run, line),
    target: await targetView(branch, line, extras),
    config: extras.config(),
    epics: epicViews(moment.epics, board, unlanded),
    tasks,
    stuck: stuckViews(board).filter((view) => isShown(view.id)),
    questions: moment.questions.filter((question) => isShown(question.task_id)),
    holds: moment.holds,
  };
}

export async function targetView(
  branch: string | null,
  line: LineRow | null,
  extras: SnapshotExtras,
): Promise<StatusSnapshot['target']> {
  if (branch === null) return null;
  const pending = line?.pending ?? 0;
  const reason = pending === 0 ? null : (line?.pending_reason ?? null);
  const wrong = wrongStates(line);
  return {
    branch,
    sha: await extras.shaOf(branch),
    pending,
    ...(reason !== null && { pending_reason: reason }),
    ...(wrong.length > 0 && { wrong }),
  };
}

async function readMoment(
  db: Db,
  epic: string | undefined,
  extras: SnapshotExtras,
): Promise<Moment> {
  const epics = epic === undefined ? await allEpics(db) : [await epicOrRefuse(db, epic)];
  const run = await newestRun(db);
  const branch = run?.target_branch ?? extras.targetBranch;
  return {
    seq: await lastSeq(db),
    board: await readBoard(db),
    epics,
    run,
    line: branch === null ? null : await readLine(db, branch),
    branch,
    questions: await openQuestions(db),
    holds: await readCurrentHolds(db, run),
    unlanded: await unlandedScopes(db),
  };
}

/** While no run is active, only held lines and unusable agents still apply, until a person acts. */
export async function readCurrentHolds(db: Db, run: RunRow | null): Promise<readonly HoldView[]> {
  const lines = await db
    .selectFrom('lines')
    .select(['branch', 'held_reason', 'held_since_ms'])
    .where('held_reason', 'is not', null)
    .orderBy('branch')
    .execute();
  const held = lines.map((row): HoldView => {
    return {
      scope: `line/${row.branch}`,
      line: row.branch,
      reason: row.held_reason ?? '',
      since: Math.floor((row.held_since_ms ?? 0) / 1000),
      until: null,
    };
  });
  const unusable = run === null ? [] : await awaitedAgents(db, run.id);
  for (const { agent, why, sinceMs } of unusable) {
    const since = Math.floor(sinceMs / 1000);
    held.push({ scope: `agent/${agent}`, line: null, reason: why, since, until: null });
  }
  if (run?.state !== 'active') return held;
  return [...(await readHolds(db)).map(holdView), ...held];
}

export async function lastSeq(db: Db): Promise<number> {
  const { rows } = await sql<{ seq: number | null }>`select max(seq) as seq from events`.execute(
    db,
  );
  return rows[0]?.seq ?? 0;
}

async function allEpics(db: Db): Promise<EpicRow[]> {
  return db.selectFrom('epics').selectAll().orderBy('position').execute();
}

export async function openQuestions(db: Db): Promise<QuestionView[]> {
  const rows = await db
    .selectFrom('questions')
    .selectAll()
    .where('state', '=', 'open')
    .orderBy('asked_at_ms')
    .execute();
  return rows.map(questionView);
}

function epicViews(
  epics: readonly EpicRow[],
  board: Board,
  unlanded: ReadonlySet<string | null>,
): EpicView[] {
  const counts = new Map<string, MutableCounts>(epics.map((row) => [row.id, emptyCounts()]));
  for (const row of board.tasks) {
    const ofEpic = row.epic_id === null ? undefined : counts.get(row.epic_id);
    if (ofEpic !== undefined) countOne(ofEpic, row.status);
  }
  return epics.map((row) =>
    epicView(row, counts.get(row.id) ?? emptyCounts(), unlanded.has(row.id)),
  );
}

/** All epics with their counts. */
export async function readEpics(db: Db): Promise<EpicView[]> {
  return readAtOneMoment(db, countEpics);
}

export async function countEpics(at: Db): Promise<EpicView[]> {
  const epics = await allEpics(at);
  const rows = await at
    .selectFrom('tasks')
    .select((eb) => ['epic_id', 'status', eb.fn.countAll<number>().as('n')])
    .where('epic_id', 'is not', null)
    .groupBy(['epic_id', 'status'])
    .execute();
  const counts = new Map<string, MutableCounts>(epics.map((row) => [row.id, emptyCounts()]));
  for (const { epic_id: id, status, n } of rows) {
    const ofEpic = counts.get(id ?? '');
    if (ofEpic !== undefined) addCount(ofEpic, status, n);
  }
  const unlanded = await unlandedScopes(at);
  return epics.map((row) =>
    epicView(row, counts.get(row.id) ?? emptyCounts(), unlanded.has(row.id)),
  );
}

export async function countStatuses(at: Db): Promise<MutableCounts> {
  const rows = await at
    .selectFrom('tasks')
    .select((eb) => ['status', eb.fn.countAll<number>().as('n')])
    .groupBy('status')
    .execute();
  const counts = emptyCounts();
  for (const { status, n } of rows) addCount(counts, status, n);
  return counts;
}
