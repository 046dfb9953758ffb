// The requests of the worker contract (§3): who may send each one, checked in the same order as by
// the standard runtime, and the responses.

import { createHash, timingSafeEqual } from 'node:crypto';
import { posix } from 'node:path';
import {
  execBodyBytes,
  execPath,
  healthPath,
  jobKeyPattern,
  unauthorizedText,
  unknownJobText,
  workerHeader,
  workerHeaderName,
  workspacePath,
} from '../wire.ts';
import { answer, answerText, refuse, takeBody, type Exchange } from './answers.ts';
import { parseFirstJson } from './first-json.ts';
import type { Job } from './job.ts';
import type { Jobs } from './jobs.ts';
import { UploadRefused } from './upload-refused.ts';
import type { Workspace } from './workspace.ts';

export interface RoutesOptions {
  readonly token: string;
  readonly workspace: Workspace;
  readonly jobs: Jobs;
  /** Maximum size of an upload's body. */
  readonly uploadBytes: number;
  readonly isClosing: () => boolean;
  /** Reports errors that the client cannot receive. */
  readonly warn: (sentence: string) => void;
}

const methodText = 'method not allowed';
const successText = '{"status":"success"}';
const closingText = 'the runtime is shutting down';
/** The path below `/exec/`. */
const jobPattern = /^\/exec\/([^/]+)\/(stream|cancel)$/;

export class Routes {
  readonly #options: RoutesOptions;
  readonly #tokenDigest: Buffer;

  constructor(options: RoutesOptions) {
    this.#options = options;
    this.#tokenDigest = digest(options.token);
  }

  async handle(exchange: Exchange): Promise<void> {
    const [path, query] = splitUrl(exchange.request.url ?? '/');
    const clean = cleanPath(path);
    if (clean !== path) {
      exchange.response.setHeader('Location', `${clean}${query}`);
      await refuse(exchange, 301, 'moved permanently');
      return;
    }
    if (path === healthPath) await this.#health(exchange);
    else if (path === workspacePath) await this.#workspace(exchange);
    else if (path === execPath) await this.#exec(exchange);
    else if (path.startsWith(`${execPath}/`)) await this.#job(exchange, path);
    else await refuse(exchange, 404, '404 page not found');
  }

