// Watches the agent of one part while it runs: stores its usage, asks a person before a budget is
// used up, stops the agent between two turns when it is, and detects loops.

import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import { continueChoice, type BudgetScope, hasLimit, stopChoice } from '../../core/work/budget.ts';
import {
  type FoundLoop,
  LoopDetector,
  loopQuestion,
  loopStopSentence,
} from '../../core/work/loop-detector.ts';
import { SpendingCounter } from '../../core/work/spending.ts';
import { addSpending, type Claim, spentByPart, taskById, type Tx } from '../../store/port.ts';
import { type BudgetPlace, budgetWord } from '../kit/budget-scopes.ts';
import { budgetDay } from '../kit/budget-day.ts';
import type { Engine } from '../kit/engine-ports.ts';

export interface WatchStop {
  readonly scope: BudgetScope | 'loop';
  readonly sentence: string;
}

export type AskPerson = (
  question: Extract<AgentEvent, { type: 'question' }>,
  signal: AbortSignal,
) => Promise<string | null>;

/** How long a running tool may continue after the budget is used up. */
const toolGraceMs = 20_000;
/** Maximum time between two checks of the agent's working time. */
const lookEveryMs = 5_000;

export class BudgetWatch {
  readonly #engine: Engine;
  readonly #claim: Claim;
  readonly #part: string;
  readonly #ask: AskPerson;
  readonly #loops: LoopDetector;
  readonly #over = new AbortController();
  readonly #asked = new Set<string>();
  readonly #openTools = new Set<string>();
  readonly #offs: (() => void)[] = [];
  #controller = new AbortController();
  #counter: SpendingCounter | null = null;
  #epicId: string | null = null;
  #loop: FoundLoop | null = null;
  #wanted: WatchStop | null = null;
  #stop: WatchStop | null = null;
  #offTimer: () => void = () => undefined;
  #isAtWork = false;
  #workSinceMs: number | null = null;
  #questions = 0;
  #loopQuestions = 0;
  #looking: Promise<void> | null = null;
  #isDirty = false;

  constructor(engine: Engine, claim: Claim, part: string, ask: AskPerson) {
    this.#engine = engine;
    this.#claim = claim;
    this.#part = part;
    this.#ask = ask;
    this.#loops = new LoopDetector(engine.settings().budget.loopRepeats);
  }

