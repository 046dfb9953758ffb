// HTTP to a worker: only with the instance's own token, without redirects or an idle limit, and
// with limited texts.

import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { Readable } from 'node:stream';

export interface WorkerAddress {
  readonly url: string;
  /** A socket file for the connection. Host and port of `url` are then only a name. */
  readonly socketPath?: string;
  /** Secret of this instance only. */
  readonly token: string;
}

export interface WorkerRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Readable | string;
  readonly signal?: AbortSignal;
  /** How long to wait for the response's headers. Absent = no limit. */
  readonly answerMs?: number;
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Returns null if the URL may be used. A worker on another host must be reached by https. */
export function badAddress(url: string): string | null {
  if (!URL.canParse(url)) return `The worker's address "${url}" is not a URL.`;
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== '' || password !== '') {
    return "The worker's address must not hold a user name or a password.";
  }
  if (protocol === 'https:') return null;
  if (protocol === 'http:' && loopback.test(hostname)) return null;
  return `The worker's address ${url} must start with https:// (http:// is allowed for loopback only).`;
}

/** Rejects for connection problems. Any status is a response. */
export function askWorker(worker: WorkerAddress, request: WorkerRequest): Promise<IncomingMessage> {
  const url = new URL(request.path, worker.url);
  const send = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const sent = send(url, {
      method: request.method,
      headers: { authorization: `Bearer ${worker.token}`, ...request.headers },
      agent: false,
      ...(worker.socketPath === undefined ? {} : { socketPath: worker.socketPath }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const timer =
      request.answerMs === undefined
        ? null
        : setTimeout(() => sent.destroy(new Error('the worker does not answer')), request.answerMs);
    const settle = (): void => {
      if (timer !== null) clearTimeout(timer);
    };
    sent.once('response', (answer) => {
      settle();
      // After an early response, that response describes the failure.
      sent.on('error', () => undefined);
      resolve(answer);
    });
    sent.once('error', (error) => {
      settle();
      reject(error);
    });
    const { body } = request;
    if (body === undefined || typeof body === 'string') {
      sent.end(body);
      return;
    }
    body.once('error', (error) => sent.destroy(error));
    body.pipe(sent);
  });
}

const textBytesMax = 64 * 1024;
/** Texts are one line, so a body that takes longer never ends. */
const textMs = 10_000;

/** The start of a response's body. */
export async function readText(answer: IncomingMessage, limitMs = textMs): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const timer = setTimeout(() => answer.destroy(), limitMs);
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= textBytesMax) break;
    }
  } catch {
    // The connection broke after the received part.
  } finally {
    clearTimeout(timer);
  }
  answer.destroy();
  return Buffer.concat(chunks).toString('utf8').slice(0, textBytesMax);
}

/** One line for messages, without control characters. */
export function toSingleLine(text: string, max = 300): string {
  return text
    .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
    .trim()
    .slice(0, max);
}
