// One process of Claude Code from its first line to its last: messages in, events out, and the
// reasons to end it.

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Usage } from '../../protocol/agent-events.ts';
import { maskDeep } from '../kit/log/masking.ts';
import type { SilenceWatch } from '../kit/process/silence.ts';
import type { ProgramEnd } from '../kit/process/supervise.ts';
import type { AgentRun } from '../kit/run/agent-run.ts';
import { AnswerWait } from '../kit/run/answer-wait.ts';
import type { JsonInput } from '../kit/run/json-input.ts';
import type { ProgramFollower } from '../kit/run/run-program.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { watchStall } from '../kit/run/stall-watch.ts';
import { withLine } from '../kit/wire/text-tail.ts';
import type { AgentOutcome } from '../port.ts';
import { claudeOutcome, endByRetry, type ClaudeEnd } from './outcome.ts';
import {
  permissionResponse,
  planningResponse,
  parseQuestions,
  readingResponse,
  type PermissionRequest,
} from './permissions.ts';
import { Translator, type ClaudeFacts, type Notice } from './translate.ts';
import { addUsage } from '../kit/wire/usage.ts';
import { controlError, controlSuccess, interrupt, userMessage } from './wire.ts';
import { parseLine } from '../kit/wire/json-line.ts';

/**
 * `finished`: the last result has arrived and nothing is queued. The others are reasons of our own.
 */
export type OwnEnd = 'finished' | Extract<ClaudeEnd, 'stalled' | 'auth' | 'limited'>;

export interface SessionOptions {
  readonly run: AgentRun;
  readonly input: JsonInput;
  readonly resumed: boolean;
  readonly usageBefore: Usage;
  /** Messages that an earlier process of this run has already taken. */
  readonly deliveredBefore: ReadonlySet<string>;
}

/** How long the end waits for questions to be withdrawn. */
const answersMs = 2_000;
const stderrCharsMax = 8_000;
const exitMs = { finished: 10_000, stalled: 5_000, others: 3_000 };

export class ClaudeSession implements ProgramFollower<OwnEnd> {
  readonly facts: ClaudeFacts;
  readonly ownEnd: Promise<OwnEnd>;
  /** It exited with an error before it reported any work. */
  hasEndedAtOnce = false;
  readonly #options: SessionOptions;
  readonly #run: AgentRun;
  readonly #translator: Translator;
  readonly #end = Promise.withResolvers<OwnEnd>();
  readonly #over = new AbortController();
  readonly #openQuestions = new Map<string, AbortController>();
  readonly #answers: Promise<void>[] = [];
  readonly #wait: AnswerWait;
  readonly #hints: HintQueue;
  readonly #silence: SilenceWatch;
  #limitUntilMs: number | null = null;
  #stderrTail = '';
  #isQuiet = false;

