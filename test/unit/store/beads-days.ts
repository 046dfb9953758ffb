// Days of random edits on both sides of Beads, with syncs between them: after each sync both sides
// are equal field by field, and each edit is there unless a reported conflict replaced it.

import assert from 'node:assert/strict';
import { priorityFromBd } from '../../../server/core/exchange/beads-format.ts';
import { Refusal } from '../../../server/core/failure.ts';
import type { TaskStatus } from '../../../server/core/plan/state.ts';
import { addTask } from '../../../server/store/plan/tasks.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { tablesOf } from '../../tables.ts';
import type { BeadsSide } from './beads-side.ts';
import { moveTask, statusOf, type TestStore } from './memory-store.ts';

export type Issue = Readonly<Record<string, unknown>>;

/** A person's actions with `bd`. */
export type TheirEdit =
  | { readonly what: 'title' | 'description'; readonly value: string }
  | { readonly what: 'priority'; readonly value: number }
  | { readonly what: 'add-label' | 'remove-label'; readonly value: string }
  | { readonly what: 'add-edge' | 'remove-edge'; readonly value: string }
  | { readonly what: 'close'; readonly value: string }
  | { readonly what: 'reopen' | 'defer' | 'undefer' };

export interface Tracker {
  /** Returns the new id. */
  create(title: string): Promise<string>;
  /** An edit that the tracker refuses changes nothing. */
  edit(id: string, edit: TheirEdit): Promise<void>;
  /** Writes the issues to the file. */
  flush(): Promise<string>;
  /** Reads the file that a sync has written. */
  take(text: string): Promise<void>;
}

interface Facts {
  readonly title: string;
  readonly description: string;
  readonly priority: number;
  readonly labels: string;
  readonly edges: string;
  readonly state: 'open' | 'closed' | 'deferred';
}
type Sides = ReadonlyMap<string, Facts>;

/** Gives the same numbers for the same seed. */
function drawsFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export interface DaysOptions {
  readonly seed: number;
  readonly days: number;
  /** Maximum number of edits between two syncs. */
  readonly editsMax: number;
  readonly say?: (line: string) => void;
}

export class BeadsDays {
  readonly #project: TestStore;
  readonly #side: BeadsSide;
  readonly #tracker: Tracker;
  readonly #options: DaysOptions;
  readonly #draw: (below: number) => number;
  /** In the order of their creation: a later task waits only for earlier ones. */
  readonly #ids: string[] = [];
  #count = 0;
  #last: Sides = new Map();
  readonly #log: string[] = [];

  constructor(project: TestStore, side: BeadsSide, tracker: Tracker, options: DaysOptions) {
    [this.#project, this.#side, this.#tracker] = [project, side, tracker];
    this.#options = options;
    this.#draw = drawsFrom(options.seed);
  }

  async live(): Promise<void> {
    try {
      for (let first = 0; first < 3; first += 1) await this.#create('theirs');
      await this.#sync();
      for (let day = 1; day <= this.#options.days; day += 1) {
        this.#note(`day ${day}`);
        for (let syncs = 1 + this.#draw(2); syncs > 0; syncs -= 1) {
          for (let edits = 1 + this.#draw(this.#options.editsMax); edits > 0; edits -= 1) {
            await this.#edit();
          }
          await this.#sync();
        }
        await this.#sync();
      }
    } catch (error) {
      const seed = `seed ${this.#options.seed}`;
      throw new Error([seed, ...this.#log.slice(-40), String(error)].join('\n'), { cause: error });
    }
  }

  #note(line: string): void {
    this.#log.push(line);
    this.#options.say?.(line);
  }

  async #create(side: 'ours' | 'theirs'): Promise<void> {
    const title = `${side} ${(this.#count += 1)}`;
    const id = side === 'theirs' ? await this.#tracker.create(title) : await this.#add(title);
    this.#note(`${side}: create ${id}`);
    this.#ids.push(id);
  }

  async #add(title: string): Promise<string> {
    const { store, sources } = this.#project;
    return (await store.transaction((tx) => addTask(tx, sources, { title, priority: 'normal' })))
      .id;
  }

