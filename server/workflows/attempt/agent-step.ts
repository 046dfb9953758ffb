// Step "agent": one part (a sub-task, or the task itself) given to the agent, followed to its end, whatever died before.

import type { AgentHost, AgentOutcome, AgentProcess, AgentRequest } from '../../agents/port.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import {
  askQuestion,
  type AttemptRow,
  type Claim,
  endQuestion,
  lastAttempt,
  markHintDelivered,
  openHints,
  openQuestions,
  setAttempt,
  withdrawQuestions,
} from '../../store/port.ts';
import { BudgetWatch, type WatchStop } from './budget-watch.ts';
import { slowDown } from '../kit/holds.ts';
import { keepWork } from './kept-work.ts';
import type { Engine } from '../kit/parts.ts';
import { buildPartPrompt, hintsTold } from './prompt-step.ts';
import { agentRunId } from '../kit/run-ids.ts';
import { noteOf, whileKept } from './while-kept.ts';
import { type Place, taskVariables } from './worktree-step.ts';

export interface PartOutcome {
  readonly outcome: AgentOutcome;
  readonly usage: Usage | null;
  readonly logPath: string;
  /** The engine itself has stopped the agent: a budget is used up, or it went round in a circle. */
  readonly held?: WatchStop;
}

/** Silence before the watchdog says so, and before it ends the agent. */
const stallWarnMs = 120_000;
const stallEndMs = 300_000;

/** Time between the two signals and the kill when leftovers are ended. */
const endGraceMs = 2_000;

export async function runPart(
  engine: Engine,
  claim: Claim,
  place: Place,
  part: string,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const attempt = await lastAttempt(engine.store.db, claim.taskId);
  if (attempt === null) throw new Error(`attempt of ${claim.taskId} is missing`);
  const session = new PartSession(engine, claim, part, signal);
  const given = await requestFor(engine, claim, place, part, attempt);
  await session.withdrawOld();
  await session.watch.begin();
  const { taskId, attempt: number } = claim;
  const work = { taskId, attempt: number, path: place.path, base: place.base };
  const outcome = await whileKept(engine, work, () =>
    adoptOrRun(engine, claim, place, part, { attempt, session, given, signal }),
  );
  const stop = await session.watch.end();
  const ended = await session.end(outcome, given.request.logPath);
  // The end is told after it: whoever sees that the attempt is over finds all of its output.
  await engine.storeOutput(given.request.logPath);
  // Nothing of this attempt writes into the slot any more, when its work is kept, committed or handed on.
  const ran = await lastAttempt(engine.store.db, claim.taskId);
  if (ran !== null && ran.pid_start !== null) {
    await engine.processes.endOrphansIn(place.path, ran.pid_start);
  }
  const note = noteOf(outcome, stop !== null);
  if (note !== null && !signal.aborted) await keepWork(engine, work, note);
  if (stop === null || outcome.kind !== 'stopped' || signal.aborted) return ended;
  return { ...ended, held: stop };
}

interface PartRun {
  readonly attempt: AttemptRow;
  readonly session: PartSession;
  readonly given: GivenRequest;
  /** A person's stop, or the end of this process. */
  readonly signal: AbortSignal;
}

async function adoptOrRun(
  engine: Engine,
  claim: Claim,
  place: Place,
  part: string,
  run: PartRun,
): Promise<AgentOutcome> {
  const { attempt, session, given, signal } = run;
  const { request } = given;
  const driver = engine.driverFor(claim.agent, claim.model);
  const left = leftoverProcess(attempt, part);
  if (left !== null) {
    // On a worker nobody writes to an agent while it works, whatever its kind: so it can be followed.
    const canAdopt = driver.capabilities.adopt || request.runsOn === 'remote';
    const adopted = canAdopt
      ? await session.whileAtWork(signal, (either) => driver.adopt(request, left, session, either))
      : null;
    if (adopted !== null && !(await session.goesOn(adopted))) return adopted;
    await engine.processes.endTree(request.runId, left, endGraceMs);
    await keepAfterDeath(engine, claim, place);
    // An agent without a memory is told what it finds; the prompt so far was made for one that is alive.
    if (!request.resume && !signal.aborted && session.watch.stop === null) {
      const next = await requestFor(engine, claim, place, part, attempt);
      return runToItsEnd(engine, claim, place, { ...run, given: next });
    }
  } else if (isFromEarlierLife(engine, attempt)) {
    await engine.processes.endTree(request.runId, null, endGraceMs);
  }
  if (signal.aborted || session.watch.stop !== null) return { kind: 'stopped' };
  return runToItsEnd(engine, claim, place, run);
}

/** Kills from outside that one attempt survives: its agent goes on in its session, as after the death of a backend. */
const killsMax = 3;

async function runToItsEnd(
  engine: Engine,
  claim: Claim,
  place: Place,
  { session, given, signal }: PartRun,
): Promise<AgentOutcome> {
  const driver = engine.driverFor(claim.agent, claim.model);
  let { request, hints } = given;
  for (let kills = 0; ;) {
    await hintsTold(engine, hints);
    await engine.files.writeText(`${request.logPath}.prompt`, engine.mask(request.prompt));
    const outcome = await session.whileAtWork(signal, (either) =>
      driver.run(request, session, either),
    );
    const wasKilled = session.takeKill(outcome) && driver.capabilities.resume && kills < killsMax;
    if (wasKilled) kills += 1;
    const goesOn = wasKilled || (await session.goesOn(outcome));
    if (!goesOn || signal.aborted) return outcome;
    const attempt = await lastAttempt(engine.store.db, claim.taskId);
    if (attempt === null || attempt.number !== claim.attempt) return outcome;
    await session.withdrawOld();
    ({ request, hints } = await requestFor(engine, claim, place, request.taskId, attempt));
  }
}