  constructor(options: SessionOptions) {
    const { run, resumed, usageBefore } = options;
    const { cwd, sessionId } = run.request;
    this.#options = options;
    this.#run = run;
    this.#wait = new AnswerWait(run.deps.awake);
    this.#translator = new Translator({ cwd, sessionId, resumed, usageBefore });
    this.facts = this.#translator.facts;
    this.ownEnd = this.#end.promise;
    this.#hints = new HintQueue(options);
    this.#silence = watchStall(run, {
      note: (seconds) => `The model's provider has sent no response for ${seconds} s.`,
      onEnd: () => this.#end.resolve('stalled'),
    });
  }

  /** Sends the prompt and starts to listen for hints. */
  begin(): void {
    this.facts.isTurnOpen = true;
    const { request, host } = this.#run;
    host.onUsageSoFar?.(this.facts.usage, true);
    const { resumed, input } = this.#options;
    const prompt = resumed ? request.prompt : (request.promptIfForgotten ?? request.prompt);
    input.write(userMessage(randomUUID(), prompt));
    this.#hints.listen();
  }

  takeLine(stream: OutputStream, line: string): void {
    const { record } = this.#run;
    const parsed = stream === 'stdout' ? parseLine(line) : null;
    if (parsed === null) {
      if (stream === 'stderr') {
        this.#stderrTail = withLine(this.#stderrTail, record.mask(line), stderrCharsMax);
      }
      record.emit({ type: 'output', stream, text: line });
      return;
    }
    for (const notice of this.#translator.take(parsed)) this.#react(notice);
    this.#updateSilence();
  }

  waitedMs(): number {
    return this.#wait.waitedMs;
  }

  /** Asks Claude Code to exit. Returns how long that may take. */
  askToEnd(why: string): number {
    this.#hints.stop();
    this.#silence.stop();
    const { input } = this.#options;
    const hasTurn = why !== 'finished' || this.#hints.hasQueued;
    if (hasTurn) input.write(interrupt(randomUUID()));
    input.close();
    if (why === 'finished') return exitMs.finished;
    return why === 'stalled' ? exitMs.stalled : exitMs.others;
  }

  stop(): void {
    this.#hints.stop();
    this.#silence.stop();
    this.#over.abort();
  }

  /** Withdraws open questions, and counts usage that came without a result. */
  async finish(): Promise<void> {
    await Promise.race([Promise.all(this.#answers), delay(answersMs, undefined, { ref: false })]);
    if (this.facts.unaccounted.size === 0) return;
    this.#run.record.emit({ type: 'usage', usage: this.#usageSoFar() });
  }

  outcome({ why, exit }: ProgramEnd<OwnEnd>): AgentOutcome {
    const { facts } = this;
    const { timeoutMs, planning = false } = this.#run.request;
    const isOwnDoing = why === 'exited' || why === 'finished';
    this.hasEndedAtOnce = isOwnDoing && !facts.hasStarted && !facts.hasMessages && exit.code === 1;
    return claudeOutcome(facts, {
      why: why === 'finished' ? 'exited' : why,
      exit,
      stderrTail: this.#stderrTail,
      timeoutMs,
      silentMs: this.#silence.silentMs,
      limitUntilMs: this.#limitUntilMs,
      planning,
    });
  }

  #usageSoFar(): Usage {
    return [...this.facts.unaccounted.values()].reduce(addUsage, this.facts.usage);
  }

  /**
   * Reports the usage so far, because a turn can take hours. It is known from the messages, without
   * their cost.
   */
  #tellUsage(): void {
    this.#run.host.onUsageSoFar?.(this.#usageSoFar(), false);
  }

  #react(notice: Notice): void {
    switch (notice.kind) {
      case 'event':
        this.#run.record.emit(notice.event);
        if (notice.event.type === 'tool_result') this.#tellUsage();
        return;
      case 'permission':
        this.#answers.push(this.#answer(notice.request, notice.plan));
        return;
      case 'permission_withdrawn':
        this.#openQuestions.get(notice.requestId)?.abort();
        return;
      case 'unknown_request':
        this.#options.input.write(controlError(notice.requestId, 'not supported by this client'));
        return;
      case 'message_state':
        this.#hints.onState(notice.uuid, notice.state);
        this.#finishIfIdle();
        return;
      case 'retry':
        this.#onRetry(notice.status, notice.delayMs, notice.error);
        return;
      case 'result':
        this.#finishIfIdle();
        return;
    }
  }

  #finishIfIdle(): void {
    const { result, isTurnOpen } = this.facts;
    if (result === null || isTurnOpen) return;
    if (result['is_error'] === true || !this.#hints.hasQueued) this.#end.resolve('finished');
  }

  #onRetry(status: number | null, delayMs: number, error: string): void {
    const end = endByRetry(status, delayMs, error);
    if (end === null) return;
    if (end === 'limited') this.#limitUntilMs = Date.now() + delayMs;
    this.#end.resolve(end);
  }

  async #answer(permission: PermissionRequest, plan: string | null): Promise<void> {
    const { requestId } = permission;
    const { input } = this.#options;
    const { request, signal: stopSignal } = this.#run;
    const known =
      readingResponse(permission, request.readableFiles ?? []) ??
      (request.planning === true ? planningResponse(permission) : null);
    if (known !== null) {
      input.write(controlSuccess(requestId, known));
      return;
    }
    const withdrawn = new AbortController();
    this.#openQuestions.set(requestId, withdrawn);
    // Aborted when the run is stopped, after which no question is answered.
    const signal = AbortSignal.any([withdrawn.signal, this.#over.signal, stopSignal]);
    this.#wait.begin();
    const answers = await askAll(permission, plan, this.#run, signal);
    this.#openQuestions.delete(requestId);
    this.#updateSilence();
    this.#wait.end();
    if (signal.aborted) return;
    input.write(controlSuccess(requestId, permissionResponse(permission, answers)));
  }

  /** While a tool runs or a person is asked, the provider is not responsible for the silence. */
  #updateSilence(): void {
    this.#silence.touch();
    const shouldBeQuiet = this.facts.openTools.size > 0 || this.#openQuestions.size > 0;
    if (shouldBeQuiet === this.#isQuiet) return;
    this.#isQuiet = shouldBeQuiet;
    if (shouldBeQuiet) this.#silence.pause();
    else this.#silence.resume();
  }
}

/** Asks the questions of one request one after another. Stops at the first missing answer. */
async function askAll(
  permission: PermissionRequest,
  plan: string | null,
  { record, host }: AgentRun,
  signal: AbortSignal,
): Promise<(string | null)[]> {
  const answers: (string | null)[] = [];
  for (const question of parseQuestions(permission, plan)) {
    const shown = maskDeep(question, record.mask);
    const { requestId } = question;
    record.emit(shown);
    const choice = await host.ask(shown, signal);
    if (choice === null) {
      record.emit({ type: 'question_withdrawn', requestId });
      return [...answers, null];
    }
    record.emit({ type: 'answered', requestId, choice });
    // The label may have been masked for the user. Claude Code expects the original.
    const chosen = shown.choices.indexOf(choice);
    answers.push(question.choices[chosen] ?? choice);
  }
  return answers;
}

/** Hints that were sent to the running turn. A hint is delivered when a turn has taken it. */
class HintQueue {
  readonly #options: SessionOptions;
  readonly #waiting = new Map<string, { readonly id: string; readonly text: string }>();
  #unsubscribe: (() => void) | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  /** Whether a hint was sent that no turn has taken yet. */
  get hasQueued(): boolean {
    return this.#waiting.size > 0;
  }

  listen(): void {
    const { run, input, deliveredBefore } = this.#options;
    this.#unsubscribe = run.host.onHint(({ id, text }) => {
      const uuid = deriveUuid(`hint ${id}`);
      if (this.#waiting.has(uuid)) return;
      if (deliveredBefore.has(uuid)) {
        this.#tellDelivered(id, text);
        return;
      }
      this.#waiting.set(uuid, { id, text });
      run.record.emit({ type: 'hint', id, text, state: 'sent' });
      input.write(userMessage(uuid, text));
    });
  }

  onState(uuid: string, state: string): void {
    const hint = this.#waiting.get(uuid);
    if (hint === undefined) return;
    if (state === 'started' || state === 'completed') {
      this.#waiting.delete(uuid);
      this.#tellDelivered(hint.id, hint.text);
    } else if (state === 'cancelled') {
      this.#waiting.delete(uuid);
      this.#options.run.record.emit({ type: 'hint', ...hint, state: 'dropped' });
    }
  }

  stop(): void {
    this.#unsubscribe?.();
  }

  #tellDelivered(id: string, text: string): void {
    const { record, host } = this.#options.run;
    record.emit({ type: 'hint', id, text, state: 'delivered' });
    void host.hintDelivered(id);
  }
}

/**
 * The same name gives the same uuid in every process, so that a message can be recognized after a
 * crash.
 */
export function deriveUuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 0x3) | 0x8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
}
