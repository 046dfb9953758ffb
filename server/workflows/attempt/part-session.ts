// The session of one part with an agent: its events, its questions and its end.

import type { AgentHost, AgentOutcome, AgentProcess } from '../../agents/port.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import {
  askQuestion,
  type Claim,
  endQuestion,
  markHintDelivered,
  openHints,
  openQuestions,
  setAttempt,
  type Tx,
  withdrawQuestions,
} from '../../store/port.ts';
import type { AgentStill } from '../kit/agent-still.ts';
import { BudgetWatch, type WatchStop } from './budget-watch.ts';
import { LostLease } from '../../durable/port.ts';
import { slowDown } from '../kit/holds.ts';
import type { Engine } from '../kit/engine-ports.ts';

/** Delay before a failed write of a question is retried. */
const tryAgainMs = 1_000;

/** Passes messages between the running agent and the engine. */
export class PartSession implements AgentHost {
  readonly #engine: Engine;
  readonly #claim: Claim;
  readonly #part: string;
  readonly #still: AgentStill;
  readonly #signal: AbortSignal;
  readonly watch: BudgetWatch;
  /** Why no agent was started here. Null if it was started or nothing prevented it. */
  elsewhere: string | null = null;
  #usage: Usage | null = null;
  #wasKilled = false;

  constructor(
    engine: Engine,
    claim: Claim,
    { part, still }: { readonly part: string; readonly still: AgentStill },
    signal: AbortSignal,
  ) {
    this.#engine = engine;
    this.#claim = claim;
    this.#part = part;
    this.#still = still;
    this.#signal = signal;
    this.watch = new BudgetWatch(engine, claim, part, (question, withdrawn) =>
      this.#askPerson(question, withdrawn),
    );
  }

  /** Runs the agent once. The signal aborts when a person or the budget watch stops it. */
  async whileAtWork<T>(signal: AbortSignal, body: (either: AbortSignal) => Promise<T>): Promise<T> {
    this.watch.setAtWork(true);
    try {
      return await body(AbortSignal.any([signal, this.watch.signal]));
    } finally {
      this.runsAs(null);
      this.watch.setAtWork(false);
    }
  }

  /** Whether a person wants an agent that was stopped in a loop to continue. */
  async goesOn(outcome: AgentOutcome): Promise<boolean> {
    return outcome.kind === 'stopped' && !this.#signal.aborted && (await this.watch.mayGoOn());
  }

