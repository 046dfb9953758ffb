// One conversation over the Agent Client Protocol, from the greeting to the end of the turn: our
// side is offered neither files nor terminals (the agent works in a worktree of its own), only
// answers to what it asks a person.

import {
  client,
  methods,
  PROTOCOL_VERSION,
  RequestError,
  type AnyMessage,
  type ClientConnection,
  type InitializeResponse,
  type LoadSessionResponse,
  type McpServerStdio,
  type PermissionOption,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import { setTimeout as delay } from 'node:timers/promises';
import type { AgentHost, AgentRequest, AgentSettings } from '../port.ts';
import { maskDeep } from '../kit/log/masking.ts';
import type { RunRecord } from '../kit/log/run-record.ts';
import { watchSilence, type SilenceWatch } from '../kit/process/silence.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { keepSession, readKeptSession } from '../kit/run/kept-session.ts';
import type { AcpError, AcpFacts } from './outcome.ts';
import { acpPrograms, type AcpKind, planningMode } from './programs.ts';
import { UpdateTranslator, usageOf } from './updates.ts';

export interface AcpSessionOptions {
  readonly kind: AcpKind;
  readonly settings: AgentSettings;
  readonly request: AgentRequest;
  readonly host: AgentHost;
  readonly record: RunRecord;
  readonly version: string;
  readonly write: (message: AnyMessage) => void;
  readonly closeInput: () => void;
  readonly stopSignal: AbortSignal;
}

interface OpenedSession {
  readonly id: string;
  readonly isLoaded: boolean;
  /** Modes that it offers. */
  readonly modes: readonly string[];
}

const stderrCharsMax = 8_000;
/** How long the agent may take to end after its last answer, and after a cancel. */
const exitMs = { finished: 5_000, others: 3_000 };
/**
 * Some do not end by themselves while the server of our tools runs: they are asked by a signal, and
 * soon.
 */
const exitWithToolsMs = 1_500;
const answersMs = 2_000;

export class AcpSession {
  readonly ownEnd: Promise<'finished' | 'stalled'>;
  silentMs = 0;
  stderrTail = '';
  readonly #options: AcpSessionOptions;
  readonly #updates = new UpdateTranslator();
  readonly #end: (why: 'finished' | 'stalled') => void;
  readonly #over = new AbortController();
  readonly #denied = new Set<string>();
  readonly #silence: SilenceWatch;
  #incoming: ReadableStreamDefaultController<AnyMessage> | null = null;
  #connection: ClientConnection | null = null;
  #sessionId: string | null = null;
  #stopReason: string | null = null;
  #error: AcpError | null = null;
  #costUsd: number | null = null;
  readonly #asked = new Map<string, number>();
  #isReplaying = false;
  #openQuestions = 0;
  #waitedMs = 0;
  #waitsSince: number | null = null;

  constructor(options: AcpSessionOptions) {
    this.#options = options;
    const ends = Promise.withResolvers<'finished' | 'stalled'>();
    this.ownEnd = ends.promise;
    this.#end = ends.resolve;
    const { request, record } = options;
    this.#silence = watchSilence({
      warnMs: request.stallWarnMs,
      endMs: request.stallEndMs,
      onWarn: (ms) =>
        record.emit({
          type: 'note',
          level: 'warning',
          text: `The agent has sent no output for ${Math.round(ms / 1000)} s.`,
        }),
      onEnd: (ms) => {
        this.silentMs = ms;
        this.#end('stalled');
      },
    });
  }

  get facts(): AcpFacts {
    return {
      stopReason: this.#stopReason,
      error: this.#error,
      summary:
        this.#options.request.planning === true ? this.#updates.message : this.#updates.summary,
      deniedTools: [...this.#denied],
    };
  }

  /** Greets, begins or loads the session, and gives the prompt. */
  begin(): void {
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => {
        this.#incoming = controller;
      },
    });
    const writable = new WritableStream<AnyMessage>({
      write: (message) => this.#options.write(message),
    });
    this.#connection = client({ name: 'drover' })
      .onRequest(methods.client.session.requestPermission, ({ params, signal }) =>
        this.#answer(params, signal),
      )
      .onNotification(methods.client.session.update, ({ params }) => {
        if (this.#isReplaying) return;
        if (params.update.sessionUpdate === 'usage_update') {
          this.#costUsd = params.update.cost?.amount ?? this.#costUsd;
        }
        this.#emit(this.#updates.take(params.update));
      })
      .connect({ readable, writable });
    this.#converse(this.#connection).then(
      () => this.#end('finished'),
      (error: unknown) => {
        this.#error ??= errorOf(error);
        this.#end('finished');
      },
    );
  }

  takeLine(stream: OutputStream, line: string): void {
    const { record } = this.#options;
    this.#silence.touch();
    const message = stream === 'stdout' ? parseMessage(line) : null;
    if (message !== null) {
      this.#incoming?.enqueue(message);
      return;
    }
    if (stream === 'stderr') {
      this.stderrTail = `${this.stderrTail}${record.mask(line)}\n`.slice(-stderrCharsMax);
    }
    record.emit({ type: 'output', stream, text: line });
  }

  /** How long at least one question to a person was open. */
  waitedMs(): number {
    return this.#waitedMs + (this.#waitsSince === null ? 0 : Date.now() - this.#waitsSince);
  }

  /** Asks the agent to end; returns how long that may take. */
  askToEnd(why: string): number {
    this.#silence.stop();
    this.#over.abort();
    const id = this.#sessionId;
    if (why !== 'finished' && id !== null && this.#stopReason === null) {
      this.#connection?.agent
        .notify(methods.agent.session.cancel, { sessionId: id })
        .catch(() => {})
        .finally(() => this.#options.closeInput());
    } else {
      this.#options.closeInput();
    }
    if (why !== 'finished') return exitMs.others;
    return this.#options.request.tools === undefined ? exitMs.finished : exitWithToolsMs;
  }

  /** The process has ended: nothing more will come. */
  async finish(): Promise<void> {
    this.#silence.stop();
    this.#over.abort();
    this.#emit(this.#updates.flush());
    this.#connection?.close();
    const answered = this.#openQuestions === 0 ? null : delay(answersMs, undefined, { ref: false });
    while (this.#openQuestions > 0 && answered !== null) {
      if ((await Promise.race([answered.then(() => 'late'), delay(5)])) === 'late') return;
    }
  }

  async #converse({ agent }: ClientConnection): Promise<void> {
    const { request, record, kind, settings, version } = this.#options;
    const greeting = await agent.request(methods.agent.initialize, {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'drover', version },
    });
    const { id, isLoaded, modes } = await this.#openSession(agent, greeting);
    const prompt = isLoaded ? request.prompt : (request.promptIfForgotten ?? request.prompt);
    this.#sessionId = id;
    record.emit({
      type: 'started',
      agent: kind,
      sessionId: id,
      resumed: isLoaded,
    });
    // A session that is loaded keeps the mode it has; that it only reads is made sure.
    const offered = !isLoaded && modes.some((mode) => mode === acpPrograms[kind].mode);
    const usual = settings.permissionMode ?? (offered ? acpPrograms[kind].mode : null);
    const modeId = request.planning === true ? planningMode(modes) : usual;
    if (modeId !== null)
      await agent.request(methods.agent.session.setMode, { sessionId: id, modeId });
    const response = await agent.request(methods.agent.session.prompt, {
      sessionId: id,
      prompt: [{ type: 'text', text: prompt }],
    });
    this.#emit(this.#updates.flush());
    this.#stopReason = response.stopReason;
    const told = 'usage' in response ? response.usage : response._meta?.['usage'];
    const usage = usageOf(told ?? response._meta, this.#costUsd);
    if (usage !== null) record.emit({ type: 'usage', usage });
  }

  async #openSession(
    agent: ClientConnection['agent'],
    greeting: InitializeResponse,
  ): Promise<OpenedSession> {
    const { request, record } = this.#options;
    const kept = request.resume ? readKeptSession('acp', request) : null;
    const loaded = kept === null ? null : await this.#loadSession(agent, greeting, kept);
    if (kept !== null && loaded !== null) return { id: kept, isLoaded: true, modes: loaded };
    const { sessionId, modes } = await agent.request(methods.agent.session.new, {
      cwd: request.cwd,
      mcpServers: this.#servers(),
    });
    if (request.resume) {
      const text = 'The conversation could not be loaded. A new one starts with the whole task.';
      record.emit({ type: 'note', level: 'warning', text });
    }
    keepSession('acp', request, sessionId);
    return { id: sessionId, isLoaded: false, modes: idsOf(modes) };
  }

  /**
   * The modes it offers. Null: the agent has no such session any more, or has never learned to load
   * one.
   */
  async #loadSession(
    agent: ClientConnection['agent'],
    greeting: InitializeResponse,
    sessionId: string,
  ): Promise<readonly string[] | null> {
    const { request } = this.#options;
    const { loadSession, sessionCapabilities } = greeting.agentCapabilities ?? {};
    const canResume =
      sessionCapabilities?.resume !== undefined && sessionCapabilities.resume !== null;
    if (!canResume && loadSession !== true) return null;
    const place = { sessionId, cwd: request.cwd, mcpServers: this.#servers() };
    this.#isReplaying = true;
    try {
      const { resume, load } = methods.agent.session;
      const loaded = await agent.request<LoadSessionResponse | null>(
        canResume ? resume : load,
        place,
      );
      return idsOf(loaded?.modes);
    } catch (error) {
      if (error instanceof RequestError) return null;
      throw error;
    } finally {
      this.#isReplaying = false;
    }
  }

  /**
   * A call that is asked for twice is two questions: the answer to the first one is none to the
   * second.
   */
  #requestIdOf(toolCallId: string): string {
    const times = (this.#asked.get(toolCallId) ?? 0) + 1;
    this.#asked.set(toolCallId, times);
    return times === 1 ? toolCallId : `${toolCallId} (${times})`;
  }

  /** Drover's own tools, as the protocol hands them over: the agent starts the server itself. */
  #servers(): McpServerStdio[] {
    const { tools } = this.#options.request;
    if (tools === undefined || acpPrograms[this.#options.kind].toolArguments !== null) return [];
    const env = Object.entries(tools.env).map(([name, value]) => ({ name, value }));
    return [{ name: 'drover', command: tools.command, args: [...tools.args], env }];
  }

  async #answer(
    asked: RequestPermissionRequest,
    withdrawn: AbortSignal,
  ): Promise<RequestPermissionResponse> {
    const { record, host, stopSignal } = this.#options;
    this.#emit([...this.#updates.flush(), ...this.#updates.takeTool(asked.toolCall)]);
    if (this.#options.request.planning === true && writes(asked)) {
      const option = rejecting(asked.options);
      if (option === undefined) return { outcome: { outcome: 'cancelled' } };
      return { outcome: { outcome: 'selected', optionId: option.optionId } };
    }
    const requestId = this.#requestIdOf(asked.toolCall.toolCallId);
    const question = maskDeep(
      {
        type: 'question' as const,
        requestId,
        kind: 'permission' as const,
        text: questionText(asked),
        choices: asked.options.map((option) => option.name),
      },
      record.mask,
    );
    record.emit(question);
    this.#begins();
    const signal = AbortSignal.any([withdrawn, this.#over.signal, stopSignal]);
    const choice = await host.ask(question, signal).finally(() => this.#ends());
    if (choice === null || signal.aborted) {
      record.emit({ type: 'question_withdrawn', requestId });
      return { outcome: { outcome: 'cancelled' } };
    }
    record.emit({ type: 'answered', requestId, choice });
    const option = asked.options[question.choices.indexOf(choice)] ?? rejecting(asked.options);
    if (option === undefined) return { outcome: { outcome: 'cancelled' } };
    if (option.kind.startsWith('reject')) this.#denied.add(asked.toolCall.title ?? 'a tool');
    return { outcome: { outcome: 'selected', optionId: option.optionId } };
  }

  /**
   * While a person is asked, silence is not the agent's, and the time of the attempt stands still.
   */
  #begins(): void {
    this.#openQuestions += 1;
    this.#waitsSince ??= Date.now();
    this.#silence.pause();
  }

  #ends(): void {
    this.#openQuestions -= 1;
    this.#silence.resume();
    if (this.#openQuestions > 0) return;
    this.#waitedMs = this.waitedMs();
    this.#waitsSince = null;
  }

  #emit(events: ReturnType<UpdateTranslator['take']>): void {
    for (const event of events) this.#options.record.emit(event);
  }
}

function idsOf(modes: SessionModeState | null | undefined): readonly string[] {
  return modes?.availableModes.map((mode) => mode.id) ?? [];
}

/** Nobody has to be asked about these while it plans. */
function writes({ toolCall }: RequestPermissionRequest): boolean {
  return toolCall.kind === 'edit' || toolCall.kind === 'delete' || toolCall.kind === 'move';
}

function questionText({ toolCall }: RequestPermissionRequest): string {
  const title = toolCall.title ?? toolCall.kind ?? 'a tool';
  const input = toolCall.rawInput === undefined ? '' : `\n${JSON.stringify(toolCall.rawInput)}`;
  return `May the agent do this: ${title}${input.slice(0, 4_000)}`;
}

/** An answer that is none of the choices is no yes. */
function rejecting(options: readonly PermissionOption[]): PermissionOption | undefined {
  return options.find((option) => option.kind === 'reject_once');
}

function parseMessage(line: string): AnyMessage | null {
  if (!line.startsWith('{')) return null;
  try {
    const message: unknown = JSON.parse(line);
    const isMessage = typeof message === 'object' && message !== null && 'jsonrpc' in message;
    return isMessage ? (message as AnyMessage) : null;
  } catch {
    return null;
  }
}

function errorOf(error: unknown): AcpError | null {
  if (!(error instanceof RequestError)) return null;
  const data: unknown = error.data;
  const found =
    typeof data === 'object' && data !== null
      ? (data as Readonly<Record<string, unknown>>)
      : ({} as Readonly<Record<string, unknown>>);
  const status = found['status'] ?? found['statusCode'] ?? found['code'];
  const details = typeof found['details'] === 'string' ? `: ${found['details']}` : '';
  return {
    code: error.code,
    message: `${error.message}${details}`.slice(0, 500),
    status: typeof status === 'number' ? status : null,
  };
}
