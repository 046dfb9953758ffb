// One process of Claude Code from its first line to its last: messages in, events out, and the
// reasons to end it.

import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentRequest, AgentHost } from '../port.ts';
import type { Usage } from '../../protocol/agent-events.ts';
import { maskDeep } from '../kit/log/masking.ts';
import type { RunRecord } from '../kit/log/run-record.ts';
import { watchSilence, type SilenceWatch } from '../kit/process/silence.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { endByRetry, type ClaudeEnd } from './outcome.ts';
import {
  permissionResponse,
  planningResponse,
  questionsOf,
  type PermissionRequest,
} from './permissions.ts';
import { Translator, type ClaudeFacts, type Notice } from './translate.ts';
import { addUsage } from '../kit/wire/usage.ts';
import { controlError, controlSuccess, interrupt, userMessage } from './wire.ts';
import { parseLine, type Json } from '../kit/wire/json-line.ts';

/** `finished`: the last result is there and nothing is queued; the rest are ends of our own. */
export type OwnEnd = 'finished' | Extract<ClaudeEnd, 'stalled' | 'auth' | 'limited'>;

export interface SessionOptions {
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly record: RunRecord;
  readonly resumed: boolean;
  readonly usageBefore: Usage;
  readonly write: (message: Json) => void;
  readonly closeInput: () => void;
  /** Aborted when the run is stopped: then nothing is answered any more. */
  readonly stopSignal: AbortSignal;
  /** Messages that an earlier process of this run has taken already. */
  readonly deliveredBefore: ReadonlySet<string>;
}

/** How long the end waits for questions to be withdrawn. */
const answersMs = 2_000;
const stderrCharsMax = 8_000;
const exitMs = { finished: 10_000, stalled: 5_000, others: 3_000 };

export class ClaudeSession {
  readonly facts: ClaudeFacts;
  readonly ownEnd: Promise<OwnEnd>;
  silentMs = 0;
  limitUntilMs: number | null = null;
  stderrTail = '';
  readonly #options: SessionOptions;
  readonly #translator: Translator;
  readonly #end: (why: OwnEnd) => void;
  readonly #over = new AbortController();
  readonly #openQuestions = new Map<string, AbortController>();
  readonly #answers: Promise<void>[] = [];
  readonly #hints: HintQueue;
  readonly #silence: SilenceWatch;
  #isQuiet = false;
  #waitedMs = 0;
  #waitsSince: number | null = null;

