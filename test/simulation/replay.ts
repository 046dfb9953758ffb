// Follows the event feed like a client: no gap, no illegal change, and at any time the same states
// as the tables.

import { isLegalTransition, type TaskStatus } from '../../server/core/plan/state.ts';
import type { World } from './world.ts';

export interface FeedEvent {
  readonly seq: number;
  readonly type: string;
  readonly at_ms: number;
  readonly task_id: string | null;
  readonly epic_id: string | null;
  readonly data: { readonly [key: string]: unknown };
}

const lastMax = 60;

export class Replay {
  readonly #world: World;
  #seq = 0;
  readonly statuses = new Map<string, TaskStatus>();
  /** The end of the feed, for people. */
  readonly last: FeedEvent[] = [];
  onEvent: (event: FeedEvent) => void = () => undefined;
  readonly types = new Map<string, number>();

  constructor(world: World) {
    this.#world = world;
  }

  /** Reads new events; returns true if there were any. */
  read(): boolean {
    const rows = this.#world.rows<FeedEvent & { data: string }>(
      'select seq, type, at_ms, task_id, epic_id, data from events where seq > ? order by seq',
      this.#seq,
    );
    for (const row of rows) this.#take({ ...row, data: JSON.parse(row.data) as FeedEvent['data'] });
    if (rows.length > 0) this.compare();
    return rows.length > 0;
  }

  #take(event: FeedEvent): void {
    if (event.seq !== this.#seq + 1)
      this.#world.violate('feed', `event ${event.seq} follows event ${this.#seq}`);
    this.#seq = event.seq;
    this.types.set(event.type, (this.types.get(event.type) ?? 0) + 1);
    this.last.push(event);
    if (this.last.length > lastMax) this.last.shift();
    this.#change(event);
    this.onEvent(event);
  }

  #change(event: FeedEvent): void {
    if (event.type === 'agent.retry') return; // its status is the provider's answer
    const status = event.data['status'] as TaskStatus | undefined;
    if (event.task_id === null || status === undefined) return;
    const before = this.statuses.get(event.task_id);
    this.statuses.set(event.task_id, status);
    if (event.type === 'task.created') return;
    const from = event.data['from'] as TaskStatus;
    if (from !== before)
      this.#world.violate(
        'feed',
        `event ${event.seq} takes ${event.task_id} from ${from}, but it was ${before}`,
      );
    if (!isLegalTransition(from, status))
      this.#world.violate('feed', `${event.task_id} went from ${from} to ${status}`);
  }

  compare(): void {
    const rows = this.#world.rows<{ id: string; status: TaskStatus }>(
      'select id, status from tasks',
    );
    for (const { id, status } of rows) {
      const told = this.statuses.get(id);
      if (told !== status)
        this.#world.violate('feed', `${id} is ${status}, but the feed says ${told}`);
    }
  }
}
