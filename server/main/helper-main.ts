// The helper process: starts git and agents for the backend. Starting a process blocks the parent
// for a time in proportion to its memory; so it is done from this small process.
//
// It exits when the backend is gone (or has disconnected) and its git processes have ended by
// themselves: a git that is killed halfway, for example while it updates the user's checkout, would
// need more repair than one that finishes. Agents keep running, except those that were not released
// yet: their gate closes with this process.

import { spawnAgent, type AgentChild } from '../agents/kit/process/spawn.ts';
import { runOnce } from '../git/process/run-once.ts';
import type { FromHelper, ToHelper } from './helper/helper-messages.ts';

const environments = new Map<number, Readonly<Record<string, string>>>();
const running = new Map<number, AbortController>();
const agents = new Map<number, AgentChild>();

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
    sayThrown(message.id, error);
  } finally {
    running.delete(message.id);
    endWhenDone();
  }
}

async function startAgent(message: Extract<ToHelper, { kind: 'agent' }>): Promise<void> {
  const { id, request } = message;
  try {
    const child = await spawnAgent(request);
    agents.set(id, child);
    say({ kind: 'started', id, process: child.process });
    const exit = await child.exited;
    agents.delete(id);
    say({ kind: 'exited', id, exit });
  } catch (error) {
    sayThrown(id, error);
  }
}

function sayThrown(id: number, error: unknown): void {
  say({ kind: 'threw', id, message: error instanceof Error ? error.message : String(error) });
}

function endWhenDone(): void {
  if (!process.connected && running.size === 0) process.exit(0);
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
    case 'agent':
      void startAgent(message);
      return;
    case 'release':
      agents.get(message.id)?.release();
      return;
  }
});
process.on('disconnect', endWhenDone);

// Ends with the backend, not before it: a Ctrl-C in its terminal reaches the whole group.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

say({ kind: 'ready' });
