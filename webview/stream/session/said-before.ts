// A person's earlier messages to the agent of a stream, for the history of the message field.

import type { Entry } from '../../shared/log/transcript.ts';

const entriesMax = 500;

/**
 * The loaded messages, and the ones that no agent has read yet; oldest first, each text once, at
 * its last position.
 */
export function saidBefore(entries: readonly Entry[], queued: readonly string[]): string[] {
  const read = entries
    .slice(-entriesMax)
    .flatMap(({ body }) => (body.kind === 'hint' ? [body.text] : []));
  const all = [...read, ...queued];
  return all.filter((text, index) => all.lastIndexOf(text) === index);
}
