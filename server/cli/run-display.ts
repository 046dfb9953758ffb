// How a run is shown while a command follows it.

import type { Client, EventView } from '../protocol/api.ts';

/** How the events are shown: lines, JSON lines, or the live view. */
export interface RunDisplay {
  onEvents(events: readonly EventView[]): void;
  /** Something about the run itself, for people. */
  onNotice(text: string): void;
  /** Another backend answers from now on. */
  onClient(client: Client): void;
  done(): Promise<void>;
}
