// One conversation over Drover Code's IDE bridge: requests with our ids, one execution at a time,
// heartbeats.

import { err, ok, type Result } from '../../core/failure.ts';
import { encodeFrame, FrameReader } from './frame-codec.ts';

export type BridgeErrorKind =
  | 'timeout'
  | 'process-exited'
  | 'cancelled'
  | 'frame-too-large'
  | 'incompatible'
  | 'empty-prompt'
  | 'busy'
  | 'rpc';

export interface BridgeError {
  readonly kind: BridgeErrorKind;
  readonly message: string;
  readonly code?: number;
}

export interface BridgeClientOptions {
  /** Returns false if the caller must wait for `drained` before the next write. */
  readonly write: (frame: Buffer) => boolean;
  readonly drained: () => Promise<void>;
  /** Text of the running execution. The program announces it but does not send it yet. */
  readonly onText: (text: string) => void;
  readonly onLog: (text: string) => void;
  /** The process is no longer usable and must be stopped. */
  readonly onBroken: (error: BridgeError) => void;
  readonly timing?: Partial<BridgeTiming>;
}

export interface BridgeTiming {
  readonly initializeMs: number;
  readonly pingEveryMs: number;
  readonly pingMs: number;
}

const timingDefault: BridgeTiming = { initializeMs: 5_000, pingEveryMs: 30_000, pingMs: 10_000 };
const missedPingsMax = 2;
const queuedMax = 16;
const methodNotFound = -32_601;

type Answer = Result<unknown, BridgeError>;
type Json = Readonly<Record<string, unknown>>;

export class BridgeClient {
  readonly #options: BridgeClientOptions;
  readonly #timing: BridgeTiming;
  readonly #reader = new FrameReader();
  readonly #outstanding = new Map<number, (answer: Answer) => void>();
  #nextId = 1;
  #writing: Promise<void> = Promise.resolve();
  #executing: Promise<unknown> = Promise.resolve();
  #queued = 0;
  #isExecuting = false;
  #closed: BridgeError | null = null;
  #pingTimer: NodeJS.Timeout | null = null;
  #missedPings = 0;

  constructor(options: BridgeClientOptions) {
    this.#options = options;
    this.#timing = { ...timingDefault, ...options.timing };
  }

  take(chunk: Buffer): void {
    for (const event of this.#reader.push(chunk)) {
      switch (event.kind) {
        case 'stray':
          this.#options.onLog(event.text);
          break;
        case 'failed':
          this.#break({ kind: event.why, message: event.message });
          break;
        case 'message':
          this.#takeMessage(event.body);
          break;
      }
    }
  }

  async initialize(): Promise<Result<null, BridgeError>> {
    const answer = await this.#request('initialize', {}, this.#timing.initializeMs);
    const capabilities = answer.ok ? fieldsOf(fieldsOf(answer.value)['capabilities']) : {};
    if (answer.ok && capabilities['execute'] === true) {
      this.#schedulePing();
      return ok(null);
    }
    const error: BridgeError = answer.ok
      ? { kind: 'incompatible', message: "Drover Code's bridge does not offer to execute prompts." }
      : answer.error;
    this.#break(error);
    return err(error);
  }

