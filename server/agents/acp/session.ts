// One conversation over the Agent Client Protocol, from the handshake to the end of the turn. Our
// side offers neither files nor terminals, because the agent works in its own worktree. It only
// answers questions.

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
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionModeState,
} from '@agentclientprotocol/sdk';
import { setTimeout as delay } from 'node:timers/promises';
import { basename } from 'node:path';
import type { AgentOutcome, AgentSettings } from '../port.ts';
import { maskDeep } from '../kit/log/masking.ts';
import type { SilenceWatch } from '../kit/process/silence.ts';
import type { ProgramEnd } from '../kit/process/supervise.ts';
import type { AgentRun } from '../kit/run/agent-run.ts';
import { AnswerWait } from '../kit/run/answer-wait.ts';
import type { JsonInput } from '../kit/run/json-input.ts';
import { keepSession, readKeptSession } from '../kit/run/kept-session.ts';
import type { ProgramFollower } from '../kit/run/run-program.ts';
import type { OutputStream } from '../kit/run/spool.ts';
import { watchStall } from '../kit/run/stall-watch.ts';
import { withLine } from '../kit/wire/text-tail.ts';
import { parseAcpError, parseMessage } from './messages.ts';
import { questionText, rejecting, writes } from './permissions.ts';
import { acpOutcome, type AcpError, type AcpFacts } from './outcome.ts';
import { acpPrograms, type AcpKind, modeToSet } from './programs.ts';
import { UpdateTranslator, parseUsage } from './updates.ts';

export interface AcpSessionOptions {
  readonly run: AgentRun;
  readonly kind: AcpKind;
  readonly settings: AgentSettings;
  readonly program: string;
  /** Drover's version. */
  readonly version: string;
  readonly input: JsonInput;
}

type OwnEnd = 'finished' | 'stalled';

interface OpenedSession {
  readonly id: string;
  readonly isLoaded: boolean;
  /** Modes that it offers. */
  readonly modes: readonly string[];
}

const stderrCharsMax = 8_000;
/** How long the agent may take to exit after its last response, and after a cancel. */
const exitMs = { finished: 5_000, others: 3_000 };
/**
 * Some agents do not exit while the server of our tools runs, so they get a signal after a shorter
 * time.
 */
const exitWithToolsMs = 1_500;
const answersMs = 2_000;

export class AcpSession implements ProgramFollower<OwnEnd> {
  readonly ownEnd: Promise<OwnEnd>;
  readonly #options: AcpSessionOptions;
  readonly #run: AgentRun;
  readonly #updates = new UpdateTranslator();
  readonly #end = Promise.withResolvers<OwnEnd>();
  readonly #over = new AbortController();
  readonly #denied = new Set<string>();
  readonly #wait: AnswerWait;
  readonly #silence: SilenceWatch;
  readonly #asked = new Map<string, number>();
  #incoming: ReadableStreamDefaultController<AnyMessage> | null = null;
  #connection: ClientConnection | null = null;
  #sessionId: string | null = null;
  #stopReason: string | null = null;
  #error: AcpError | null = null;
  #costUsd: number | null = null;
  #stderrTail = '';
  #isReplaying = false;

