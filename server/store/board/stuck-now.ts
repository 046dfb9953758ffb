// The stuck tasks, found from what holds them: the same result as `stuckViews` for the whole board,
// at the cost of only the stuck tasks.

import { readBlockCause } from '../../core/plan/block-cause.ts';
import { type Kysely, sql } from 'kysely';
import type { StuckView } from '../../protocol/api.ts';
import { findCycle } from '../../core/plan/graph.ts';
import { readBoard } from './board.ts';
import { jsonText } from '../schema/dialect.ts';
import { readGraph } from '../status/graph-rows.ts';
import { readShape, shapeEvents } from '../status/graph-shape.ts';
import { NearTasks } from '../rows/near-tasks.ts';
import type { Db } from '../rows/one-moment.ts';
import { type Held, reasonOf, stuckViews } from './stuck.ts';
import type { StoreTables } from '../schema/tables.ts';

/** Checks for loops once, and again only after changes that can create or remove one. */
interface LoopMemory {
  seq: number;
  hasLoops: boolean;
}

const memories = new WeakMap<Kysely<StoreTables>, LoopMemory>();

/** `db` names the database, `at` is its snapshot, which is at `seq`. */
export async function readStuck(db: Db, at: Db, seq: number): Promise<readonly StuckView[]> {
  // Loops come only from files of other tools, and require a check of the whole graph.
  if (await hasLoops(db, at, seq)) return stuckViews(await readBoard(at));
  const holders = await readHolders(at);
  if (holders.length === 0) return [];
  const near = new NearTasks(at);
  const found = await viewsFrom(near, holders, near, levelsAsked);
  if (found !== null) return found;
  const shape = await readShape(db, at, seq);
  await near.readLines(shape.reach(holders.map(({ id }) => id)));
  return (await viewsFrom(near, holders, shape, Infinity)) ?? [];
}

/** A longer chain of waiting tasks is followed faster in memory. */
const levelsAsked = 8;

type Relations = Pick<NearTasks, 'families' | 'edgesTo'>;

async function hasLoops(db: Db, at: Db, seq: number): Promise<boolean> {
  const known = memories.get(db);
  if (known !== undefined && known.seq === seq) return known.hasLoops;
  if (known !== undefined && known.seq < seq && !(await mayHaveTurned(at, known))) {
    known.seq = seq;
    return known.hasLoops;
  }
  const found = findCycle(await readGraph(at)) !== null;
  memories.set(db, { seq, hasLoops: found });
  return found;
}

/**
 * Commands refuse a dependency that would close a loop; imports accept it. Any change can open one.
 */
async function mayHaveTurned(at: Db, { seq, hasLoops: had }: LoopMemory): Promise<boolean> {
  const row = await at
    .selectFrom('events')
    .select('seq')
    .where('seq', '>', seq)
    .where('type', 'in', shapeEvents)
    .$if(!had, (query) =>
      query.where((eb) =>
        eb.or([
          eb(jsonText(at, 'data', 'file'), 'is not', null),
          eb(jsonText(at, 'data', 'by'), '=', 'import'),
        ]),
      ),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

interface Holder extends Held {
  readonly position: number;
  readonly rowid: number;
}

const holdingStatuses = ['failed', 'cancelled', 'conflict', 'needs_review', 'paused'] as const;

/** In the order of the board. */
async function readHolders(at: Db): Promise<readonly Holder[]> {
  const all = at
    .selectFrom('tasks')
    .select([
      'id',
      'status',
      'last_error',
      'blocked_reason',
      'blocked_by',
      'position',
      sql<number>`rowid`.as('rowid'),
    ]);
  const holding = await all.where('status', 'in', holdingStatuses).execute();
  const outside = await all
    .where('blocked_reason', 'is not', null)
    .where('status', '=', 'blocked')
    .execute();
  return [...holding, ...outside]
    .map(({ blocked_by: stored, ...row }) => ({ ...row, block: readBlockCause(stored) }))
    .sort(byPlace);
}

function byPlace(
  a: { readonly position: number; readonly rowid: number },
  b: { readonly position: number; readonly rowid: number },
): number {
  return a.position - b.position || a.rowid - b.rowid;
}

/** Null: the chains are longer than this. */
async function viewsFrom(
  near: NearTasks,
  holders: readonly Holder[],
  relations: Relations,
  levelsMax: number,
): Promise<readonly StuckView[] | null> {
  await near.readLines(holders.map((holder) => holder.id));
  /** Stuck task → what is at the root of it. */
  const causes = new Map<string, Holder>();
  for (const holder of holders) if (holder.status === 'blocked') causes.set(holder.id, holder);
  let level = holders.map((holder) => ({ id: holder.id, cause: holder }));
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levelsMax) return null;
    const ids = level.map((item) => item.id);
    const held = await heldBy(near, ids, relations);
    const next: typeof level = [];
    for (const { id, cause } of level) {
      for (const waiting of held.get(id) ?? []) {
        if (causes.has(waiting)) continue;
        causes.set(waiting, cause);
        next.push({ id: waiting, cause });
      }
    }
    level = next;
  }
  const waits = await near.waits(causes.keys());
  const ids = [...causes.keys()].sort((a, b) => byPlace(placeOf(near, a), placeOf(near, b)));
  return ids.map((id) => {
    const waitsFor = waits.get(id)?.waitsFor ?? [];
    const cause = causes.get(id) as Holder;
    const isDirect = waitsFor.some(
      (blocker) => blocker === cause.id || near.topOf(blocker) === cause.id,
    );
    return { id, waits_for: waitsFor, reason: reasonOf({ id, waitsFor, cause, isDirect }) };
  });
}

function placeOf(near: NearTasks, id: string): { position: number; rowid: number } {
  return near.get(id) ?? { position: 0, rowid: 0 };
}

/**
 * For each task the blocked ones that it holds, in the order of the board. A blocker moves with its
 * top-level task.
 */
async function heldBy(
  near: NearTasks,
  ids: readonly string[],
  relations: Relations,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const tops = ids.filter((id) => near.get(id)?.parent_id === null);
  const families = await relations.families(tops);
  const heads = new Map<string, string[]>();
  for (const id of ids) {
    for (const member of families.get(id) ?? [id]) {
      const list = heads.get(member);
      if (list === undefined) heads.set(member, [id]);
      else list.push(id);
    }
  }
  const edges = await relations.edgesTo(heads.keys());
  await near.readLines(edges.flatMap((edge) => [edge.task_id, edge.blocked_by]));
  const held = new Map<string, Set<string>>();
  for (const { task_id: id, blocked_by: blocker } of edges) {
    if (!near.isUnmet(id, blocker)) continue;
    const waiting = near.lineOf(id).filter((member) => near.get(member)?.status === 'blocked');
    for (const head of heads.get(blocker) ?? []) {
      const list = held.get(head) ?? new Set();
      for (const member of waiting) list.add(member);
      held.set(head, list);
    }
  }
  return new Map(
    [...held].map(([id, list]) => [
      id,
      [...list].sort((a, b) => byPlace(placeOf(near, a), placeOf(near, b))),
    ]),
  );
}
