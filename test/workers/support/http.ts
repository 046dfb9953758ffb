// Requests to a worker as the contract describes them, and a reader of its event stream that keeps everything it sees.

import { request, type IncomingMessage } from 'node:http';
import type { RuntimeProcess } from './runtime-process.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
  readonly text: string;
}

export interface Ask {
  readonly method?: string;
  readonly body?: string | Uint8Array;
  /** Sent piece by piece instead of `body`, without a length. */
  readonly pieces?: AsyncIterable<Uint8Array>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Null sends none. */
  readonly token?: string | null;
}

type Target = Pick<RuntimeProcess, 'url' | 'token'>;

/** Rejects when the connection breaks before the end of the answer. */
export async function ask(runtime: Target, path: string, options: Ask = {}): Promise<Answer> {
  return await new Promise((resolve, reject) => {
    const message = start(runtime, path, options);
    message.on('error', reject);
    message.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        const { statusCode: status = 0, headers } = response;
        resolve({ status, headers, body, text: body.toString('utf8') });
      });
    });
    void send(message, options).catch(reject);
  });
}

function start(runtime: Target, path: string, { method, headers, token, ...rest }: Ask) {
  const hasBody = rest.body !== undefined || rest.pieces !== undefined;
  const bearer = token === undefined ? runtime.token : token;
  return request(new URL(path, runtime.url), {
    method: method ?? (hasBody ? 'POST' : 'GET'),
    agent: false,
    headers: {
      ...(bearer !== null && { Authorization: `Bearer ${bearer}` }),
      ...(rest.body !== undefined && { 'Content-Length': String(Buffer.byteLength(rest.body)) }),
      ...headers,
    },
  });
}

async function send(message: ReturnType<typeof request>, { body, pieces }: Ask): Promise<void> {
  if (pieces !== undefined) {
    for await (const piece of pieces) message.write(piece);
  }
  message.end(body);
}

export async function exec(runtime: Target, command: string): Promise<string> {
  const answer = await ask(runtime, '/exec', { body: JSON.stringify({ command }) });
  if (answer.status !== 200) throw new Error(`${String(answer.status)} ${answer.text}`);
  return (JSON.parse(answer.text) as { job_id: string }).job_id;
}

export interface SeenEvent {
  readonly id: number;
  readonly data: {
    readonly line?: string;
    readonly stream?: string;
    readonly partial?: boolean;
    readonly done?: boolean;
    readonly exit_code?: number;
    readonly signal?: string;
  };
}

export interface Following {
  readonly response: IncomingMessage;
  readonly events: readonly SeenEvent[];
  readonly comments: readonly string[];
  /** The server has closed the response. Rejects when the connection broke. */
  readonly ended: Promise<void>;
  /** Resolves with the first event, past or future, that is accepted. */
  event(accepts: (event: SeenEvent) => boolean): Promise<SeenEvent>;
  comment(): Promise<string>;
  close(): void;
}

/** Resolves with the headers. */
export async function follow(
  runtime: Target,
  jobId: string,
  lastEventId?: string,
): Promise<Following> {
  const headers = lastEventId === undefined ? {} : { 'Last-Event-ID': lastEventId };
  const message = start(runtime, `/exec/${jobId}/stream`, { headers });
  message.end();
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    message.on('response', resolve);
    message.on('error', reject);
  });
  if (response.statusCode !== 200)
    throw new Error(`the stream answers ${String(response.statusCode)}`);
  return reading(response);
}

function reading(response: IncomingMessage): Following {
  const events: SeenEvent[] = [];
  const comments: string[] = [];
  const listeners = new Set<() => void>();
  let rest = '';
  response.setEncoding('utf8');
  response.on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) comments.push(block);
      else events.push(parseBlock(block));
    }
    for (const listener of listeners) listener();
  });
  const ended = new Promise<void>((resolve, reject) => {
    response.on('end', resolve);
    response.on('error', reject);
  });
  ended.catch(() => undefined);
  const first = async <T>(look: () => T | undefined): Promise<T> =>
    await new Promise((resolve, reject) => {
      const check = (): void => {
        const found = look();
        if (found === undefined) return;
        listeners.delete(check);
        resolve(found);
      };
      listeners.add(check);
      check();
      ended.then(
        () => reject(new Error(`the stream ended; last ${JSON.stringify(events.at(-1))}`)),
        reject,
      );
    });
  return {
    response,
    events,
    comments,
    ended,
    event: async (accepts) => await first(() => events.find(accepts)),
    comment: async () => await first(() => comments[0]),
    close: () => response.destroy(),
  };
}

/** Exactly the two lines of the contract, so that anything else is seen. */
function parseBlock(block: string): SeenEvent {
  const match = /^id: (\d+)\ndata: (\{.*\})$/.exec(block);
  if (match === null) throw new Error(`not an event: ${JSON.stringify(block)}`);
  return { id: Number(match[1]), data: JSON.parse(match[2] ?? '') as SeenEvent['data'] };
}

/** Runs a command to its end, and returns its whole stream. */
export async function runToEnd(runtime: Target, command: string): Promise<readonly SeenEvent[]> {
  const stream = await follow(runtime, await exec(runtime, command));
  await stream.ended;
  return stream.events;
}

/** The lines of one stream, with chunks of long ones put together. */
export function linesOf(events: readonly SeenEvent[], stream = 'stdout'): string[] {
  const lines: string[] = [];
  let open = '';
  for (const { data } of events) {
    if (data.stream !== stream) continue;
    open += data.line ?? '';
    if (data.partial === true) continue;
    lines.push(open);
    open = '';
  }
  return open === '' ? lines : [...lines, open];
}