  constructor(options: SessionOptions) {
    const { request } = options;
    this.#options = options;
    this.#translator = new Translator({
      cwd: request.cwd,
      sessionId: request.sessionId,
      resumed: options.resumed,
      usageBefore: options.usageBefore,
    });
    this.facts = this.#translator.facts;
    const ends = Promise.withResolvers<OwnEnd>();
    this.ownEnd = ends.promise;
    this.#end = ends.resolve;
    this.#hints = createHintQueue(options);
    this.#silence = watchStalls(options, (ms) => {
      this.silentMs = ms;
      this.#end('stalled');
    });
  }

  /** Sends the prompt and starts to listen for hints. */
  begin(): void {
    this.facts.isTurnOpen = true;
    const { request, resumed, host } = this.#options;
    host.onUsageSoFar?.(this.facts.usage, true);
    const prompt = resumed ? request.prompt : (request.promptIfForgotten ?? request.prompt);
    this.#options.write(userMessage(randomUUID(), prompt));
    this.#hints.listen();
  }

  takeLine(stream: OutputStream, line: string): void {
    const { record } = this.#options;
    const parsed = stream === 'stdout' ? parseLine(line) : null;
    if (parsed === null) {
      if (stream === 'stderr') {
        this.stderrTail = `${this.stderrTail}${record.mask(line)}\n`.slice(-stderrCharsMax);
      }
      record.emit({ type: 'output', stream, text: line });
      return;
    }
    for (const notice of this.#translator.take(parsed)) this.#react(notice);
    this.#updateSilence();
  }

  /** How long at least one question to a person was open. */
  waitedMs(): number {
    return this.#waitedMs + (this.#waitsSince === null ? 0 : Date.now() - this.#waitsSince);
  }

  /** Asks Claude Code to end; returns how long that may take. */
  askToEnd(why: string): number {
    this.#hints.stop();
    this.#silence.stop();
    const hasTurn = why !== 'finished' || this.#hints.hasQueued();
    if (hasTurn) this.#options.write(interrupt(randomUUID()));
    this.#options.closeInput();
    if (why === 'finished') return exitMs.finished;
    return why === 'stalled' ? exitMs.stalled : exitMs.others;
  }

  /**
   * A turn can take hours: what it has used so far is known from its messages, without their cost.
   */
  #tellUsage(): void {
    const usage = [...this.facts.unaccounted.values()].reduce(addUsage, this.facts.usage);
    this.#options.host.onUsageSoFar?.(usage, false);
  }

  /**
   * The process has ended: open questions are withdrawn, and what was used without a result is
   * counted.
   */
  async finish(): Promise<void> {
    this.#hints.stop();
    this.#silence.stop();
    this.#over.abort();
    await Promise.race([Promise.all(this.#answers), delay(answersMs, undefined, { ref: false })]);
    if (this.facts.unaccounted.size === 0) return;
    const usage = [...this.facts.unaccounted.values()].reduce(addUsage, this.facts.usage);
    this.#options.record.emit({ type: 'usage', usage });
  }

  #react(notice: Notice): void {
    switch (notice.kind) {
      case 'event':
        this.#options.record.emit(notice.event);
        if (notice.event.type === 'tool_result') this.#tellUsage();
        return;
      case 'permission':
        this.#answers.push(this.#answer(notice.request, notice.plan));
        return;
      case 'permission_withdrawn':
        this.#openQuestions.get(notice.requestId)?.abort();
        return;
      case 'unknown_request':
        this.#options.write(controlError(notice.requestId, 'not supported by this client'));
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
    if (result['is_error'] === true || !this.#hints.hasQueued()) this.#end('finished');
  }

  #onRetry(status: number | null, delayMs: number, error: string): void {
    const end = endByRetry(status, delayMs, error);
    if (end === null) return;
    if (end === 'limited') this.limitUntilMs = Date.now() + delayMs;
    this.#end(end);
  }

  async #answer(permission: PermissionRequest, plan: string | null): Promise<void> {
    const { requestId } = permission;
    const known = this.#options.request.planning === true ? planningResponse(permission) : null;
    if (known !== null) {
      this.#options.write(controlSuccess(requestId, known));
      return;
    }
    const withdrawn = new AbortController();
    this.#openQuestions.set(requestId, withdrawn);
    const { stopSignal } = this.#options;
    const signal = AbortSignal.any([withdrawn.signal, this.#over.signal, stopSignal]);
    this.#waitsSince ??= Date.now();
    const answers = await askAll(permission, plan, this.#options, signal);
    this.#openQuestions.delete(requestId);
    this.#updateSilence();
    if (this.#openQuestions.size === 0) {
      this.#waitedMs = this.waitedMs();
      this.#waitsSince = null;
    }
    if (signal.aborted) return;
    this.#options.write(controlSuccess(requestId, permissionResponse(permission, answers)));
  }

  /** While a tool runs or a person is asked, silence is not the provider's. */
  #updateSilence(): void {
    this.#silence.touch();
    const shouldBeQuiet = this.facts.openTools.size > 0 || this.#openQuestions.size > 0;
    if (shouldBeQuiet === this.#isQuiet) return;
    this.#isQuiet = shouldBeQuiet;
    if (shouldBeQuiet) this.#silence.pause();
    else this.#silence.resume();
  }
}

function watchStalls(options: SessionOptions, onEnd: (silentMs: number) => void): SilenceWatch {
  return watchSilence({
    warnMs: options.request.stallWarnMs,
    endMs: options.request.stallEndMs,
    onWarn: (ms) =>
      options.record.emit({
        type: 'note',
        level: 'warning',
        text: `The model's provider has sent no response for ${Math.round(ms / 1000)} s.`,
      }),
    onEnd,
  });
}

/** Asks the questions of one request one after the other; a missing answer ends it. */
async function askAll(
  permission: PermissionRequest,
  plan: string | null,
  options: SessionOptions,
  signal: AbortSignal,
): Promise<(string | null)[]> {
  const { record, host } = options;
  const answers: (string | null)[] = [];
  for (const question of questionsOf(permission, plan)) {
    const shown = maskDeep(question, record.mask);
    const { requestId } = question;
    record.emit(shown);
    const choice = await host.ask(shown, signal);
    if (choice === null) {
      record.emit({ type: 'question_withdrawn', requestId });
      return [...answers, null];
    }
    record.emit({ type: 'answered', requestId, choice });
    // A label may have been masked for the person; Claude Code knows it as it was.
    const chosen = shown.choices.indexOf(choice);
    answers.push(question.choices[chosen] ?? choice);
  }
  return answers;
}

interface HintQueue {
  listen(): void;
  onState(uuid: string, state: string): void;
  /** A hint was sent that no turn has taken yet. */
  hasQueued(): boolean;
  stop(): void;
}

function createHintQueue(options: SessionOptions): HintQueue {
  const { host, record } = options;
  const waiting = new Map<string, { readonly id: string; readonly text: string }>();
  let unsubscribe: (() => void) | null = null;
  const delivered = (id: string, text: string): void => {
    record.emit({ type: 'hint', id, text, state: 'delivered' });
    void host.hintDelivered(id);
  };
  return {
    listen: () => {
      unsubscribe = host.onHint(({ id, text }) => {
        const uuid = uuidFor(`hint ${id}`);
        if (waiting.has(uuid)) return;
        if (options.deliveredBefore.has(uuid)) {
          delivered(id, text);
          return;
        }
        waiting.set(uuid, { id, text });
        record.emit({ type: 'hint', id, text, state: 'sent' });
        options.write(userMessage(uuid, text));
      });
    },
    onState: (uuid, state) => {
      const hint = waiting.get(uuid);
      if (hint === undefined) return;
      if (state === 'started' || state === 'completed') {
        waiting.delete(uuid);
        delivered(hint.id, hint.text);
      } else if (state === 'cancelled') {
        waiting.delete(uuid);
        record.emit({ type: 'hint', ...hint, state: 'dropped' });
      }
    },
    hasQueued: () => waiting.size > 0,
    stop: () => unsubscribe?.(),
  };
}

/**
 * The same name gives the same uuid, in whatever process: so a message can be recognised after a
 * crash.
 */
export function uuidFor(name: string): string {
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
