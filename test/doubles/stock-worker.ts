// A worker runtime like upstream's, written only from the contract, with each of its defects on
// request.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';
import { removeFolder } from '../remove-folder.ts';

export interface StockOptions {
  readonly workspace: string;
  readonly token: string;
  /** The legacy form numbers nothing. */
  readonly ids?: boolean;
  readonly bufferMax?: number;
  /** Closes every connection of the stream after this many events. */
  readonly cutAfter?: number;
  /** Closes the connection within an event: its id is sent, but its data is not. */
  readonly cutWithin?: number;
  /** Ends streams without `done`; the job's end is never reported. */
  readonly losesDone?: boolean;
  /** Status codes that the stream's path returns before it works. */
  readonly refusals?: number[];
  /** Status codes that `/health` returns before 200. */
  readonly health?: number[];
  /** The features that it announces in addition to the stock ones; all of them work. */
  readonly features?: string;
  readonly uploadStatus?: number;
  readonly execReply?: string;
  /** Refuses commands, and repeats the token in its message. */
  readonly execStatus?: number;
  /** Streams of the job that are opened but send nothing at all, not even headers. */
  readonly quietStreams?: { left: number };
  /** Raw events before the first line of a job. */
  readonly oddEvents?: readonly Readonly<Record<string, unknown>>[];
  /** Sent by `GET /workspace` instead of the real archive. */
  readonly archive?: () => Buffer;
  readonly downloadStatus?: number;
  /** §5.3, 1: this many streams are closed like ended ones when `done` is the next event. */
  readonly endsBeforeDone?: { left: number };
  /**
   * §5.3, 2: a reader gets this many events and nothing more; when the job has ended, it is closed
   * without `done`.
   */
  readonly stalls?: { left: number; readonly after: number };
  /**
   * §5.3, 3: the events from one id up to another are evicted while they are sent, without a
   * notice.
   */
  readonly evicts?: readonly [from: number, to: number];
  /**
   * §5.3, 4: nothing is numbered, `done` is dropped, and the job is forgotten when a reader
   * disconnects.
   */
  readonly isLegacy?: boolean;
  /** Answers in its own way. Returns false to answer like a stock runtime. */
  readonly answers?: (route: string, request: IncomingMessage, response: ServerResponse) => boolean;
}

export interface StockWorker {
  readonly url: string;
  /** Requests as `METHOD path`, with `Last-Event-ID` in brackets if sent. */
  readonly requests: readonly string[];
  readonly authorizations: ReadonlySet<string>;
  close(): Promise<void>;
}

interface Job {
  readonly events: { id: number; data: string }[];
  next: number;
  isOver: boolean;
  readonly readers: Set<() => void>;
  /** Kills its remaining processes; resolves when none writes any more. */
  end(): Promise<void>;
}

