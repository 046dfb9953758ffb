// Reads a few tasks and their relatives (parents, sub-tasks, blockers, dependents) in one snapshot,
// as needed. This gives the board's data for a task without reading ten thousand others.

import { sql } from 'kysely';
import type { TaskStatus } from '../../core/plan/state.ts';
import { type Db, inParts } from './one-moment.ts';

export interface NearTask {
  readonly id: string;
  readonly parent_id: string | null;
  readonly status: TaskStatus;
  readonly position: number;
  readonly rowid: number;
}

export interface Edge {
  readonly task_id: string;
  readonly blocked_by: string;
}

export interface Waits {
  readonly blockedBy: readonly string[];
  /** Unmet blockers, including those of its sub-tasks. */
  readonly waitsFor: readonly string[];
}

const levelsMax = 4;

export class NearTasks {
  readonly #db: Db;
  readonly #tasks = new Map<string, NearTask>();

  constructor(db: Db) {
    this.#db = db;
  }

  get(id: string): NearTask | undefined {
    return this.#tasks.get(id);
  }

  /** The topmost parent of a task that `readLines` has read. */
  topOf(id: string): string {
    return this.lineOf(id).at(-1) ?? id;
  }

  /** The task and its ancestors. */
  lineOf(id: string): readonly string[] {
    const line: string[] = [];
    let task = this.#tasks.get(id);
    while (task !== undefined && line.length <= levelsMax) {
      line.push(task.id);
      task = task.parent_id === null ? undefined : this.#tasks.get(task.parent_id);
    }
    return line;
  }

  /** Reads the tasks and all of their ancestors. */
  async readLines(ids: Iterable<string>): Promise<void> {
    let level = [...new Set(ids)];
    for (let depth = 0; depth <= levelsMax && level.length > 0; depth += 1) {
      await this.#read(level.filter((id) => !this.#tasks.has(id)));
      const parents = level.map((id) => this.#tasks.get(id)?.parent_id ?? null);
      level = [...new Set(parents.filter((id) => id !== null))];
    }
  }

  async #read(ids: readonly string[]): Promise<void> {
    for (const part of inParts(ids)) {
      const rows = await this.#db
        .selectFrom('tasks')
        .select(['id', 'parent_id', 'status', 'position', sql<number>`rowid`.as('rowid')])
        .where('id', 'in', part)
        .execute();
      for (const row of rows) this.#tasks.set(row.id, row);
    }
  }

  /** Maps each task to itself and all of its descendants, itself first. */
  async families(ids: Iterable<string>): Promise<ReadonlyMap<string, readonly string[]>> {
    const families = new Map([...new Set(ids)].map((id) => [id, [id]]));
    // A descendant of several of them belongs to each.
    let level = new Map([...families.keys()].map((id) => [id, [id]]));
    for (let depth = 0; depth < levelsMax && level.size > 0; depth += 1) {
      const next = new Map<string, string[]>();
      for (const part of inParts([...level.keys()])) {
        const rows = await this.#db
          .selectFrom('tasks')
          .select(['id', 'parent_id'])
          .where('parent_id', 'in', part)
          .orderBy('id')
          .execute();
        for (const { id, parent_id: parent } of rows) {
          const heads = level.get(parent ?? '') ?? [];
          for (const head of heads) families.get(head)?.push(id);
          next.set(id, heads);
        }
      }
      level = next;
    }
    return families;
  }

  async edgesFrom(ids: Iterable<string>): Promise<readonly Edge[]> {
    return this.#edges('task_id', ids);
  }

  async edgesTo(ids: Iterable<string>): Promise<readonly Edge[]> {
    return this.#edges('blocked_by', ids);
  }

  async #edges(end: keyof Edge, ids: Iterable<string>): Promise<readonly Edge[]> {
    const edges: Edge[] = [];
    for (const part of inParts([...ids])) {
      const rows = await this.#db
        .selectFrom('task_dependencies')
        .selectAll()
        .where(end, 'in', part)
        .orderBy('task_id')
        .orderBy('blocked_by')
        .execute();
      for (const row of rows) edges.push(row);
    }
    return edges;
  }

  /** The blockers of each task, in board order. */
  async waits(ids: Iterable<string>): Promise<ReadonlyMap<string, Waits>> {
    const families = await this.families(ids);
    const members = new Set([...families.values()].flat());
    const edges = await this.edgesFrom(members);
    await this.readLines([...members, ...edges.map((edge) => edge.blocked_by)]);
    const blockers = new Map<string, string[]>();
    for (const { task_id: id, blocked_by: blocker } of edges) {
      const list = blockers.get(id);
      if (list === undefined) blockers.set(id, [blocker]);
      else list.push(blocker);
    }
    const waits = new Map<string, Waits>();
    for (const [id, family] of families) {
      const unmet = new Set<string>();
      for (const member of family.toSorted()) {
        for (const blocker of blockers.get(member) ?? []) {
          if (this.isUnmet(member, blocker)) unmet.add(blocker);
        }
      }
      waits.set(id, { blockedBy: blockers.get(id) ?? [], waitsFor: [...unmet] });
    }
    return waits;
  }

  /**
   * The order of sub-tasks already satisfies blockers within a family. The ancestors of both must
   * have been read.
   */
  isUnmet(id: string, blocker: string): boolean {
    const task = this.#tasks.get(blocker);
    return (
      task !== undefined && task.status !== 'completed' && this.topOf(id) !== this.topOf(blocker)
    );
  }
}