  async #health(exchange: Exchange): Promise<void> {
    if (!(await allowed(exchange, 'GET')) || !(await this.#authorized(exchange))) return;
    exchange.response.setHeader(workerHeaderName, workerHeader());
    await answerText(exchange, 200, 'ok');
  }

  async #workspace(exchange: Exchange): Promise<void> {
    if (!(await this.#authorized(exchange))) return;
    const { method } = exchange.request;
    if (method === 'POST') await this.#upload(exchange);
    else if (method === 'GET') await this.#download(exchange);
    else await refuse(exchange, 405, methodText);
  }

  async #upload(exchange: Exchange): Promise<void> {
    const { workspace, uploadBytes } = this.#options;
    if (this.#options.isClosing()) return await refuse(exchange, 503, closingText);
    if (Number(exchange.request.headers['content-length'] ?? 0) > uploadBytes) {
      return await refuse(exchange, 413, `the body has more than ${String(uploadBytes)} bytes`);
    }
    if (!workspace.claim('upload')) return await this.#refuseBusy(exchange);
    let refused: UploadRefused | null = null;
    try {
      await workspace.replace(takeBody(exchange));
    } catch (error) {
      if (!(error instanceof UploadRefused)) throw error;
      refused = error;
    } finally {
      // Before the response, after which the client may start its job at once.
      workspace.release();
    }
    if (refused === null) await answerText(exchange, 200, successText);
    else await refuse(exchange, refused.status, refused.message);
  }

  async #download(exchange: Exchange): Promise<void> {
    const { workspace, warn } = this.#options;
    const { response } = exchange;
    if (!workspace.exists()) return await refuse(exchange, 404, 'workspace not found');
    response.writeHead(200, {
      'Content-Type': 'application/gzip',
      'Content-Disposition': 'attachment; filename="workspace.tar.gz"',
    });
    try {
      await workspace.pack(response);
    } catch (error) {
      // The status was already sent, so only closing the connection can inform the client.
      response.destroy();
      warn(`The workspace was not sent whole: ${messageOf(error)}.`);
    }
  }

  async #exec(exchange: Exchange): Promise<void> {
    if (!(await allowed(exchange, 'POST')) || !(await this.#authorized(exchange))) return;
    const { workspace, jobs } = this.#options;
    const text = await readText(exchange, execBodyBytes);
    if (text === null) return await refuse(exchange, 413, 'command too large');
    const asked = execRequestOf(text);
    if (asked === null) return await refuse(exchange, 400, 'bad json');
    const { command, key } = asked;
    if (command.trim() === '') return await refuse(exchange, 400, 'command required');
    if (this.#options.isClosing()) return await refuse(exchange, 503, closingText);
    let job = key === null ? undefined : jobs.findByKey(key);
    if (job === undefined) {
      if (!workspace.claim('job')) return await this.#refuseBusy(exchange);
      job = jobs.start(command, key);
      void job.ended.then(() => workspace.release());
    }
    await answer(exchange, 200, 'application/json', `${JSON.stringify({ job_id: job.id })}\n`);
  }

  async #job(exchange: Exchange, path: string): Promise<void> {
    const [, id = '', act] = jobPattern.exec(path) ?? [];
    const method = act === 'cancel' ? 'POST' : 'GET';
    if (!(await allowed(exchange, method)) || !(await this.#authorized(exchange))) return;
    if (act === undefined) return await refuse(exchange, 404, 'not found');
    const job = this.#options.jobs.find(id);
    if (job === undefined) return await refuse(exchange, 404, unknownJobText);
    if (act === 'stream') return followJob(exchange, job);
    job.cancel();
    await answerText(exchange, 202, successText);
  }

  async #refuseBusy(exchange: Exchange): Promise<void> {
    const what = this.#options.workspace.use === 'job' ? 'a job' : 'an upload';
    await refuse(exchange, 409, `${what} is running`);
  }

  async #authorized(exchange: Exchange): Promise<boolean> {
    const header = exchange.request.headers.authorization ?? '';
    const given = /^bearer\s+(.*)$/is.exec(header)?.[1]?.trim() ?? '';
    // All digests have the same length, so the comparison reveals nothing about the token.
    if (timingSafeEqual(digest(given), this.#tokenDigest)) return true;
    await refuse(exchange, 401, unauthorizedText);
    return false;
  }
}

async function allowed(exchange: Exchange, method: string): Promise<boolean> {
  if (exchange.request.method === method) return true;
  await refuse(exchange, 405, methodText);
  return false;
}

function followJob({ request, response }: Exchange, job: Job): void {
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-cache' });
  response.flushHeaders();
  const lastEventId = request.headers['last-event-id'];
  job.read(response, typeof lastEventId === 'string' ? lastEventId : undefined);
}

/** Returns null if it is longer. */
async function readText(exchange: Exchange, bytesMax: number): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const body: AsyncIterable<Buffer> = takeBody(exchange).iterator({ destroyOnReturn: false });
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

interface AskedCommand {
  /** Empty if the field is absent or null. */
  readonly command: string;
  readonly key: string | null;
}

/**
 * Returns null if the standard runtime could not read the body. It does not know keys, so an
 * invalid key is ignored.
 */
function execRequestOf(text: string): AskedCommand | null {
  const value = jsonOf(text);
  if (value === null) return { command: '', key: null };
  if (typeof value !== 'object' || Array.isArray(value)) return null;
  const { command = null, key } = value as Readonly<Record<string, unknown>>;
  if (command !== null && typeof command !== 'string') return null;
  const isKey = typeof key === 'string' && jobKeyPattern.test(key);
  return { command: command ?? '', key: isKey ? key : null };
}

/** Undefined if the text is not JSON. */
function jsonOf(text: string): unknown {
  try {
    return parseFirstJson(text);
  } catch {
    return undefined;
  }
}

function splitUrl(url: string): readonly [string, string] {
  // A proxy sends the whole URL.
  const local = url.replace(/^https?:\/\/[^/?]*/i, '');
  const at = local.indexOf('?');
  return at === -1 ? [local, ''] : [local.slice(0, at), local.slice(at)];
}

/** Normalizes like the standard runtime's router: removes empty and dotted segments. */
function cleanPath(path: string): string {
  return path === '' ? '/' : posix.normalize(`/${path}`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
