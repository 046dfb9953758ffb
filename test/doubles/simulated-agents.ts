// Agent processes of the simulation. They belong to the world, not to the backend, and some of them
// outlive it.

import type { AgentOutcome, AgentProcess, AgentRequest } from '../../server/agents/port.ts';
import type { AgentKind } from '../../server/core/plan/task.ts';
import type { AgentEvent } from '../../server/protocol/agent-events.ts';
import type { SeededChance } from './seeded-chance.ts';
import type { SimulatedClock } from './simulated-clock.ts';
import type { SimulatedRepository } from './simulated-repository.ts';

export type AgentAct =
  | { readonly kind: 'write'; readonly path: string; readonly mark: string }
  /** Appends to the file's content. */
  | { readonly kind: 'append'; readonly path: string; readonly mark: string }
  /** Removes every match from every file. */
  | { readonly kind: 'mend'; readonly flaw: RegExp }
  | { readonly kind: 'commit' }
  | { readonly kind: 'detach' }
  | { readonly kind: 'ask'; readonly requestId: string }
  /** Sends a request to the backend with Drover's tools; continues on any answer. */
  | { readonly kind: 'tool'; readonly call: (request: AgentRequest, done: () => void) => void }
  | { readonly kind: 'say'; readonly event: AgentEvent };

export interface AgentPlan {
  readonly acts: readonly { readonly afterMs: number; readonly act: AgentAct }[];
  readonly end: { readonly afterMs: number; readonly outcome: (nowMs: number) => AgentOutcome };
}

export interface AgentListener {
  onEvent(event: AgentEvent): void;
  ask(question: Extract<AgentEvent, { type: 'question' }>, answered: () => void): void;
  /** Null if it was killed and the outcome of its work is unknown. */
  onEnd(outcome: AgentOutcome | null): void;
}

export interface SimulatedAgent extends AgentProcess {
  readonly kind: AgentKind;
  readonly request: AgentRequest;
  readonly backend: string;
  readonly plan: AgentPlan;
  /** `held`: it exists, but has received no command yet. */
  state: 'held' | 'working' | 'ended';
  ending: boolean;
  outcome: AgentOutcome | null;
  listener: AgentListener | null;
  /** Waits for an answer; the backend that takes it over asks again. */
  asking: ((listener: AgentListener) => void) | null;
  readonly afterEnd: (() => void)[];
}

export interface AgentObserver {
  agentStarting(request: AgentRequest, kind: AgentKind): void;
}

export class AgentWorld {
  readonly #clock: SimulatedClock;
  readonly #chance: SeededChance;
  readonly #repository: SimulatedRepository;
  readonly agents: SimulatedAgent[] = [];
  readonly sessions = new Set<string>();
  /** Every content that an agent has written; each is unique. */
  readonly written = new Set<string>();
  observer: AgentObserver = { agentStarting: () => undefined };
  planFor: (request: AgentRequest, kind: AgentKind) => AgentPlan;

  constructor(clock: SimulatedClock, chance: SeededChance, repository: SimulatedRepository) {
    this.#clock = clock;
    this.#chance = chance;
    this.#repository = repository;
    this.planFor = () => {
      throw new Error('nobody has said what agents do');
    };
  }

  live(): SimulatedAgent[] {
    return this.agents.filter((agent) => agent.state !== 'ended');
  }

  find(process: AgentProcess): SimulatedAgent | undefined {
    return this.agents.find(
      (agent) => agent.pid === process.pid && agent.startTime === process.startTime,
    );
  }