  /**
   * Reads the stored usage. If a budget is already used up, `stop` is set and no agent may start.
   */
  async begin(): Promise<void> {
    const { db } = this.#engine.store;
    const { taskId, attempt } = this.#claim;
    const [task, stored] = await Promise.all([
      taskById(db, taskId),
      spentByPart(db, { taskId, attempt, part: this.#part }),
    ]);
    this.#epicId = task?.epic_id ?? null;
    this.#counter = new SpendingCounter(stored);
    await this.#look();
  }

  get stop(): WatchStop | null {
    return this.#stop;
  }

  /** For one run of the agent. Aborted when the agent must stop. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Starts or stops counting the agent's working time. */
  setAtWork(isAtWork: boolean): void {
    this.#offTimer();
    this.#takeWorked();
    this.#isAtWork = isAtWork;
    this.#workSinceMs = this.#sinceNow();
    if (!isAtWork) return;
    const tick = (): void => {
      this.#takeWorked();
      this.#lookSoon();
      this.#offTimer = this.#engine.clock.timer(lookEveryMs, tick);
    };
    this.#offTimer = this.#engine.clock.timer(this.#firstLookMs(), tick);
  }

  /** Time in which the agent waits for a person's answer does not count as working time. */
  setAsking(isAsking: boolean): void {
    this.#takeWorked();
    this.#questions += isAsking ? 1 : -1;
    this.#workSinceMs = this.#sinceNow();
  }

  onEvent(event: AgentEvent): void {
    switch (event.type) {
      case 'started':
        if (event.model !== undefined) this.#counter?.model(event.model);
        return;
      case 'tool_call':
        this.#openTools.add(event.id);
        this.#counter?.turn();
        this.#seeLoop(this.#loops.take(event.name, event.input));
        return;
      case 'tool_result':
        this.#openTools.delete(event.id);
        this.#takeWorked();
        this.#stopIfWanted();
        return this.#lookSoon();
      case 'usage':
        return this.onUsage(event.usage, false);
      default:
        return;
    }
  }

  /** `isBase`: the usage is the known total from which the agent starts. */
  onUsage(usage: Usage, isBase: boolean): void {
    if (isBase) {
      this.#counter?.goesOnFrom(usage);
      return;
    }
    this.#counter?.usage(usage);
    this.#lookSoon();
  }

  /** After the agent was stopped: whether a person wants it to continue. */
  async mayGoOn(): Promise<boolean> {
    const found = this.#loop;
    if (this.#stop?.scope !== 'loop' || found === null) return false;
    const answer = await this.#askAboutLoop(found);
    if (answer === null || answer === stopChoice) return false;
    this.#loops.allow();
    this.#loop = null;
    this.#stop = null;
    this.#wanted = null;
    this.#openTools.clear();
    this.#controller = new AbortController();
    return true;
  }

  /**
   * Called after the part's agent has ended. Stores the remaining usage and asks no more questions.
   */
  async end(): Promise<WatchStop | null> {
    this.setAtWork(false);
    for (const off of this.#offs) off();
    this.#over.abort();
    await this.#looking;
    if (this.#counter?.hasUnstored === true)
      await this.#engine.store.transaction((tx) => this.#store(tx));
    return this.#stop;
  }

  #seeLoop(found: FoundLoop | null): void {
    if (found === null || this.#loop !== null) return;
    this.#loop = found;
    const canPause = this.#engine.driverFor(this.#claim.agent, this.#claim.model).capabilities
      .resume;
    if (canPause) return this.#want({ scope: 'loop', sentence: this.#loopSentence(found) });
    // This agent cannot be restarted in place, so it keeps running until a person answers.
    this.#askAboutLoop(found)
      .then((answer) => {
        this.#loops.allow();
        this.#loop = null;
        if (answer === stopChoice)
          this.#want({ scope: 'loop', sentence: this.#loopSentence(found) });
      })
      .catch((error: unknown) => this.#engine.report(error, 'asking about a loop'));
  }

  #loopSentence(found: FoundLoop): string {
    return loopStopSentence(found, this.#claim.taskId);
  }

  async #askAboutLoop(found: FoundLoop): Promise<string | null> {
    this.#loopQuestions += 1;
    const requestId = `loop/${this.#engine.launchedAtMs}/${this.#loopQuestions}`;
    return this.#ask(questionOf(requestId, loopQuestion(found, this.#part)), this.#over.signal);
  }

  /** Stops the agent as soon as no tool runs, or after a short time if a tool does not end. */
  #want(stop: WatchStop): void {
    if (this.#stop !== null || this.#wanted !== null) return;
    this.#wanted = stop;
    if (this.#openTools.size === 0) return this.#stopIfWanted();
    const off = this.#engine.clock.timer(toolGraceMs, () => {
      this.#openTools.clear();
      this.#stopIfWanted();
    });
    this.#offs.push(off);
  }

  #stopIfWanted(): void {
    if (this.#wanted === null || this.#stop !== null || this.#openTools.size > 0) return;
    this.#stop = this.#wanted;
    this.#controller.abort(new Error(this.#stop.sentence));
  }

  #sinceNow(): number | null {
    return this.#isAtWork && this.#questions === 0 ? this.#awakeMs() : null;
  }

  #awakeMs(): number {
    const { clock } = this.#engine;
    return clock.awakeMs?.() ?? clock.now();
  }

  #takeWorked(): void {
    if (this.#workSinceMs === null) return;
    const nowMs = this.#awakeMs();
    this.#counter?.worked(nowMs - this.#workSinceMs);
    this.#workSinceMs = nowMs;
  }

  /**
   * The first check comes early enough that a short time limit is not exceeded by a whole interval.
   */
  #firstLookMs(): number {
    const { task, epic, day } = this.#engine.settings().budget;
    const limits = [task, epic, day].flatMap(({ workedMs }) =>
      workedMs === null ? [] : [workedMs],
    );
    return Math.max(50, Math.min(lookEveryMs, ...limits));
  }

  /** Runs one check at a time. Requests that arrive during a check cause one more. */
  #lookSoon(): void {
    if (this.#over.signal.aborted) return;
    this.#isDirty = true;
    if (this.#looking !== null) return;
    this.#looking = this.#lookWhileDirty()
      .catch((error: unknown) => this.#engine.report(error, 'counting what an agent uses'))
      .finally(() => {
        this.#looking = null;
      });
  }

  async #lookWhileDirty(): Promise<void> {
    while (this.#isDirty) {
      this.#isDirty = false;
      await this.#look();
    }
  }

  async #look(): Promise<void> {
    const places = this.#limitedPlaces();
    if (places.length === 0 && this.#counter?.hasUnstored !== true) return;
    const words = await this.#engine.store.transaction(async (tx) => {
      await this.#store(tx);
      const found = [];
      for (const place of places) {
        found.push(await budgetWord(this.#engine, tx, place, this.#claim.attempt));
      }
      return found;
    });
    for (const word of words) {
      if (word.kind === 'stop') this.#want(word);
      if (word.kind === 'ask') this.#askSoftly(word.requestId, word.text);
    }
  }

  /** The budgets to which the agent's usage counts. */
  #limitedPlaces(): readonly BudgetPlace[] {
    const epicId = this.#epicId;
    const places: readonly BudgetPlace[] = [
      { scope: 'task', name: this.#claim.taskId },
      ...(epicId === null ? [] : [{ scope: 'epic', name: epicId } as const]),
      { scope: 'day', name: budgetDay(this.#engine.clock.now()) },
    ];
    const { budget } = this.#engine.settings();
    return places.filter(({ scope }) => hasLimit(budget[scope]));
  }

  async #store(tx: Tx): Promise<void> {
    if (this.#counter?.hasUnstored !== true) return;
    const spent = this.#counter.takeUnstored();
    const { taskId, attempt } = this.#claim;
    const day = budgetDay(this.#engine.clock.now());
    await addSpending(tx, { taskId, attempt, part: this.#part, day }, spent);
  }

  /**
   * Asks a person while the agent keeps running. The answer is stored, and the next check reads it.
   */
  #askSoftly(requestId: string, text: string): void {
    if (this.#asked.has(requestId)) return;
    this.#asked.add(requestId);
    this.#ask(questionOf(requestId, text), this.#over.signal)
      .then(() => this.#lookSoon())
      .catch((error: unknown) => this.#engine.report(error, 'asking about a budget'));
  }
}

function questionOf(requestId: string, text: string): Extract<AgentEvent, { type: 'question' }> {
  return {
    type: 'question',
    requestId,
    kind: 'question',
    text,
    choices: [continueChoice, stopChoice],
  };
}
