// The helper process: starts git for the backend. Starting a process takes time in proportion to the memory of the one
// that starts it, during which that one does nothing else; so it is done from here, where there is little memory.
//
// It ends when the backend is gone (or has let go of it) and what it runs has ended by itself: a git that is killed
// half-way, for example while it updates a checkout of the user's, would leave more to repair than one that finishes.

import { runOnce } from '../git/run-once.ts';
import type { FromHelper, ToHelper } from './helper-messages.ts';

const environments = new Map<number, Readonly<Record<string, string>>>();
const running = new Map<number, AbortController>();

function say(message: FromHelper): void {
  // A backend that died in between needs no answer.
  if (process.connected) process.send?.(message, undefined, {}, () => undefined);
}

async function runGit(message: Extract<ToHelper, { kind: 'git' }>): Promise<void> {
  const controller = new AbortController();
  running.set(message.id, controller);
  const environment = environments.get(message.environment) ?? {};
  try {
    const output = await runOnce({ ...message.request, environment }, controller.signal);
    say({ kind: 'output', id: message.id, output });
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    say({ kind: 'threw', id: message.id, message: text });
  } finally {
    running.delete(message.id);
  }
}

process.on('message', (message: ToHelper) => {
  switch (message.kind) {
    case 'environment':
      environments.set(message.number, message.variables);
      return;
    case 'git':
      void runGit(message);
      return;
    case 'abort':
      running.get(message.id)?.abort();
      return;
  }
});

// Ends with the backend, not before it: a Ctrl-C in its terminal reaches the whole group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

say({ kind: 'ready' });