/** A backend that was killed between the start of its agent and the note of it has left one that no row names. */
function isFromEarlierLife(engine: Engine, attempt: AttemptRow): boolean {
  return attempt.started_at_ms < engine.launchedAtMs;
}

function leftoverProcess(attempt: AttemptRow, part: string): AgentProcess | null {
  if (attempt.pid === null || attempt.pid_start === null || attempt.pid_part !== part) return null;
  return { pid: attempt.pid, startTime: attempt.pid_start };
}

/** The agent was killed, with the backend or by itself: what it had made stays in the slot, and becomes a snapshot. */
async function keepAfterDeath(engine: Engine, claim: Claim, place: Place): Promise<void> {
  const { taskId, attempt } = claim;
  const { path, base } = place;
  await keepWork(engine, { taskId, attempt, path, base }, { reason: 'death', author: 'agent' });
}

interface GivenRequest {
  readonly request: AgentRequest;
  /** Hints that its prompt tells; an agent that is adopted has not heard them. */
  readonly hints: readonly string[];
}

async function requestFor(
  engine: Engine,
  claim: Claim,
  place: Place,
  part: string,
  attempt: AttemptRow,
): Promise<GivenRequest> {
  const settings = engine.settings();
  const resume =
    engine.driverFor(claim.agent, claim.model).capabilities.resume && attempt.session_started === 1;
  const suffix = part === claim.taskId ? '' : `.${part.replace(/[^A-Za-z0-9._-]/g, '_')}`;
  const logPath = `${engine.places.logs}/${claim.taskId}/${claim.attempt}${suffix}.ndjson`;
  const { taskId, epoch, runId } = claim;
  const scope = { taskId, part, attempt: claim.attempt, epoch, runId };
  const mark = agentRunId(engine, claim.taskId, claim.attempt, part);
  const opened = await engine.agentTools.open(scope, logPath, mark);
  const hasTools = opened !== null && claim.agent !== 'command';
  const prompt = await buildPartPrompt(engine, claim, attempt, part, { resume, hasTools });
  const request = {
    runId: mark,
    taskId: part,
    attempt: claim.attempt,
    cwd: place.path,
    prompt: prompt.text,
    ...(claim.planning === true ? { planning: true } : {}),
    ...(prompt.ifForgotten === null ? {} : { promptIfForgotten: prompt.ifForgotten }),
    sessionId: attempt.session_id,
    resume,
    logPath,
    env: {
      ...engine.agentEnvironment(claim.agent, claim),
      ...taskVariables(engine, part, claim.attempt, place.slotNumber),
      ...(typeof claim.model === 'string' ? { DROVER_AGENT_MODEL: claim.model } : {}),
      ...(claim.planning === true ? { DROVER_PLANNING: '1' } : {}),
    },
    ...(opened === null ? {} : { tools: opened.tools }),
    secrets: [...engine.secrets(), ...(opened === null ? [] : [opened.token])],
    maxOutputBytes: settings.maxOutputBytes,
    timeoutMs: settings.taskTimeoutMs,
    runsOn: attempt.runs_on === 'remote' ? ('remote' as const) : ('local' as const),
    stallWarnMs,
    stallEndMs,
  };
  return { request, hints: prompt.hints };
}

/** What the running agent says to the engine, and hears from it. */
class PartSession implements AgentHost {
  readonly #engine: Engine;
  readonly #claim: Claim;
  readonly #part: string;
  readonly #signal: AbortSignal;
  readonly watch: BudgetWatch;
  #usage: Usage | null = null;
  #wasKilled = false;

  constructor(engine: Engine, claim: Claim, part: string, signal: AbortSignal) {
    this.#engine = engine;
    this.#claim = claim;
    this.#part = part;
    this.#signal = signal;
    this.watch = new BudgetWatch(engine, claim, part, (question, withdrawn) =>
      this.#askPerson(question, withdrawn),
    );
  }

  /** One run of the agent: it ends when a person, or what watches over its budget, wants it to. */
  async whileAtWork<T>(signal: AbortSignal, body: (either: AbortSignal) => Promise<T>): Promise<T> {
    this.watch.setAtWork(true);
    try {
      return await body(AbortSignal.any([signal, this.watch.signal]));
    } finally {
      this.watch.setAtWork(false);
    }
  }

  /** Whether a person wants an agent to go on that was stopped because it went round in a circle. */
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

  async onProcess(process: AgentProcess): Promise<void> {
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

  /** Whether this outcome is the work of a signal from outside; asked once for each run of the agent. */
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
    // Shells report a death by signal n as 128 + n.
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
    const row = await store.transaction((tx) =>
      askQuestion(tx, store.sources, {
        taskId: this.#part,
        attempt: this.#claim.attempt,
        requestId: question.requestId,
        kind: question.kind,
        text: mask(question.text),
        choices,
      }),
    );
    if (row.state === 'answered') return row.answer === null ? null : asOffered(row.answer);
    const over = AbortSignal.any([withdrawn, this.#signal]);
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
      await store.transaction((tx) =>
        endQuestion(tx, store.sources, row.id, { state: 'withdrawn', answer: null }),
      );
    }
    return answer;
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