  constructor(options: AcpSessionOptions) {
    this.#options = options;
    this.#run = options.run;
    this.#wait = new AnswerWait(options.run.deps.awake);
    this.ownEnd = this.#end.promise;
    this.#silence = watchStall(options.run, {
      note: (seconds) => `The agent has sent no output for ${seconds} s.`,
      onEnd: () => this.#end.resolve('stalled'),
    });
  }

  /** Connects, starts or loads the session, and sends the prompt. */
  begin(): void {
    const readable = new ReadableStream<AnyMessage>({
      start: (controller) => {
        this.#incoming = controller;
      },
    });
    const writable = new WritableStream<AnyMessage>({
      write: (message) => this.#options.input.write(message),
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
      () => this.#end.resolve('finished'),
      (error: unknown) => {
        this.#error ??= parseAcpError(error);
        this.#end.resolve('finished');
      },
    );
  }

  takeLine(stream: OutputStream, line: string): void {
    const { record } = this.#run;
    this.#silence.touch();
    const message = stream === 'stdout' ? parseMessage(line) : null;
    if (message !== null) {
      this.#incoming?.enqueue(message);
      return;
    }
    if (stream === 'stderr') {
      this.#stderrTail = withLine(this.#stderrTail, record.mask(line), stderrCharsMax);
    }
    record.emit({ type: 'output', stream, text: line });
  }

  waitedMs(): number {
    return this.#wait.waitedMs;
  }

  /** Asks the agent to exit. Returns how long that may take. */
  askToEnd(why: string): number {
    this.#silence.stop();
    this.#over.abort();
    const id = this.#sessionId;
    if (why !== 'finished' && id !== null && this.#stopReason === null) {
      this.#connection?.agent
        .notify(methods.agent.session.cancel, { sessionId: id })
        .catch(() => {})
        .finally(() => this.#options.input.close());
    } else {
      this.#options.input.close();
    }
    if (why !== 'finished') return exitMs.others;
    return this.#run.request.tools === undefined ? exitMs.finished : exitWithToolsMs;
  }

  stop(): void {
    this.#silence.stop();
    this.#over.abort();
  }

  /** Withdraws open questions. */
  async finish(): Promise<void> {
    this.#emit(this.#updates.flush());
    this.#connection?.close();
    const answered = this.#wait.open === 0 ? null : delay(answersMs, undefined, { ref: false });
    while (this.#wait.open > 0 && answered !== null) {
      if ((await Promise.race([answered.then(() => 'late'), delay(5)])) === 'late') return;
    }
  }

  outcome(end: ProgramEnd<OwnEnd>): AgentOutcome {
    const { kind, program } = this.#options;
    const { title, install } = acpPrograms[kind];
    return acpOutcome(this.#facts, {
      ...end,
      title: kind === 'acp' ? basename(program) : title,
      install,
      stderrTail: this.#stderrTail,
      timeoutMs: this.#run.request.timeoutMs,
      silentMs: this.#silence.silentMs,
    });
  }

  get #facts(): AcpFacts {
    const isPlan = this.#run.request.planning === true;
    return {
      stopReason: this.#stopReason,
      error: this.#error,
      summary: isPlan ? this.#updates.message : this.#updates.summary,
      deniedTools: [...this.#denied],
    };
  }

  async #converse({ agent }: ClientConnection): Promise<void> {
    const { request, record } = this.#run;
    const { kind, settings, version } = this.#options;
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
    const modeId = modeToSet(kind, {
      offered: modes,
      wanted: settings.permissionMode,
      isLoaded,
      isConfined: request.confinedHome !== undefined,
      isPlanning: request.planning === true,
    });
    if (modeId !== null)
      await agent.request(methods.agent.session.setMode, { sessionId: id, modeId });
    const response = await agent.request(methods.agent.session.prompt, {
      sessionId: id,
      prompt: [{ type: 'text', text: prompt }],
    });
    this.#emit(this.#updates.flush());
    this.#stopReason = response.stopReason;
    const told = 'usage' in response ? response.usage : response._meta?.['usage'];
    const usage = parseUsage(told ?? response._meta, this.#costUsd);
    if (usage !== null) record.emit({ type: 'usage', usage });
  }

  async #openSession(
    agent: ClientConnection['agent'],
    greeting: InitializeResponse,
  ): Promise<OpenedSession> {
    const { request, record } = this.#run;
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
   * Returns the modes that it offers, or null if the agent no longer has the session or cannot load
   * sessions.
   */
  async #loadSession(
    agent: ClientConnection['agent'],
    greeting: InitializeResponse,
    sessionId: string,
  ): Promise<readonly string[] | null> {
    const { request } = this.#run;
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
   * Two requests for the same call are two questions: the answer to the first does not answer the
   * second.
   */
  #requestIdOf(toolCallId: string): string {
    const times = (this.#asked.get(toolCallId) ?? 0) + 1;
    this.#asked.set(toolCallId, times);
    return times === 1 ? toolCallId : `${toolCallId} (${times})`;
  }

  /** Drover's tools as passed by the protocol: the agent starts the server itself. */
  #servers(): McpServerStdio[] {
    const { tools } = this.#run.request;
    if (tools === undefined || acpPrograms[this.#options.kind].toolArguments !== null) return [];
    const env = Object.entries(tools.env).map(([name, value]) => ({ name, value }));
    return [{ name: 'drover', command: tools.command, args: [...tools.args], env }];
  }

  async #answer(
    asked: RequestPermissionRequest,
    withdrawn: AbortSignal,
  ): Promise<RequestPermissionResponse> {
    const { request, record, host, signal: stopSignal } = this.#run;
    this.#emit([...this.#updates.flush(), ...this.#updates.takeTool(asked.toolCall)]);
    if (request.planning === true && writes(asked)) {
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
   * While a person is asked, the agent is not responsible for the silence, and the attempt's time
   * stops.
   */
  #begins(): void {
    this.#wait.begin();
    this.#silence.pause();
  }

  #ends(): void {
    this.#silence.resume();
    this.#wait.end();
  }

  #emit(events: ReturnType<UpdateTranslator['take']>): void {
    for (const event of events) this.#run.record.emit(event);
  }
}

function idsOf(modes: SessionModeState | null | undefined): readonly string[] {
  return modes?.availableModes.map((mode) => mode.id) ?? [];
}