export async function startStockWorker(options: StockOptions): Promise<StockWorker> {
  const requests: string[] = [];
  const authorizations = new Set<string>();
  const jobs = new Map<string, Job>();
  // An old runtime forgets jobs that are still running.
  const commands = new Set<Job>();
  const server = createServer((request, response) => {
    const last = request.headers['last-event-id'];
    const id = typeof last === 'string' ? ` [${last}]` : '';
    requests.push(`${request.method} ${request.url?.replace(/[0-9a-f]{32}/, 'JOB')}${id}`);
    authorizations.add(request.headers.authorization ?? '');
    answer(options, { jobs, commands }, request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    authorizations,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await Promise.all([closed, ...[...commands].map((command) => command.end())]);
    },
  };
}

async function answer(
  options: StockOptions,
  { jobs, commands }: { readonly jobs: Map<string, Job>; readonly commands: Set<Job> },
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const say = (status: number, text: string): void => {
    response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
  };
  if (request.headers.authorization !== `Bearer ${options.token}`) return say(401, 'unauthorized');
  const route = `${request.method} ${request.url}`;
  if (options.answers?.(route, request, response) === true) return;
  if (route === 'GET /health') {
    if (options.features !== undefined) {
      response.setHeader('x-drover-worker', `1; features=${options.features}`);
    }
    const status = options.health?.shift() ?? 200;
    return say(status, status === 200 ? 'ok' : status === 401 ? 'unauthorized' : 'not ready');
  }
  if (route === 'POST /workspace') return takeUpload(options, request, say);
  if (route === 'GET /workspace' && options.downloadStatus !== undefined) {
    return say(options.downloadStatus, 'workspace not found');
  }
  if (route === 'GET /workspace') return sendWorkspace(options, response);
  if (route === 'POST /exec') {
    const text = await textOf(request);
    if (options.execStatus !== undefined) {
      return say(options.execStatus, `you are ${request.headers.authorization}`);
    }
    if (options.execReply !== undefined) return say(200, options.execReply);
    const id = randomBytes(16).toString('hex');
    const job = startCommand(options, (JSON.parse(text) as { command: string }).command);
    jobs.set(id, job);
    commands.add(job);
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(`${JSON.stringify({ job_id: id })}\n`);
    return;
  }
  const match = /^GET \/exec\/([0-9a-f]{32})\/stream$/.exec(route);
  if (match === null) return say(405, 'method not allowed');
  const refusal = options.refusals?.shift();
  if (refusal !== undefined) return say(refusal, refusal === 404 ? 'unknown job_id' : 'not now');
  if (options.quietStreams !== undefined && options.quietStreams.left > 0) {
    options.quietStreams.left -= 1;
    return;
  }
  const job = jobs.get(match[1] ?? '');
  if (job === undefined) return say(404, 'unknown job_id');
  if (options.isLegacy === true) response.on('close', () => jobs.delete(match[1] ?? ''));
  streamEvents(options, job, request, response);
}

async function takeUpload(
  options: StockOptions,
  request: IncomingMessage,
  say: (status: number, text: string) => void,
): Promise<void> {
  if (options.uploadStatus !== undefined) {
    say(options.uploadStatus, options.uploadStatus === 401 ? 'unauthorized' : 'failed');
    request.resume();
    return;
  }
  removeFolder(options.workspace);
  mkdirSync(options.workspace, { recursive: true });
  const tar = spawn('tar', ['-xzf', '-', '-C', options.workspace, '--no-same-owner']);
  const ended = new Promise<number | null>((resolve) => tar.once('close', resolve));
  await pipeline(request, tar.stdin).catch(() => undefined);
  if ((await ended) === 0) say(200, '{"status":"success"}');
  else say(400, 'failed to read tar: unexpected EOF');
}

async function sendWorkspace(options: StockOptions, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/gzip' });
  if (options.archive !== undefined) {
    response.end(options.archive());
    return;
  }
  const tar = spawn('tar', ['-czf', '-', '-C', options.workspace, '.']);
  await pipeline(tar.stdout, response);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

function startCommand(options: StockOptions, command: string): Job {
  const ended = Promise.withResolvers<void>();
  const job: Job = {
    events: [],
    next: 0,
    isOver: false,
    readers: new Set(),
    end: async () => {
      try {
        if (!job.isOver && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        // It has just ended.
      }
      await ended.promise;
    },
  };
  const add = (event: Record<string, unknown>): void => {
    job.events.push({ id: job.next, data: JSON.stringify(event) });
    job.next += 1;
    if (job.events.length > (options.bufferMax ?? 1000)) job.events.shift();
    for (const wake of job.readers) wake();
  };
  for (const event of options.oddEvents ?? []) add(event);
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: options.workspace,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'],
      HOME: options.workspace,
      AGENT_TOKEN: options.token,
      TOLD: options.token,
    },
  });
  const ends = (['stdout', 'stderr'] as const).map((stream) => {
    const lines = createInterface({ input: child[stream] });
    lines.on('line', (line) => add({ line, stream }));
    return new Promise((resolve) => lines.once('close', resolve));
  });
  child.once('close', (code) => {
    void Promise.all(ends).then(() => {
      job.isOver = true;
      ended.resolve();
      if (options.losesDone === true || options.isLegacy === true)
        for (const wake of job.readers) wake();
      else add({ done: true, exit_code: code ?? -1 });
    });
  });
  return job;
}

function streamEvents(
  options: StockOptions,
  job: Job,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const last = request.headers['last-event-id'];
  let next = typeof last === 'string' ? Number(last) + 1 : 0;
  let sent = 0;
  const { stalls, evicts, endsBeforeDone } = options;
  const isStalling = stalls !== undefined && stalls.left-- > 0;
  const finish = (): void => {
    job.readers.delete(wake);
    response.end();
  };
  const wake = (): void => {
    const oldest = job.events[0]?.id ?? job.next;
    if (next < oldest && typeof last === 'string') {
      const line = 'stream replay gap: some earlier events were evicted from the worker buffer';
      response.write(`id: ${next}\ndata: ${JSON.stringify({ line, stream: 'stderr' })}\n\n`);
    }
    for (const event of job.events.filter(({ id }) => id >= next)) {
      if (isStalling && sent === stalls.after) break;
      const isDone = event.data.includes('"done":true');
      if (isDone && endsBeforeDone !== undefined && endsBeforeDone.left-- > 0) return finish();
      if (evicts !== undefined && event.id >= evicts[0] && event.id < evicts[1]) continue;
      if (sent === options.cutWithin) {
        response.write(`id: ${event.id}\n`);
        response.socket?.end();
        job.readers.delete(wake);
        return;
      }
      const id = options.ids === false || options.isLegacy === true ? '' : `id: ${event.id}\n`;
      response.write(`${id}data: ${event.data}\n\n`);
      next = event.id + 1;
      sent += 1;
      if (isDone) return finish();
      if (sent === options.cutAfter) return finish();
    }
    if (job.isOver) finish();
  };
  job.readers.add(wake);
  response.on('close', () => job.readers.delete(wake));
  wake();
}
