// Which task waits for which, and which is below which, kept in memory as long as nothing of it has
// changed: long chains of waiting tasks are followed here without a query for each of their links.

import type { Kysely } from 'kysely';
import { readGraph } from './graph-rows.ts';
import type { Edge } from '../rows/near-tasks.ts';
import type { Db } from '../rows/one-moment.ts';
import type { StoreTables } from '../schema/tables.ts';
import type { GraphNode } from '../../core/plan/graph-edges.ts';

/** Events that can change who waits for whom, or who is below whom. */
export const shapeEvents = ['task.created', 'task.edited', 'task.moved', 'task.removed'] as const;

const levelsMax = 4;

export class GraphShape {
  readonly #dependents = new Map<string, Edge[]>();
  readonly #children = new Map<string, string[]>();
  readonly #parents = new Map<string, string>();

  constructor(nodes: readonly GraphNode[]) {
    for (const { id, blockedBy, parentId } of nodes) {
      if (parentId !== null) {
        add(this.#children, parentId, id);
        this.#parents.set(id, parentId);
      }
      for (const blocker of blockedBy) {
        add(this.#dependents, blocker, { task_id: id, blocked_by: blocker });
      }
    }
  }

  /** Each task with everything below it, itself first. */
  families(ids: Iterable<string>): Promise<ReadonlyMap<string, readonly string[]>> {
    return Promise.resolve(new Map([...ids].map((id) => [id, this.#family(id)])));
  }

  edgesTo(ids: Iterable<string>): Promise<readonly Edge[]> {
    return Promise.resolve([...ids].flatMap((id) => this.#dependents.get(id) ?? []));
  }

  /**
   * Everything that waits for these or for what waits for them, whether it has to wait any more or
   * not.
   */
  reach(ids: Iterable<string>): ReadonlySet<string> {
    const reached = new Set<string>();
    const left = [...ids];
    for (let id = left.pop(); id !== undefined; id = left.pop()) {
      if (reached.has(id)) continue;
      reached.add(id);
      left.push(...(this.#children.get(id) ?? []), ...this.#parentOf(id));
      for (const { task_id: waiting } of this.#dependents.get(id) ?? []) left.push(waiting);
    }
    return reached;
  }

  #parentOf(id: string): readonly string[] {
    const parent = this.#parents.get(id);
    return parent === undefined ? [] : [parent];
  }

  #family(id: string): readonly string[] {
    const family = [id];
    let level: readonly string[] = [id];
    for (let depth = 0; depth < levelsMax && level.length > 0; depth += 1) {
      level = level.flatMap((each) => this.#children.get(each) ?? []);
      family.push(...level);
    }
    return family;
  }
}

function add<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

interface ShapeMemory {
  seq: number;
  readonly shape: GraphShape;
}

const memories = new WeakMap<Kysely<StoreTables>, ShapeMemory>();

/** `db` names the database, `at` is its snapshot, which is at `seq`. */
export async function readShape(db: Db, at: Db, seq: number): Promise<GraphShape> {
  const known = memories.get(db);
  if (known !== undefined && known.seq <= seq && !(await hasChanged(at, known.seq, seq))) {
    known.seq = seq;
    return known.shape;
  }
  const shape = new GraphShape(await readGraph(at));
  memories.set(db, { seq, shape });
  return shape;
}

async function hasChanged(at: Db, after: number, seq: number): Promise<boolean> {
  if (after === seq) return false;
  const row = await at
    .selectFrom('events')
    .select('seq')
    .where('seq', '>', after)
    .where('type', 'in', shapeEvents)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
