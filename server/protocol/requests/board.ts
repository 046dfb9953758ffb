// The current and earlier states, the feed, the logs, and machines with orders to them.

import type { BoardChanges } from '../panel-views.ts';
import type { Subscribed } from '../run-views.ts';
import type {
  DrainAnswer,
  EventView,
  LogPageView,
  MachineView,
  ReleaseAnswer,
  StatusSnapshot,
} from '../views.ts';
import { flag, id, integer, number, optional, type ParamsOf, place, text } from './fields.ts';

/** Either the number of the last included event, or a time in Unix milliseconds. */
const moment = { seq: optional(place), at_ms: optional(place) };

export type PastMoment = Readonly<ParamsOf<typeof moment>>;

export const boardShapes = {
  status: { epic: optional(id) },
  /** The state at an earlier moment, with the current configuration. */
  'past.status': { ...moment, epic: optional(id) },
  why: { id },
  'past.why': { ...moment, id },
  'board.changes': { after: place },
  'events.read': {
    after: optional(place),
    type: optional(text),
    task: optional(text),
    by: optional(text),
    limit: optional(integer(1)),
  },
  /**
   * `board`: board changes are sent along with the events. The client's board must be at `after`.
   */
  subscribe: { after: optional(number), board: optional(flag) },
  'log.read': {
    id,
    attempt: optional(place),
    offset: optional(place),
    /**
     * Returns the page that ends here (`limit` events back) instead of the one that starts at
     * `offset`.
     */
    before: optional(place),
    limit: optional(integer(1)),
    /**
     * Limits the new events after `offset` to the last `limit`. The page's `offset` is their start.
     */
    newest: optional(flag),
    /**
     * If nothing is new at `offset`, the response waits at most this long (30 s), or until the
     * attempt ends.
     */
    wait_ms: optional(place),
  },
  'log.prompt': { id, attempt: optional(place) },
  /** The cost of agents today, by the backend's calendar. */
  spending: {},
  /**
   * The machines of the fleet; none if the project has only one machine. `all` includes those that
   * have been gone for more than a week.
   */
  'machines.list': { all: optional(flag) },
  /** Makes a machine of the fleet accept no new work. `now`: also releases its running tasks. */
  'machines.drain': { machine: text, now: optional(flag) },
  /** Makes the machine that lands on a branch release it to another one. */
  'line.release': { line: text },
};

export interface BoardAnswers {
  status: StatusSnapshot;
  'past.status': StatusSnapshot & { readonly at_ms: number };
  why: { id: string; reasons: readonly string[] };
  'past.why': { id: string; reasons: readonly string[] };
  'board.changes': BoardChanges;
  'events.read': { events: readonly EventView[]; seq: number };
  subscribe: Subscribed;
  'log.read': LogPageView;
  'log.prompt': { task_id: string; attempt: number; prompt: string };
  spending: { day: string; usd: number };
  'machines.list': readonly MachineView[];
  'machines.drain': DrainAnswer;
  'line.release': ReleaseAnswer;
}
