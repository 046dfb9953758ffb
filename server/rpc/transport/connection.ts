// One client's connection to the backend: first the handshake, then requests, and the feed on
// request. A connection is `waiting` (only the handshake is answered, messages must be small, and
// only for a short time), then `open` or `rejected` (only the reason is sent), then `closed`. It
// never returns to an earlier state.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';
import {
  createMessageConnection,
  ErrorCodes,
  NullLogger,
  ResponseError,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-jsonrpc/node';
import type { Message, MessageConnection } from 'vscode-jsonrpc/node';
import { Refusal } from '../../core/failure.ts';
import type { AgentHandlers } from '../../protocol/agent-requests.ts';
import { protocolVersion } from '../../protocol/api.ts';
import type { Answer, Notifications, Params, RequestName } from '../../protocol/api.ts';
import {
  isAgentRequestName,
  isRequestName,
  readAgentParams,
  readParams,
} from '../../protocol/requests/read.ts';
import { compareVersions } from '../../protocol/version.ts';
import { onDevice } from '../../store/feed/actor.ts';
import { boardFeed } from './board-feed.ts';
import { toResponseError, unwrapOrRefuse } from './errors.ts';
import { FeedPump, type Feed } from './feed.ts';
import { isPersonsDecision } from './decisions.ts';
import {
  endName,
  farewellName,
  greetingName,
  parseHelloParams,
  initialized,
} from './language-client.ts';
import type { RequestHandlers } from './local.ts';
import { MessageSizeGuard } from './size-guard.ts';
import { answerSubscribe } from './subscribe.ts';

export const messageBytesMax = 64 * 1024 * 1024;
/** The longest texts in an agent's request add up to a tenth of that. */
const agentMessageBytesMax = 1024 * 1024;
const greetingBytesMax = 64 * 1024;
const greetingWaitMs = 5000;
const requestsAtOnceMax = 256;
/**
 * The connection writes in later turns of the event loop, so closing it at once would cut off the
 * last response.
 */
/** Limit for a peer that does not read its response. */
const deviceCharsMax = 60;
const lastWordsMs = 1_000;
/** A client that reads nothing must not prevent a backend from exiting. */
const leaveWaitMs = 500;

/**
 * The entry for agents. Each has its attempt's token and is served only that attempt's requests.
 */
export interface AgentDoor {
  /** The handlers of the attempt with this token. Returns null if no running attempt has it. */
  open(token: string): AgentHandlers | null;
}

export interface ConnectionOptions {
  /**
   * Null if the process at the other end of the pipes (standard input and output) is the owner, so
   * that no token is required.
   */
  readonly token: string | null;
  readonly handlers: RequestHandlers;
  readonly agents?: AgentDoor;
  /** Whether the process at the other end belongs to an agent or a gate. */
  readonly isOfRun: () => Promise<boolean>;
  readonly feed: Feed;
  readonly version: string;
  readonly root: string;
  /** True if nothing is running now, so that a newer client may replace this backend. */
  readonly isIdle: () => boolean | Promise<boolean>;
  readonly onOpen: () => void;
  readonly onClosed: () => void;
  /** Called when a newer client has asked this backend to exit. The response is being sent. */
  readonly onLeave: () => void;
}

export interface ServedConnection {
  /** Sends the client the reason, then disconnects. */
  leave(reason: string): Promise<void>;
  close(): void;
  /** Whether the handshake is still missing. */
  isWaiting(): boolean;
}

export function serveConnection(
  input: Readable,
  output: Writable,
  end: () => void,
  options: ConnectionOptions,
): ServedConnection {
  return new GreetedConnection(input, output, end, options);
}

class GreetedConnection implements ServedConnection {
  readonly #input: Readable;
  readonly #end: () => void;
  readonly #options: ConnectionOptions;
  readonly #guard = new MessageSizeGuard(greetingBytesMax);
  readonly #connection: MessageConnection;
  readonly #greeting: NodeJS.Timeout;
  #state: 'waiting' | 'open' | 'rejected' | 'closed' = 'waiting';
  #isLanguageClient = false;
  /** Set if the other end is an agent, which is served only these handlers. */
  #agentHandlers: AgentHandlers | null = null;
  #device: string | null = null;
  #pump: FeedPump | null = null;
  /** Runs after the response to the handshake was written, or failed to be. */
  #afterAnswer: (() => void) | null = null;
  #requestsAtOnce = 0;
  #ofRun: Promise<boolean> | null = null;

  constructor(input: Readable, output: Writable, end: () => void, options: ConnectionOptions) {
    this.#input = input;
    this.#end = end;
    this.#options = options;
    const close = (): void => this.close();
    input.on('error', () => this.#guard.destroy());
    input.on('close', () => this.#guard.destroy());
    output.on('error', close);
    input.pipe(this.#guard);
    this.#connection = createMessageConnection(
      new StreamMessageReader(this.#guard),
      new ToldWriter(output, () => this.#afterAnswer?.()),
      NullLogger,
    );
    this.#greeting = setTimeout(close, greetingWaitMs);
    this.#connection.onError(close);
    this.#connection.onClose(close);
    this.#connection.onRequest((name: string, raw: unknown) => this.#answer(name, raw));
    this.#connection.onNotification(endName, () => {
      if (this.#isLanguageClient) this.close();
    });
    this.#connection.listen();
  }

  isWaiting(): boolean {
    return this.#state === 'waiting';
  }

  close(): void {
    if (this.#state === 'closed') return;
    const wasOpen = this.#state === 'open';
    this.#state = 'closed';
    clearTimeout(this.#greeting);
    this.#pump?.stop();
    this.#connection.dispose();
    this.#input.unpipe(this.#guard);
    this.#guard.destroy();
    this.#end();
    if (wasOpen) this.#options.onClosed();
  }

  async leave(reason: string): Promise<void> {
    if (this.#state === 'open') {
      const sent = this.#connection.sendNotification('leaving', { reason }).catch(() => {});
      await Promise.race([sent, waitMs(leaveWaitMs)]);
    }
    this.close();
  }

  async #answer(name: string, raw: unknown): Promise<unknown> {
    if (this.#requestsAtOnce >= requestsAtOnceMax) {
      throw toResponseError(new Refusal('busy', 'Too many requests at once; wait for answers.'));
    }
    this.#requestsAtOnce += 1;
    try {
      return await this.#serve(name, raw);
    } catch (error) {
      if (this.#state === 'waiting') this.#reject();
      throw toResponseError(error);
    } finally {
      this.#requestsAtOnce -= 1;
    }
  }

  /** A client that fails the handshake gets this one error, then is disconnected. */
  #reject(): void {
    this.#state = 'rejected';
    this.#after(() => this.close());
  }

  #after(then: () => void): void {
    const once = (): void => {
      clearTimeout(timer);
      this.#afterAnswer = null;
      then();
    };
    const timer = setTimeout(once, lastWordsMs);
    this.#afterAnswer = once;
  }

  async #serve(name: string, raw: unknown): Promise<unknown> {
    if (name === greetingName) {
      const hello = await this.#hello(shaped('hello', parseHelloParams(raw)));
      this.#isLanguageClient = true;
      return initialized(hello);
    }
    if (this.#state !== 'open' && name !== 'hello') {
      throw new Refusal('greeting', 'The first request must be hello.');
    }
    if (this.#agentHandlers !== null && name !== 'hello') {
      return await callAgentHandler(this.#agentHandlers, name, raw);
    }
    if (this.#isLanguageClient && name === farewellName) {
      this.#pump?.stop();
      return null;
    }
    if (!isRequestName(name)) {
      throw new ResponseError(
        ErrorCodes.MethodNotFound,
        `Request ${printable(name)} does not exist.`,
      );
    }
    if (name === 'hello') return await this.#hello(shaped(name, raw));
    if (isPersonsDecision(name, raw) && (await this.#isOfRun())) throw notForRuns(name);
    if (name === 'subscribe') return await this.#subscribe(shaped(name, raw));
    const { handlers } = this.#options;
    const handler = handlers[name] as (params: unknown) => Promise<unknown>;
    const call = (): Promise<unknown> => handler.call(handlers, shaped(name, raw));
    return await (this.#device === null ? call() : onDevice(this.#device, call));
  }

  /** Determined once, and only if needed. */
  #isOfRun(): Promise<boolean> {
    this.#ofRun ??= this.#options.isOfRun();
    return this.#ofRun;
  }

  async #hello(params: Params<'hello'>): Promise<Answer<'hello'>> {
    const { token, version, root, isIdle, onOpen, onLeave } = this.#options;
    if (this.#state !== 'waiting') throw new Refusal('greeting', 'hello was already sent.');
    if (token !== null && !sameToken(params.token, token)) {
      this.#agentHandlers = this.#options.agents?.open(params.token) ?? null;
      if (this.#agentHandlers === null) {
        throw new Refusal('token', 'The token is not the one of this backend.');
      }
    }
    this.#state = 'open';
    this.#device = params.device?.slice(0, deviceCharsMax) ?? null;
    clearTimeout(this.#greeting);
    this.#guard.allow(this.#agentHandlers === null ? messageBytesMax : agentMessageBytesMax);
    onOpen();
    const leaving = this.#agentHandlers === null && isNewer(params, version) && (await isIdle());
    if (leaving) this.#after(onLeave);
    return { version, protocol: protocolVersion, pid: process.pid, root, leaving };
  }

  async #subscribe({ after, board }: Params<'subscribe'>): Promise<Answer<'subscribe'>> {
    const { feed, handlers } = this.#options;
    const { answer, pumpAfter } = await answerSubscribe(feed, () => handlers.status({}), after);
    this.#pump?.stop();
    if (this.#state === 'closed') return answer; // the client disconnected while the state was read
    const send = (batch: Notifications['events']): Promise<void> =>
      this.#connection.sendNotification('events', batch);
    this.#pump = new FeedPump({
      feed,
      after: pumpAfter,
      deliver:
        board === true
          ? boardFeed((seq) => handlers['board.changes']({ after: seq }), pumpAfter, send)
          : (events) => send({ events }),
      onFailure: () => this.close(),
    });
    return answer;
  }
}

function shaped<N extends RequestName>(name: N, raw: unknown): Params<N> {
  return unwrapOrRefuse(readParams(name, raw));
}

function notForRuns(name: string): Refusal {
  return new Refusal(
    'not_for_agents',
    `${printable(name)} is a person's decision, and this process belongs to a run. Call Drover from your own terminal or editor.`,
  );
}

async function callAgentHandler(
  handlers: AgentHandlers,
  name: string,
  raw: unknown,
): Promise<unknown> {
  if (!isAgentRequestName(name)) {
    throw new Refusal(
      'not_for_agents',
      `An agent may not ask for ${printable(name)}: its token is good for its own attempt's requests alone.`,
    );
  }
  const params = unwrapOrRefuse(readAgentParams(name, raw));
  const handler = handlers[name] as (params: unknown) => Promise<unknown>;
  return await handler.call(handlers, params);
}

/** Reports when a message has been sent. */
class ToldWriter extends StreamMessageWriter {
  readonly #onWritten: () => void;

  constructor(output: Writable, onWritten: () => void) {
    super(output);
    this.#onWritten = onWritten;
  }

  override async write(message: Message): Promise<void> {
    await super.write(message);
    this.#onWritten();
  }
}

function waitMs(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/**
 * Hashes both first, so that the comparison time reveals neither length nor position of a
 * difference.
 */
function sameToken(given: string, wanted: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return wanted !== '' && timingSafeEqual(digest(given), digest(wanted));
}

function isNewer(client: { version: string; protocol: number }, ownVersion: string): boolean {
  return client.protocol > protocolVersion || compareVersions(client.version, ownVersion) > 0;
}

function printable(name: string): string {
  return JSON.stringify(name.slice(0, 60));
}
