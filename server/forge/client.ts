// One client for one host: every request has a bound, a limit of the host is an answer, and the
// token is sent to that host alone.

import { type Answer, facts, unreadable, type Unreadable } from './port.ts';

export interface ForgeClientDeps {
  /** With a trailing slash, such as `https://api.github.com/`. */
  readonly baseUrl: string;
  readonly token: string | null;
  readonly nowMs: () => number;
  readonly fetch?: typeof fetch;
}

export interface Page {
  readonly body: unknown;
  /** The path of the next page, relative to the base; null on the last one. */
  readonly next: string | null;
}

const requestTimeoutMs = 30_000;
const answerBytesMax = 16 * 1024 * 1024;
/** GitHub's documentation: without `retry-after`, wait for at least a minute. */
const secondaryPauseMs = 60_000;
const redirectsMax = 3;

export class ForgeClient {
  readonly #deps: ForgeClientDeps;
  readonly #base: URL;
  #pausedUntilMs = 0;

  constructor(deps: ForgeClientDeps) {
    this.#deps = deps;
    this.#base = new URL(deps.baseUrl);
  }

  async get(path: string): Promise<Answer<Page>> {
    let url = new URL(path, this.#base);
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      if (this.#deps.nowMs() < this.#pausedUntilMs) {
        return { kind: 'limited', untilMs: this.#pausedUntilMs };
      }
      const response = await this.#send(url);
      if (typeof response === 'string') return unreadable(response);
      const moved = this.#movedTo(response, url);
      if (moved !== null) {
        url = moved;
        continue;
      }
      return await this.#judge(response, url);
    }
    return unreadable(`${this.#base.host} redirects without end.`);
  }

  async #send(url: URL): Promise<Response | string> {
    const { token, fetch: send = fetch } = this.#deps;
    try {
      return await send(url, {
        redirect: 'manual',
        signal: AbortSignal.timeout(requestTimeoutMs),
        headers: {
          accept: 'application/vnd.github+json',
          'user-agent': 'drover',
          'x-github-api-version': '2022-11-28',
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
      });
    } catch (error) {
      return `${this.#base.host} cannot be reached: ${reasonOf(error)}.`;
    }
  }

  /** Only to the same host: the token goes with the request. */
  #movedTo(response: Response, from: URL): URL | null {
    const location = response.headers.get('location');
    if (response.status < 301 || response.status > 308 || location === null) return null;
    const url = new URL(location, from);
    return url.origin === this.#base.origin ? url : null;
  }

  async #judge(response: Response, url: URL): Promise<Answer<Page>> {
    const text = await boundedText(response);
    if (text === null) return unreadable(`${url.host} answers with too much.`);
    const body = jsonOf(text);
    if (response.ok) {
      if (body === undefined) return unreadable(`${url.host} answers no JSON.`);
      return facts({ body, next: this.#nextOf(response) });
    }
    const limitedUntilMs = this.#limitOf(response, text);
    if (limitedUntilMs !== null) {
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, limitedUntilMs);
      return { kind: 'limited', untilMs: limitedUntilMs };
    }
    return refused(response.status, url, this.#deps.token);
  }

  /** A page of the same host; anything else is not followed. */
  #nextOf(response: Response): string | null {
    const link = /<([^>]+)>;\s*rel="next"/u.exec(response.headers.get('link') ?? '')?.[1];
    if (link === undefined || !URL.canParse(link, this.#base.href)) return null;
    const url = new URL(link, this.#base);
    return url.origin === this.#base.origin ? url.href : null;
  }

  /**
   * When the host may be asked again. A secondary limit leaves the primary budget full: only the
   * header `retry-after` and the body tell it.
   */
  #limitOf(response: Response, text: string): number | null {
    if (response.status !== 403 && response.status !== 429) return null;
    const now = this.#deps.nowMs();
    const afterS = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (Number.isFinite(afterS) && afterS >= 0) return now + afterS * 1_000;
    if (response.headers.get('x-ratelimit-remaining') === '0') {
      const resetS = Number(response.headers.get('x-ratelimit-reset') ?? Number.NaN);
      return Number.isFinite(resetS) ? Math.max(now, resetS * 1_000) : now + secondaryPauseMs;
    }
    const isSecondary = response.status === 429 || /secondary rate limit/iu.test(text);
    return isSecondary ? now + secondaryPauseMs : null;
  }
}

function refused(status: number, { host, pathname }: URL, token: string | null): Unreadable {
  const place = `${host}${pathname}`;
  const told = (cause: Unreadable['cause'], why: string): Unreadable => ({
    kind: 'unreadable',
    why,
    cause,
  });
  switch (status) {
    case 401: {
      const remedy = 'Sign in again (gh auth login), or renew GH_TOKEN.';
      return told('signed_out', `${host} does not accept the token. ${remedy}`);
    }
    case 403:
      return told('other', `${place} may not be read with this token.`);
    case 404:
    case 410: {
      if (token !== null)
        return told('absent', `${place} does not exist, or this token may not read it.`);
      const remedy = 'sign in (gh auth login), or set GH_TOKEN';
      return told('signed_out', `${place} does not exist, or needs a token: ${remedy}.`);
    }
    default:
      return told('other', `${place} answered with status ${status}.`);
  }
}

async function boundedText(response: Response): Promise<string | null> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return cause === '' ? error.message : cause;
}