  spawn(request: AgentRequest, kind: AgentKind, backend: string): SimulatedAgent {
    this.observer.agentStarting(request, kind);
    const agent: SimulatedAgent = {
      pid: 1_000 + this.agents.length,
      startTime: String(this.#clock.now()),
      kind,
      request,
      backend,
      plan: this.planFor(request, kind),
      state: 'held',
      ending: false,
      outcome: null,
      listener: null,
      asking: null,
      afterEnd: [],
    };
    this.agents.push(agent);
    return agent;
  }

  release(agent: SimulatedAgent): void {
    if (agent.state !== 'held') return;
    agent.state = 'working';
    this.sessions.add(agent.request.sessionId);
    this.#next(agent, 0);
  }

  #next(agent: SimulatedAgent, at: number): void {
    const item = agent.plan.acts[at];
    if (item === undefined) {
      this.#clock.timer(agent.plan.end.afterMs, () => {
        if (agent.state !== 'working') return;
        agent.outcome = agent.plan.end.outcome(this.#clock.now());
        this.#end(agent);
      });
      return;
    }
    this.#clock.timer(item.afterMs, () => {
      if (agent.state !== 'working') return;
      this.#act(agent, item.act, () => this.#next(agent, at + 1));
    });
  }

  #act(agent: SimulatedAgent, act: AgentAct, done: () => void): void {
    const worktree = this.#repository.worktrees.get(agent.request.cwd);
    switch (act.kind) {
      case 'write':
      case 'append': {
        const before = act.kind === 'append' ? (worktree?.files.get(act.path) ?? '') : '';
        const content = `${before}${act.mark} by ${agent.pid}\n`;
        this.written.add(content);
        worktree?.files.set(act.path, content);
        return done();
      }
      case 'mend':
        for (const [path, content] of worktree?.files ?? []) {
          const mended = content.replaceAll(act.flaw, '');
          if (mended === content) continue;
          this.written.add(mended);
          worktree?.files.set(path, mended);
        }
        return done();
      case 'commit':
        if (worktree !== undefined)
          this.#repository.commitIn(worktree, `work on ${agent.request.taskId}`, 'agent');
        return done();
      case 'detach':
        if (worktree !== undefined) {
          worktree.detachedAt = this.#repository.headOf(worktree);
          worktree.branch = null;
        }
        return done();
      case 'tool':
        return act.call(agent.request, () => {
          if (agent.state === 'working') done();
        });
      case 'say':
        agent.listener?.onEvent(act.event);
        return done();
      case 'ask': {
        const question = {
          type: 'question',
          requestId: act.requestId,
          kind: 'question',
          text: `May ${agent.request.taskId} go on?`,
          choices: ['yes', 'no'],
        } as const;
        agent.asking = (listener) =>
          listener.ask(question, () => {
            if (agent.asking === null || agent.state !== 'working') return;
            agent.asking = null;
            done();
          });
        if (agent.listener !== null) agent.asking(agent.listener);
        return;
      }
    }
  }

  /**
   * It was asked to stop: it exits within the grace period, or is then killed. It may still write
   * something.
   */
  terminate(agent: SimulatedAgent, graceMs: number): void {
    if (agent.state === 'ended' || agent.ending) return;
    agent.ending = true;
    if (agent.state === 'held') return this.kill(agent);
    const delayMs = this.#chance.percent(20) ? graceMs : this.#chance.below(graceMs / 4 + 1);
    this.#clock.timer(delayMs, () => this.kill(agent));
  }

  kill(agent: SimulatedAgent): void {
    if (agent.state === 'ended') return;
    agent.outcome = null;
    this.#end(agent);
  }

  #end(agent: SimulatedAgent): void {
    agent.state = 'ended';
    agent.listener?.onEnd(agent.outcome);
    for (const callback of agent.afterEnd) callback();
  }

  /**
   * Processes that have received no command end at once; the others end randomly, if their program
   * supports that.
   */
  backendDied(backend: string, survives: (kind: AgentKind) => boolean): void {
    for (const agent of this.live()) {
      agent.listener = null;
      if (agent.backend === backend && agent.state === 'held') this.kill(agent);
      else if (survives(agent.kind) && this.#chance.percent(90)) continue;
      else if (this.#chance.percent(50)) this.kill(agent);
      else this.terminate(agent, 8_000);
    }
  }
}
