// After a decision, reports the run that must be started to carry it out, if none is active.

import type { Client } from '../../protocol/api.ts';
import type { CommandContext } from '../context.ts';
import { plainLine } from '../plain-text.ts';
import { nextRunLine } from '../render/next-run.ts';

/** The decision has been made, so no failure here may make the command fail. */
export async function tellNextRun(
  context: CommandContext,
  client: Client,
  id: string,
): Promise<void> {
  const board = await client.call('status', {}).catch(() => null);
  const line = board === null ? null : nextRunLine(board, id);
  if (line !== null) context.tell(plainLine(line));
}