  /**
   * Waits for earlier executions, because the program would run them in one conversation at the
   * same time.
   */
  async execute(input: string): Promise<Result<string, BridgeError>> {
    if (input.trim() === '') {
      return err({ kind: 'empty-prompt', message: 'The prompt is empty: nothing was sent.' });
    }
    if (this.#queued >= queuedMax) {
      const message = `${queuedMax} prompts are already waiting for Drover Code.`;
      return err({ kind: 'busy', message });
    }
    this.#queued += 1;
    const mine = this.#executing.then(async () => {
      this.#isExecuting = true;
      const answer = await this.#request('drover/execute', { input }, null);
      this.#isExecuting = false;
      this.#queued -= 1;
      return answer;
    });
    this.#executing = mine;
    const answer = await mine;
    if (!answer.ok) return answer;
    const output = fieldsOf(answer.value)['output'];
    return ok(typeof output === 'string' ? output : '');
  }

  async ping(): Promise<Result<unknown, BridgeError>> {
    return await this.#request('ping', {}, this.#timing.pingMs);
  }

  /** Fails everything that waits for a response with this error. Nothing is written any more. */
  close(error: BridgeError): void {
    if (this.#closed !== null) return;
    this.#closed = error;
    if (this.#pingTimer !== null) clearTimeout(this.#pingTimer);
    for (const settle of this.#outstanding.values()) settle(err(error));
  }

  #request(method: string, params: Json, timeoutMs: number | null): Promise<Answer> {
    if (this.#closed !== null) return Promise.resolve(err(this.#closed));
    const id = this.#nextId++;
    return new Promise((resolve) => {
      const timer =
        timeoutMs === null
          ? null
          : setTimeout(() => {
              const message = `Drover Code did not answer "${method}" within ${timeoutMs} ms.`;
              settle(err({ kind: 'timeout', message }));
            }, timeoutMs);
      const settle = (answer: Answer): void => {
        if (timer !== null) clearTimeout(timer);
        this.#outstanding.delete(id);
        resolve(answer);
      };
      this.#outstanding.set(id, settle);
      if (!this.#send({ jsonrpc: '2.0', id, method, params })) {
        const message = 'The prompt exceeds the limit of the bridge (32 MiB).';
        settle(err({ kind: 'frame-too-large', message }));
      }
    });
  }

  #send(message: Json): boolean {
    const frame = encodeFrame(message);
    if (frame === null) return false;
    this.#writing = this.#writing.then(async () => {
      if (this.#closed === null && !this.#options.write(frame)) await this.#options.drained();
    });
    return true;
  }

  #takeMessage(body: string): void {
    let parsed: unknown;
    try {
      parsed = JSON.parse(body);
    } catch {
      this.#break({
        kind: 'incompatible',
        message: "Drover Code's bridge sent text that is not JSON.",
      });
      return;
    }
    const message = fieldsOf(parsed);
    const { id, method, params } = message as { id?: unknown; method?: unknown; params?: unknown };
    if (typeof method === 'string') this.#takeCall(id, method, fieldsOf(params));
    else this.#takeAnswer(id, message);
  }

  #takeCall(id: unknown, method: string, params: Json): void {
    if (typeof id === 'number' || typeof id === 'string') {
      const isPing = method === 'ping';
      const error = { code: methodNotFound, message: `method not found: ${method.slice(0, 200)}` };
      this.#send({ jsonrpc: '2.0', id, ...(isPing ? { result: 'pong' } : { error }) });
      return;
    }
    const text = params['text'];
    if (method === 'drover/textDelta' && this.#isExecuting && typeof text === 'string') {
      this.#options.onText(text);
    }
  }

  #takeAnswer(id: unknown, message: Json): void {
    const settle = typeof id === 'number' ? this.#outstanding.get(id) : undefined;
    if (settle === undefined) {
      this.#options.onLog(
        `Drover Code answered a request that Drover did not send (id ${String(id)}).`,
      );
      return;
    }
    if (message['error'] === undefined || message['error'] === null) {
      settle(ok(message['result']));
      return;
    }
    const error = fieldsOf(message['error']);
    const code = typeof error['code'] === 'number' ? error['code'] : 0;
    const text = typeof error['message'] === 'string' ? error['message'] : 'no reason given';
    settle(err({ kind: 'rpc', code, message: text }));
  }

  #schedulePing(): void {
    if (this.#closed !== null) return;
    this.#pingTimer = setTimeout(() => void this.#beat(), this.#timing.pingEveryMs);
  }

  async #beat(): Promise<void> {
    const answer = await this.ping();
    this.#missedPings = answer.ok || answer.error.kind !== 'timeout' ? 0 : this.#missedPings + 1;
    if (this.#missedPings >= missedPingsMax) {
      this.#break({ kind: 'timeout', message: 'Drover Code hangs: it did not answer two pings.' });
    }
    this.#schedulePing();
  }

  #break(error: BridgeError): void {
    if (this.#closed !== null) return;
    this.close(error);
    this.#options.onBroken(error);
  }
}

function fieldsOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
