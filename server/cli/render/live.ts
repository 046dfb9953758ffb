// The live view of a run on a terminal.

import type { Client, RunView } from '../../protocol/api.ts';
import type { CommandContext } from '../context.ts';
import type { RunDisplay } from '../follow-run.ts';
import { eventLine } from './event-line.ts';

export function liveDisplay(context: CommandContext, _client: Client, _run: RunView): RunDisplay {
  return {
    onEvents(events) {
      for (const event of events) context.say(eventLine(event));
    },
    onNotice: (text) => context.tell(text),
    onClient: () => {},
    done: () => {},
  };
}