  async withdrawOld(): Promise<void> {
    const { store } = this.#engine;
    if ((await openQuestions(store.db, this.#part)).length === 0) return;
    await store.transaction((tx) => withdrawQuestions(tx, store.sources, this.#part));
  }

  async end(outcome: AgentOutcome, logPath: string): Promise<PartOutcome> {
    await this.#engine.agentTools.close(logPath);
    await this.withdrawOld();
    return { outcome, usage: this.#usage, logPath };
  }

  /** Records the agent's current process; null if it has ended. */
  runsAs(process: AgentProcess | null): void {
    this.#still.runsAs(process);
  }

  async onProcess(process: AgentProcess): Promise<void> {
    this.runsAs(process);
    const resumes = this.#engine.driverFor(this.#claim.agent, this.#claim.model).capabilities
      .resume;
    await this.#engine.store.transaction((tx) =>
      setAttempt(tx, this.#claim.taskId, this.#claim.attempt, {
        pid: process.pid,
        pid_start: process.startTime,
        pid_part: this.#part,
        ...(resumes ? { session_started: 1 } : {}),
      }),
    );
  }

  /**
   * Whether a signal from outside ended the agent. Returns true only once for each run of the
   * agent.
   */
  takeKill(outcome: AgentOutcome): boolean {
    const wasKilled = this.#wasKilled;
    this.#wasKilled = false;
    return wasKilled && outcome.kind === 'failed' && outcome.failure.kind === 'agent_failed';
  }

  onUsageSoFar(usage: Usage, isBase: boolean): void {
    this.watch.onUsage(usage, isBase);
  }

  onEvent(event: AgentEvent): void {
    this.watch.onEvent(event);
    if (event.type === 'usage') this.#usage = event.usage;
    // Shells report a death by signal n as exit code 128 + n.
    if (event.type === 'exit') this.#wasKilled = event.signal !== null || (event.code ?? 0) > 128;
    if (event.type !== 'retry') return;
    const { store } = this.#engine;
    const data = {
      attempt: event.attempt,
      delay_ms: event.delayMs,
      status: event.status,
      error: this.#engine.mask(event.error),
    };
    store
      .transaction(async (tx) => {
        await store.append(tx, { type: 'agent.retry', taskId: this.#part, data });
        await slowDown(this.#engine, tx, this.#claim, event);
      })
      .catch((error: unknown) => this.#engine.report(error, 'storing an API retry'));
  }

  async ask(
    question: Extract<AgentEvent, { type: 'question' }>,
    withdrawn: AbortSignal,
  ): Promise<string | null> {
    this.watch.setAsking(true);
    try {
      return await this.#askPerson(question, withdrawn);
    } finally {
      this.watch.setAsking(false);
    }
  }

  async #askPerson(
    question: Extract<AgentEvent, { type: 'question' }>,
    withdrawn: AbortSignal,
  ): Promise<string | null> {
    const { store, switchboard, mask } = this.#engine;
    const choices = question.choices.map(mask);
    const asOffered = (answer: string): string =>
      question.choices[choices.indexOf(answer)] ?? answer;
    const over = AbortSignal.any([withdrawn, this.#signal]);
    const row = await this.#written(over, (tx) =>
      askQuestion(tx, store.sources, {
        taskId: this.#part,
        attempt: this.#claim.attempt,
        requestId: question.requestId,
        kind: question.kind,
        text: mask(question.text),
        choices,
      }),
    );
    if (row === null) return null;
    if (row.state === 'answered') return row.answer === null ? null : asOffered(row.answer);
    const answer = await new Promise<string | null>((resolve) => {
      const off = switchboard.onAnswer(row.id, (text) => {
        over.removeEventListener('abort', onAbort);
        off();
        resolve(text === null ? null : asOffered(text));
      });
      const onAbort = (): void => {
        off();
        resolve(null);
      };
      if (over.aborted) onAbort();
      else over.addEventListener('abort', onAbort, { once: true });
    });
    if (answer === null) {
      await this.#written(this.#signal, (tx) =>
        endQuestion(tx, store.sources, row.id, { state: 'withdrawn', answer: null }),
      );
    }
    return answer;
  }

  /**
   * Retries the write, because a question must not end the agent if the database is briefly
   * unreachable. Returns null without writing if the attempt is over or another process owns it.
   */
  async #written<T>(over: AbortSignal, body: (tx: Tx) => Promise<T>): Promise<T | null> {
    const { store, clock, isPassing } = this.#engine;
    for (;;) {
      try {
        return await store.transaction(body);
      } catch (error) {
        if (error instanceof LostLease) return null;
        if (!isPassing(error)) throw error;
        if (over.aborted) return null;
        await new Promise<void>((resolve) => void clock.timer(tryAgainMs, resolve));
      }
    }
  }

  onHint(listener: (hint: { readonly id: string; readonly text: string }) => void): () => void {
    const { store, switchboard } = this.#engine;
    const seen = new Set<string>();
    const look = (): void => {
      store
        .transaction((tx) => openHints(tx, [this.#part, this.#claim.taskId]))
        .then((hints) => {
          for (const hint of hints) {
            if (seen.has(hint.id)) continue;
            seen.add(hint.id);
            listener({ id: hint.id, text: hint.message });
          }
        })
        .catch((error: unknown) => this.#engine.report(error, 'reading hints'));
    };
    const offs = [...new Set([this.#part, this.#claim.taskId])].map((id) =>
      switchboard.onHint(id, look),
    );
    look();
    return () => {
      for (const off of offs) off();
    };
  }

  onNote(listener: (text: string) => void): () => void {
    return this.#engine.switchboard.onNote(this.#claim.taskId, listener);
  }

  async hintDelivered(id: string): Promise<void> {
    const { store } = this.#engine;
    await store.transaction((tx) => markHintDelivered(tx, store.sources, id));
  }
}

export interface PartOutcome {
  readonly outcome: AgentOutcome;
  readonly usage: Usage | null;
  readonly logPath: string;
  /** Why the engine itself stopped the agent: a budget is used up, or it was in a loop. */
  readonly held?: WatchStop;
  /** Why the attempt must continue on another machine. */
  readonly elsewhere?: string;
}
