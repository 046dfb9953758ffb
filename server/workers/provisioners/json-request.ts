// One JSON request to a provisioner's API, over TCP or a socket file, with limited time and size
// and no redirects.

import { request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as requestHttps } from 'node:https';
import { err, ok, type Result } from '../../core/failure.ts';
import { toSingleLine } from '../client/request.ts';

export interface JsonEndpoint {
  /** `https://…`, or `http://…` on loopback. With `socketPath`, its host is ignored. */
  readonly url: string;
  readonly socketPath?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface JsonRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface JsonAnswer {
  readonly status: number;
  /** Null if it has no body or no JSON. */
  readonly value: unknown;
}

const timeoutMs = 60_000;
const bytesMax = 8 * 1024 * 1024;

/** The error is the reason without a full stop. It is unknown whether the request had an effect. */
export async function askJson(
  endpoint: JsonEndpoint,
  asked: JsonRequest,
): Promise<Result<JsonAnswer, string>> {
  const url = new URL(asked.path, endpoint.url);
  const limit = AbortSignal.timeout(timeoutMs);
  const body = asked.body === undefined ? null : JSON.stringify(asked.body);
  const options: RequestOptions = {
    method: asked.method,
    agent: false,
    signal: asked.signal === undefined ? limit : AbortSignal.any([limit, asked.signal]),
    ...(endpoint.socketPath === undefined ? {} : { socketPath: endpoint.socketPath }),
    headers: {
      ...endpoint.headers,
      ...(body === null
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    },
  };
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const send = url.protocol === 'https:' ? requestHttps : requestHttp;
      const sent = send(url, options, resolve).on('error', reject);
      sent.end(body ?? undefined);
    });
    return ok({ status: answer.statusCode ?? 0, value: parsed(await textOf(answer)) });
  } catch (error) {
    if (limit.aborted) return err(`it did not answer within ${timeoutMs / 1000} s`);
    return err(toSingleLine(error instanceof Error ? error.message : String(error)));
  }
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw new Error('its answer is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
