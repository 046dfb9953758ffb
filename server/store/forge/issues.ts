// Issues that tasks and epics of the plan stand for, and the text that is written to each of them.

import type { Selectable } from 'kysely';
import type { Landed, IssueWork, ReportPull } from '../../core/forge/issue-report.ts';
import type { ForgeIssueTable, ForgeKey } from '../schema/forge-rows.ts';
import { pullsOfTasks } from './stack-levels.ts';
import type { Reads, Tx } from '../schema/tables.ts';

export type IssueRow = Selectable<ForgeIssueTable>;

/**
 * Stores the forge's current data. A transferred issue has a new repository and number, but the
 * same id.
 */
export async function storeIssues(
  tx: Tx,
  rows: readonly Omit<IssueRow, 'reported'>[],
): Promise<void> {
  for (const { provider, host, native_id: id, ...rest } of rows) {
    await tx
      .insertInto('forge_issues')
      .values({ provider, host, native_id: id, ...rest })
      .onConflict((conflict) =>
        conflict.columns(['provider', 'host', 'native_id']).doUpdateSet(rest),
      )
      .execute();
  }
}

export async function setReported(
  tx: Tx,
  { provider, host, native_id: id }: ForgeKey,
  reported: string,
): Promise<void> {
  await tx
    .updateTable('forge_issues')
    .set({ reported })
    .where('provider', '=', provider)
    .where('host', '=', host)
    .where('native_id', '=', id)
    .execute();
}

/** Returns the IDs that belong to epics. */
export async function knownEpics(db: Reads, ids: readonly string[]): Promise<readonly string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .selectFrom('epics')
    .select('id')
    .where('id', 'in', [...ids])
    .execute();
  return rows.map(({ id }) => id);
}

/** The issues of tasks and epics in the plan, with the state of their work. */
export async function workOfIssues(
  db: Reads,
): Promise<readonly { readonly issue: IssueRow; readonly work: IssueWork }[]> {
  const issues = await db.selectFrom('forge_issues').selectAll().orderBy('item_id').execute();
  if (issues.length === 0) return [];
  const pulls = await newestPulls(db);
  const works = new Map<string, IssueWork>();
  for (const work of await worksOfEpics(db, pulls)) works.set(work.id, work);
  for (const work of await worksOfTasks(db, pulls)) works.set(work.id, work);
  return issues.flatMap((issue) => {
    const work = works.get(issue.item_id);
    return work === undefined ? [] : [{ issue, work }];
  });
}

async function newestPulls(db: Reads): Promise<ReadonlyMap<string, ReportPull>> {
  const rows = await db
    .selectFrom('forge_items')
    .select(['epic_id', 'number', 'state'])
    .orderBy('created_at_ms')
    .execute();
  return new Map(rows.map(({ epic_id: epic, number, state }) => [epic, { number, state }]));
}

async function worksOfTasks(
  db: Reads,
  pulls: ReadonlyMap<string, ReportPull>,
): Promise<readonly IssueWork[]> {
  const rows = await db
    .selectFrom('tasks as t')
    .innerJoin('forge_issues as i', 'i.item_id', 't.id')
    .leftJoin('epics as e', 'e.id', 't.epic_id')
    .select([
      't.id',
      't.status',
      't.attempts',
      't.epic_id',
      't.landed_on',
      't.landed_sha',
      'e.landing_state',
    ])
    .execute();
  const targets = await targetsOfLines(db);
  const levels = await pullsOfTasks(db, pulls.keys());
  return rows.map((row): IssueWork => {
    const { id, status, attempts, landed_on: line, landed_sha: sha } = row;
    const target = line === null ? undefined : targets.get(line);
    // Work on an epic's own branch has arrived when the epic has landed.
    const isThere = target === undefined || row.landing_state === 'landed';
    const branch = target ?? line;
    const landed: Landed | null =
      status === 'completed' && isThere && branch !== null ? { sha, branch } : null;
    const ofEpic = row.epic_id === null ? undefined : pulls.get(row.epic_id);
    const pull = levels.get(id) ?? ofEpic ?? null;
    return { kind: 'task', id, status, attempts, landed, pull };
  });
}

async function worksOfEpics(
  db: Reads,
  pulls: ReadonlyMap<string, ReportPull>,
): Promise<readonly IssueWork[]> {
  const epics = await db
    .selectFrom('epics as e')
    .innerJoin('forge_issues as i', 'i.item_id', 'e.id')
    .select(['e.id', 'e.landing_state', 'e.landed_sha'])
    .execute();
  if (epics.length === 0) return [];
  const tasks = await db
    .selectFrom('tasks')
    .select(['epic_id', 'status', 'attempts'])
    .where(
      'epic_id',
      'in',
      epics.map(({ id }) => id),
    )
    .where('parent_id', 'is', null)
    .where('candidate_of', 'is', null)
    .where('status', '!=', 'cancelled')
    .execute();
  const targets = await targetsOfEpics(db);
  const byEpic = Map.groupBy(tasks, ({ epic_id: epic }) => epic);
  return epics.map(({ id, landing_state: state, landed_sha: sha }): IssueWork => {
    const own = byEpic.get(id) ?? [];
    const done = own.filter(({ status }) => status === 'completed').length;
    const isBegun = own.some(({ attempts }) => attempts > 0);
    const branch = targets.get(id) ?? '';
    const landed: Landed | null = state === 'landed' ? { sha, branch } : null;
    const pull = pulls.get(id) ?? null;
    return { kind: 'epic', id, done, total: own.length, isBegun, landed, pull };
  });
}

async function targetsOfEpics(db: Reads): Promise<ReadonlyMap<string | null, string>> {
  const runs = await ownLines(db);
  return new Map(runs.map(({ epic_id: epic, target_branch: target }) => [epic, target]));
}

async function targetsOfLines(db: Reads): Promise<ReadonlyMap<string, string>> {
  const runs = await ownLines(db);
  return new Map(
    runs.flatMap(({ line, target_branch: to }) => (line === to ? [] : [[line, to] as const])),
  );
}

/** The lines of an epic's runs, latest last. */
function ownLines(db: Reads) {
  return db
    .selectFrom('runs')
    .select(['epic_id', 'target_branch', 'line'])
    .where('epic_id', 'is not', null)
    .orderBy('started_at_ms')
    .execute();
}
