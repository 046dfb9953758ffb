// Posts one webhook. The address is checked after the name was resolved and then used for the
// connection, so that no name leads into the private network. Redirects are not followed.

import { lookup as lookUp, type LookupAddress, type LookupOptions } from 'node:dns';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { BlockList, isIP } from 'node:net';
import type { PostOutcome } from '../core/webhooks/webhook-schedule.ts';

export interface WebhookPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Limit of the response body, which is not used. A receiver that sends more is disconnected. */
const answerBytesMax = 64 * 1024;

export async function postWebhook(post: WebhookPost): Promise<PostOutcome> {
  const url = new URL(post.url);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (!post.allowPrivate && isIP(host) !== 0 && isPrivate(host)) return refused(host);
  const timeout = AbortSignal.timeout(post.timeoutMs);
  const request = url.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise<PostOutcome>((resolve) => {
    const fail = (error: unknown): void => {
      const reason = timeout.aborted
        ? `No answer within ${post.timeoutMs / 1_000} s.`
        : reasonOf(error);
      resolve({ kind: 'failed', reason });
    };
    const sent = request(
      url,
      {
        method: 'POST',
        headers: { ...post.headers, 'content-length': Buffer.byteLength(post.body) },
        signal: AbortSignal.any([post.signal, timeout]),
        agent: false,
        ...(!post.allowPrivate && { lookup: publicLookup }),
      },
      (answer) => {
        let bytes = 0;
        answer.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > answerBytesMax) answer.destroy();
        });
        // The status decides, so errors in the rest of the response do not matter.
        answer.on('error', () => undefined);
        resolve({
          kind: 'answered',
          status: answer.statusCode ?? 0,
          retryAfterMs: retryAfterMs(answer.headers['retry-after'], Date.now()),
        });
      },
    );
    sent.on('error', fail);
    sent.end(post.body);
  });
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'The connection failed.';
  const { code } = error as NodeJS.ErrnoException;
  if (code === privateCode) return error.message;
  // Only the code, because the message may contain the URL.
  return code === undefined ? 'The connection failed.' : `The connection failed (${code}).`;
}

/** Seconds, or an HTTP date. */
export function retryAfterMs(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header.trim()) * 1_000;
  const atMs = Date.parse(header);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

const privateCode = 'DROVER_PRIVATE';

function privateWords(host: string): string {
  return `${host} is an address of this machine or of a private network. Set webhooks.allow_private = true to send there.`;
}

function refused(host: string): PostOutcome {
  return { kind: 'failed', reason: privateWords(host) };
}

type LookupDone = (
  error: NodeJS.ErrnoException | null,
  address: string | LookupAddress[],
  family?: number,
) => void;

/** Like `dns.lookup`, but fails if any address of the name is private. */
function publicLookup(host: string, options: LookupOptions, done: LookupDone): void {
  lookUp(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return done(error, []);
    if (addresses.some(({ address }) => isPrivate(address))) {
      return done(Object.assign(new Error(privateWords(host)), { code: privateCode }), []);
    }
    if (options.all === true) return done(null, addresses);
    const [first] = addresses;
    done(null, first?.address ?? '', first?.family);
  });
}

const privateRanges = new BlockList();
for (const [address, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const) {
  privateRanges.addSubnet(address, bits, 'ipv4');
}
for (const [address, bits] of [
  ['::', 96],
  ['64:ff9b::', 96],
  ['64:ff9b:1::', 48],
  ['2002::', 16],
  ['fc00::', 7],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const) {
  privateRanges.addSubnet(address, bits, 'ipv6');
}

/**
 * True for this machine, private and link-local networks, and addresses that embed one of these.
 */
export function isPrivate(address: string): boolean {
  return privateRanges.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
}