  async #edit(): Promise<void> {
    const side = this.#draw(2) === 0 ? 'ours' : 'theirs';
    if (this.#draw(8) === 0 && this.#ids.length < 9) return this.#create(side);
    const at = this.#draw(this.#ids.length);
    const id = this.#ids[at] ?? '';
    // A task that the other side has not seen yet has no edits there.
    if (side === 'ours' && !(await this.#isTask(id))) return;
    const edit = this.#drawEdit(at);
    if (edit === null) return;
    this.#note(`${side}: ${id} ${Object.values(edit).join(' ')}`);
    if (side === 'theirs') return this.#tracker.edit(id, edit);
    try {
      await this.#editOurs(id, edit);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#note(`  refused: ${error.message}`);
    }
  }

  #drawEdit(at: number): TheirEdit | null {
    this.#count += 1;
    const label = `label-${this.#draw(3)}`;
    const before = this.#ids[this.#draw(Math.max(1, at))] ?? '';
    const edits: readonly (TheirEdit | null)[] = [
      { what: 'title', value: `title ${this.#count}` },
      { what: 'description', value: `text ${this.#count}` },
      { what: 'priority', value: this.#draw(5) },
      { what: 'add-label', value: label },
      { what: 'remove-label', value: label },
      at === 0 || !this.#last.has(before) ? null : { what: 'add-edge', value: before },
      at === 0 || !this.#last.has(before) ? null : { what: 'remove-edge', value: before },
      { what: 'close', value: `reason ${this.#count}` },
      { what: 'reopen' },
      { what: 'defer' },
      { what: 'undefer' },
    ];
    return edits[this.#draw(edits.length)] ?? null;
  }

  async #editOurs(id: string, edit: TheirEdit): Promise<void> {
    const { store, sources } = this.#project;
    const set = (fields: Parameters<typeof editTask>[3]) =>
      store.transaction((tx) => editTask(tx, sources, id, fields));
    const facts = (await this.#ours()).get(id) ?? assert.fail(id);
    const labels = facts.labels.split(' ').filter(Boolean);
    const edges = facts.edges.split(' ').filter(Boolean);
    switch (edit.what) {
      case 'title':
        return void (await set({ title: edit.value }));
      case 'description':
        return void (await set({ description: edit.value }));
      case 'priority':
        return void (await set({ priority: priorityFromBd(edit.value) }));
      case 'add-label':
        return void (await set({ labels: [...new Set([...labels, edit.value])] }));
      case 'remove-label':
        return void (await set({ labels: labels.filter((one) => one !== edit.value) }));
      case 'add-edge':
        return void (await set({ blocked_by: [...new Set([...edges, edit.value])] }));
      case 'remove-edge':
        return void (await set({ blocked_by: edges.filter((one) => one !== edit.value) }));
      default:
        return this.#moveOurs(id, edit.what);
    }
  }

  async #moveOurs(id: string, what: 'close' | 'reopen' | 'defer' | 'undefer'): Promise<void> {
    const status = (await statusOf(this.#project, id)) as TaskStatus;
    const from: Readonly<Record<typeof what, readonly TaskStatus[]>> = {
      close: ['ready', 'blocked', 'paused'],
      reopen: ['completed', 'cancelled'],
      defer: ['ready', 'blocked'],
      undefer: ['paused'],
    };
    const to = { close: 'cancelled', reopen: 'ready', defer: 'paused', undefer: 'ready' } as const;
    if (from[what].includes(status)) await moveTask(this.#project, id, [to[what]]);
  }

  async #isTask(id: string): Promise<boolean> {
    return (await this.#ours()).has(id);
  }

  async #ours(): Promise<Sides> {
    const db = tablesOf(this.#project.store.db);
    const rows = await db.selectFrom('tasks').selectAll().execute();
    const edges = await db.selectFrom('task_dependencies').selectAll().execute();
    return new Map(
      rows.map((row) => {
        const before = edges.filter((edge) => edge.task_id === row.id);
        const facts: Facts = {
          title: row.title,
          description: row.description ?? '',
          priority: row.priority,
          labels: sorted(JSON.parse(row.labels) as readonly string[]),
          edges: sorted(before.map((edge) => edge.blocked_by)),
          state: stateOf(row.status),
        };
        return [row.id, facts];
      }),
    );
  }

  async #sync(): Promise<void> {
    const { sources } = this.#project;
    sources.nowMs += 60_000;
    this.#side.text = await this.#tracker.flush();
    const reasons = reasonsOf(this.#side.text);
    const [ours, theirs] = [await this.#ours(), factsOf(this.#side.text)];
    const { merged, conflicts } = mergeSides(this.#last, ours, theirs);
    const { warnings } = await this.#side.sync();
    await this.#tracker.take(this.#side.text);
    const told = warnings.map(({ id, message }) => `${String(id)}: ${message}`);
    this.#note(`sync${told.map((line) => `\n  ${line}`).join('')}`);
    const after = await this.#tracker.flush();
    assert.deepEqual(plain(await this.#ours()), plain(merged), 'in Drover');
    assert.deepEqual(plain(factsOf(after)), plain(merged), 'in Beads');
    const kept = reasonsOf(after);
    for (const [id, reason] of reasons) {
      if (merged.get(id)?.state === 'closed') assert.equal(kept.get(id), reason, `reason of ${id}`);
    }
    for (const [id, field] of conflicts) {
      const isTold = told.some(
        (line) => line.startsWith(`${id}: `) && line.includes(words[field] ?? field),
      );
      assert.ok(isTold, `the conflict of ${field} of ${id} was not reported: ${told.join('\n')}`);
    }
    this.#last = merged;
  }
}

/** In the report's wording. */
const words: Readonly<Record<string, string>> = { edges: 'dependencies' };

const plain = (sides: Sides) =>
  Object.fromEntries([...sides].toSorted(([a], [b]) => (a < b ? -1 : 1)));

const sorted = (list: readonly string[]): string => [...list].toSorted().join(' ');

function stateOf(status: TaskStatus): Facts['state'] {
  if (status === 'completed' || status === 'cancelled') return 'closed';
  return status === 'paused' ? 'deferred' : 'open';
}

function factsOf(text: string): Sides {
  const issues = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Issue);
  return new Map(
    issues.map((issue) => {
      const labels = (issue['labels'] ?? []) as readonly string[];
      const edges = (issue['dependencies'] ?? []) as readonly Readonly<Record<string, string>>[];
      const { status } = issue;
      const isDeferred = status === 'deferred' || labels.includes('drover:paused');
      const facts: Facts = {
        title: String(issue['title']),
        description: (issue['description'] as string | undefined) ?? '',
        priority: priorityFromBd(issue['priority'] ?? 0),
        labels: sorted(labels.filter((label) => !label.startsWith('drover:'))),
        edges: sorted(edges.map((edge) => edge['depends_on_id'] ?? '')),
        state: status === 'closed' ? 'closed' : isDeferred ? 'deferred' : 'open',
      };
      return [String(issue['id']), facts];
    }),
  );
}

/** Why each closed issue was closed. */
function reasonsOf(text: string): ReadonlyMap<string, unknown> {
  const issues = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Issue);
  return new Map(
    issues.flatMap(({ id, status, close_reason: reason }) =>
      status === 'closed' ? [[String(id), reason] as const] : [],
    ),
  );
}

/**
 * Takes each field from the side that changed it; if both sides changed a field, the value of the
 * file wins.
 */
function mergeSides(
  last: Sides,
  ours: Sides,
  theirs: Sides,
): { readonly merged: Sides; readonly conflicts: readonly (readonly [string, string])[] } {
  const merged = new Map<string, Facts>();
  const conflicts: [string, string][] = [];
  for (const id of new Set([...ours.keys(), ...theirs.keys()])) {
    const [before, here, there] = [last.get(id), ours.get(id), theirs.get(id)];
    if (here === undefined || there === undefined || before === undefined) {
      // An issue that was created and closed there before the sync becomes a task here.
      merged.set(id, here ?? there ?? assert.fail());
      continue;
    }
    const facts: Record<string, unknown> = { ...here };
    for (const field of Object.keys(before) as (keyof Facts)[]) {
      if (there[field] === before[field]) continue;
      facts[field] = there[field];
      if (here[field] !== before[field] && here[field] !== there[field])
        conflicts.push([id, field]);
    }
    merged.set(id, facts as unknown as Facts);
  }
  return { merged, conflicts };
}
