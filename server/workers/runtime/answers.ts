// The runtime's responses: a refusal is one line of text, sent so that the client always reads it.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * How long a body is read after an early response, because a client that is still sending would see
 * a reset instead of the response.
 */
const bodyAfterAnswerMs = 2000;
const plainText = 'text/plain; charset=utf-8';

export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Requests the body from a client that waits for permission to send it (`Expect: 100-continue`). A
 * refused request only gets its refusal.
 */
export function takeBody({ request, response }: Exchange): IncomingMessage {
  if (request.headers.expect !== undefined) response.writeContinue();
  return request;
}

/** One line and its newline. */
export async function refuse(exchange: Exchange, status: number, text: string): Promise<void> {
  exchange.response.setHeader('X-Content-Type-Options', 'nosniff');
  await answer(exchange, status, plainText, `${text}\n`);
}

export async function answerText(exchange: Exchange, status: number, text: string): Promise<void> {
  await answer(exchange, status, plainText, text);
}

export async function answer(
  { request, response }: Exchange,
  status: number,
  type: string,
  text: string,
): Promise<void> {
  const isEarly = !request.complete && hasBody(request);
  if (isEarly) response.setHeader('Connection', 'close');
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) });
  if (isEarly) {
    response.write(text);
    await bodyRead(request);
    response.end();
  } else response.end(text);
}

function hasBody({ headers }: IncomingMessage): boolean {
  const isEmpty = headers['content-length'] === undefined || headers['content-length'] === '0';
  return headers['transfer-encoding'] !== undefined || !isEmpty;
}

async function bodyRead(request: IncomingMessage): Promise<void> {
  const timer = new AbortController();
  const over = new Promise<void>((resolve) => {
    request.once('end', resolve);
    request.once('close', resolve);
  });
  request.on('error', () => undefined);
  request.resume();
  const late = delay(bodyAfterAnswerMs, undefined, { signal: timer.signal }).catch(() => undefined);
  await Promise.race([over, late]);
  timer.abort();
}
