// How a run is displayed while a command follows it.

import type { Client, EventView } from '../protocol/api.ts';

/** How events are displayed: as lines, as JSON lines, or in the live view. */
export interface RunDisplay {
  onEvents(events: readonly EventView[]): void;
  /** A notice about the run itself, for people. */
  onNotice(text: string): void;
  /** Another backend responds from now on. */
  onClient(client: Client): void;
  done(): Promise<void>;
}
