// The workflows' agent driver and process table, with simulated processes.

import { failure } from '../../server/core/failure.ts';
import type {
  AgentCapabilities,
  AgentDriver,
  AgentHost,
  AgentOutcome,
  AgentProcess,
  AgentRequest,
  EndedTree,
  ProcessTable,
} from '../../server/agents/port.ts';
import type { AgentKind } from '../../server/core/plan/task.ts';
import type { AgentEvent } from '../../server/protocol/agent-events.ts';
import type { PortCalls } from './port-calls.ts';
import type { CommandWorld } from './simulated-commands.ts';
import type { AgentWorld, SimulatedAgent } from './simulated-agents.ts';

const graceMs = 2_000;

/**
 * Kinds that differ like the real ones: with and without resumable sessions, and with and without
 * support for being followed by another backend.
 */
export const capabilitiesOf: { readonly [kind: string]: AgentCapabilities } = {
  claude: { resume: true, questions: true, hints: true, cost: true, adopt: false },
  command: { resume: false, questions: false, hints: false, cost: false, adopt: true },
  'drover-code': { resume: true, questions: true, hints: true, cost: true, adopt: true },
};

export class SimulatedDriver implements AgentDriver {
  readonly kind: AgentKind;
  readonly capabilities: AgentCapabilities;
  readonly #world: AgentWorld;
  readonly #calls: PortCalls;
  readonly #backend: string;

  constructor(kind: AgentKind, world: AgentWorld, calls: PortCalls, backend: string) {
    this.kind = kind;
    this.capabilities = capabilitiesOf[kind] ?? (capabilitiesOf['claude'] as AgentCapabilities);
    this.#world = world;
    this.#calls = calls;
    this.#backend = backend;
  }

  probe(): ReturnType<AgentDriver['probe']> {
    return this.#calls.run('agent.probe', () => ({ ok: true, version: '1', message: 'simulated' }));
  }

  async run(request: AgentRequest, host: AgentHost, signal: AbortSignal): Promise<AgentOutcome> {
    if (signal.aborted) return { kind: 'stopped' };
    const agent = await this.#calls.run('agent.spawn', () =>
      this.#world.spawn(request, this.kind, this.#backend),
    );
    await host.onProcess({ pid: agent.pid, startTime: agent.startTime });
    const off = this.#watchHints(agent, host);
    const outcome = await this.#calls.wait<AgentOutcome | null>((done) => {
      this.#follow(agent, host, signal, done);
      this.#world.release(agent);
    });
    off();
    if (outcome !== null) return outcome;
    const message = `The agent ${this.kind} was killed.`;
    return { kind: 'failed', failure: failure('agent_failed', message) };
  }

  async adopt(
    request: AgentRequest,
    process: AgentProcess,
    host: AgentHost,
    signal: AbortSignal,
  ): Promise<AgentOutcome | null> {
    if (!this.capabilities.adopt) return null;
    const found = await this.#calls.run('agent.adopt', () => this.#world.find(process));
    if (found === undefined || found.request.runId !== request.runId) return null;
    if (found.state === 'ended') return found.outcome;
    if (found.state === 'held') return null;
    return this.#calls.wait<AgentOutcome | null>((done) => this.#follow(found, host, signal, done));
  }

  /** Calls back once, with `stopped` if our signal ended the agent. */
  #follow(
    agent: SimulatedAgent,
    host: AgentHost,
    signal: AbortSignal,
    done: (outcome: AgentOutcome | null) => void,
  ): void {
    const withdrawn = new AbortController();
    const stop = (): void => this.#world.terminate(agent, graceMs);
    agent.listener = {
      onEvent: (event: AgentEvent) => {
        if (this.#calls.isAlive()) host.onEvent(event);
      },
      ask: (question, answered) => {
        host.ask(question, withdrawn.signal).then(() => {
          if (this.#calls.isAlive()) answered();
        }, this.#fail);
      },
      onEnd: (outcome) => {
        signal.removeEventListener('abort', stop);
        withdrawn.abort();
        done(signal.aborted && agent.ending ? { kind: 'stopped' } : outcome);
      },
    };
    if (agent.state === 'ended') return agent.listener.onEnd(agent.outcome);
    agent.asking?.(agent.listener);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  }

  readonly #fail = (error: unknown): void => this.#calls.unexpected(error);

  #watchHints(agent: SimulatedAgent, host: AgentHost): () => void {
    if (!this.capabilities.hints) return () => undefined;
    return host.onHint(({ id }) => {
      if (agent.state !== 'working' || !this.#calls.isAlive()) return;
      host.hintDelivered(id).catch(this.#fail);
    });
  }
}

export class SimulatedProcessTable implements ProcessTable {
  readonly #world: AgentWorld;
  readonly #calls: PortCalls;

  readonly #commands: CommandWorld;

  constructor(world: AgentWorld, commands: CommandWorld, calls: PortCalls) {
    this.#world = world;
    this.#commands = commands;
    this.#calls = calls;
  }

  isAlive(process: AgentProcess): Promise<boolean> {
    return this.#calls.run('process.isAlive', () => {
      const agent = this.#world.find(process);
      return agent !== undefined && agent.state !== 'ended';
    });
  }

  endOrphansIn(): Promise<void> {
    return Promise.resolve();
  }

  /** The database of a simulation is always reachable. */
  standStill(): Promise<boolean> {
    return Promise.resolve(false);
  }

  goOn(): Promise<void> {
    return Promise.resolve();
  }

  async endTree(runId: string, _process: AgentProcess | null, grace: number): Promise<EndedTree> {
    const left = await this.#calls.run('process.endTree', () =>
      this.#world.live().filter((agent) => agent.request.runId === runId),
    );
    await this.#calls.wait<void>((done) => this.#commands.endTree(runId, () => done()));
    for (const agent of left) {
      if (agent.state === 'ended') continue;
      await this.#calls.wait<void>((done) => {
        agent.afterEnd.push(() => done());
        this.#world.terminate(agent, grace);
      });
    }
    return { ended: left.length, left: 0 };
  }
}
