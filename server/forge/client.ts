// A client for one host. Every request is limited, the host's rate limit is a result, and the token
// is only sent to that host.

import { isObject, type JsonObject } from '../core/exchange/json-object.ts';
import { messageOf, oneLine, refusalOf, wordsOf } from './client-words.ts';
import { causeOfErrors } from './graphql-errors.ts';
import { type Answer, facts, unreadable } from './port.ts';

export interface ForgeClientDeps {
  /** Ends with a slash, such as `https://api.github.com/`. */
  readonly baseUrl: string;
  readonly token: string | null;
  readonly nowMs: () => number;
  /** Share of the host's hourly requests that is left to the user. Absent = 0. */
  readonly reserve?: number;
  readonly fetch?: typeof fetch;
}

export interface Page {
  readonly body: unknown;
  /** The path of the next page, relative to the base URL; null on the last page. */
  readonly next: string | null;
  /** Scopes of a classic token; null for other tokens, whose permissions no response reports. */
  readonly scopes: readonly string[] | null;
  /** Changes whenever the response does; null if the host sent none. */
  readonly tag: string | null;
}

/** How long the last response to a query is reused, because GraphQL has no free "not modified". */
export interface QueryMemory {
  /** Tags of REST responses that change with it; null if one is unknown. */
  readonly witness: string | null;
  /** Number of uses before it is queried again, for changes that no such tag shows. */
  readonly uses: number;
}

const requestTimeoutMs = 30_000;
const answerBytesMax = 16 * 1024 * 1024;
const textBytesMax = 64 * 1024 * 1024;
/** GitHub's documentation: without `retry-after`, wait for at least a minute. */
const secondaryPauseMs = 60_000;
const redirectsMax = 3;
/**
 * A response is cached with its tag, because requesting it again is free if it has not changed. It
 * is dropped if it was not requested for this long, which exceeds any poll interval, so that the
 * cache only grows with the number of watched items.
 */
const unusedMaxMs = 2 * 3_600_000;
/** Requesting data that the token may not read costs a request each time. */
const refusedMs = 30 * 60_000;

type SendMethod = 'POST' | 'PATCH' | 'DELETE';

interface KnownQuery {
  readonly answer: Answer<JsonObject>;
  readonly witness: string;
  readonly usesLeft: number;
  readonly usedMs: number;
}

interface Sent {
  readonly method: 'GET' | SendMethod;
  readonly body?: object;
  readonly isQuery?: true;
}

export class ForgeClient {
  readonly #deps: ForgeClientDeps;
  readonly #base: URL;
  #pausedUntilMs = 0;
  /** By URL, least recently used first. */
  readonly #known = new Map<string, { readonly page: Page; readonly usedMs: number }>();
  readonly #queries = new Map<string, KnownQuery>();
  readonly #refused = new Map<
    string,
    { readonly answer: Answer<Page>; readonly untilMs: number }
  >();

  constructor(deps: ForgeClientDeps) {
    this.#deps = deps;
    this.#base = new URL(deps.baseUrl);
  }

  nowMs(): number {
    return this.#deps.nowMs();
  }

  isFor(baseUrl: string, token: string | null): boolean {
    return this.#deps.baseUrl === baseUrl && this.#deps.token === token;
  }

  /**
   * `right`: a name for the permission that the token needs. Requests with the same right are
   * refused alike, so only the first one is sent.
   */
  async get(path: string, right: string | null = null): Promise<Answer<Page>> {
    const known = right === null ? undefined : this.#refused.get(right);
    if (known !== undefined && this.#deps.nowMs() < known.untilMs) return known.answer;
    const answer = await this.#ask(new URL(path, this.#base), { method: 'GET' });
    const isRefused = answer.kind === 'unreadable' && answer.cause === 'refused';
    if (right !== null && isRefused)
      this.#refused.set(right, { answer, untilMs: this.#deps.nowMs() + refusedMs });
    return answer;
  }

  /**
   * Reads a text that may be on another host. That host does not get the token: its URL already
   * grants access.
   */
  async download(path: string, take: (text: string) => void): Promise<Answer<null>> {
    const url = new URL(path, this.#base);
    if (this.#deps.nowMs() < this.#pausedUntilMs)
      return { kind: 'limited', untilMs: this.#pausedUntilMs };
    const named = await this.#send(url, { method: 'GET' });
    if (typeof named === 'string') return unreadable(named);
    const location = named.headers.get('location') ?? '';
    if (named.status !== 302 || !URL.canParse(location)) {
      const answer = await this.#judge(named, url, { method: 'GET' });
      return answer.kind === 'facts' ? unreadable(`${url.host} names no place.`) : answer;
    }
    const place = new URL(location);
    if (place.protocol !== 'https:' && this.#base.protocol === 'https:')
      return unreadable(`${url.host} names a place without encryption.`);
    return await this.#stream(place, take);
  }

  async #stream(place: URL, take: (text: string) => void): Promise<Answer<null>> {
    const { fetch: send = fetch } = this.#deps;
    try {
      const signal = AbortSignal.timeout(requestTimeoutMs);
      const response = await send(place, { redirect: 'error', signal });
      if (!response.ok) return unreadable(`${place.host} answered with status ${response.status}.`);
      const decoder = new TextDecoder();
      let bytes = 0;
      for await (const chunk of response.body ?? []) {
        bytes += chunk.length;
        if (bytes > textBytesMax) break;
        take(decoder.decode(chunk, { stream: true }));
      }
      return facts(null);
    } catch (error) {
      return unreadable(`${place.host} cannot be reached: ${reasonOf(error)}.`);
    }
  }

  async send(method: SendMethod, path: string, body?: object): Promise<Answer<Page>> {
    return await this.#ask(new URL(path, this.#base), {
      method,
      ...(body === undefined ? {} : { body }),
    });
  }

  /** `memory`: lets the last answer to the same query count again; without it, none is kept. */
  async graphql(
    query: string,
    variables: object,
    { witness, uses }: QueryMemory = { witness: null, uses: 0 },
  ): Promise<Answer<JsonObject>> {
    // A write changes the responses, possibly before REST shows it.
    if (query.startsWith('mutation')) this.#queries.clear();
    const key = JSON.stringify({ query, variables });
    const known = this.#queries.get(key);
    this.#queries.delete(key);
    const isSame = known !== undefined && witness !== null && known.witness === witness;
    if (isSame && known.usesLeft > 0) {
      this.#rememberQuery(key, { ...known, usesLeft: known.usesLeft - 1 });
      return known.answer;
    }
    const answer = await this.#query(query, variables);
    const isLasting =
      answer.kind === 'facts' || (answer.kind === 'unreadable' && answer.cause !== 'other');
    if (witness !== null && isLasting)
      this.#rememberQuery(key, { answer, witness, usesLeft: uses, usedMs: 0 });
    return answer;
  }

  #rememberQuery(key: string, known: KnownQuery): void {
    const usedMs = this.#deps.nowMs();
    this.#queries.set(key, { ...known, usedMs });
    forgetUnused(this.#queries, usedMs);
  }

  /** GraphQL responds with status 200 even if it refuses. */
  async #query(query: string, variables: object): Promise<Answer<JsonObject>> {
    const path = this.#base.pathname.endsWith('/v3/') ? '../graphql' : 'graphql';
    const url = new URL(path, this.#base);
    const sent: Sent = { method: 'POST', body: { query, variables }, isQuery: true };
    const answer = await this.#ask(url, sent);
    if (answer.kind !== 'facts') return answer;
    const { body } = answer.value;
    const data = isObject(body) ? body['data'] : undefined;
    return isObject(data)
      ? facts(data)
      : unreadable(`${this.#base.host}'s answer contains no data.`);
  }

  async #ask(first: URL, sent: Sent): Promise<Answer<Page>> {
    let url = first;
    for (let redirects = 0; redirects <= redirectsMax; redirects += 1) {
      if (this.#deps.nowMs() < this.#pausedUntilMs) {
        return { kind: 'limited', untilMs: this.#pausedUntilMs };
      }
      const response = await this.#send(url, sent);
      if (typeof response === 'string') return unreadable(response);
      const moved = this.#movedTo(response, url);
      if (moved !== null) {
        url = moved;
        continue;
      }
      this.#leaveReserve(response);
      return await this.#judge(response, url, sent);
    }
    return unreadable(`${this.#base.host} keeps redirecting.`);
  }

  async #send(url: URL, { method, body }: Sent): Promise<Response | string> {
    const { token, fetch: send = fetch } = this.#deps;
    const known = method === 'GET' ? this.#known.get(url.href) : undefined;
    try {
      return await send(url, {
        method,
        redirect: 'manual',
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(requestTimeoutMs),
        headers: {
          accept: 'application/vnd.github+json',
          'user-agent': 'drover',
          'x-github-api-version': '2022-11-28',
          ...(known === undefined ? {} : { 'if-none-match': known.page.tag ?? '' }),
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(token === null ? {} : { authorization: `Bearer ${token}` }),
        },
      });
    } catch (error) {
      return `${this.#base.host} cannot be reached: ${reasonOf(error)}.`;
    }
  }

  /** Follows a redirect only to the same host, because the request includes the token. */
  #movedTo(response: Response, from: URL): URL | null {
    const location = response.headers.get('location');
    if (response.status < 301 || response.status > 308 || location === null) return null;
    const url = new URL(location, from);
    return url.origin === this.#base.origin ? url : null;
  }

  async #judge(response: Response, url: URL, { method, isQuery }: Sent): Promise<Answer<Page>> {
    const known = this.#known.get(url.href);
    if (response.status === 304 && known !== undefined) {
      this.#remember(url.href, known.page);
      return facts(known.page);
    }
    const text = await boundedText(response);
    if (text === null) return unreadable(`${url.host} sent an answer that is too large.`);
    const body = jsonOf(text);
    if (response.ok) {
      if (body === undefined) return unreadable(`${url.host} did not answer with JSON.`);
      const errors = isQuery === true && isObject(body) ? body['errors'] : undefined;
      if (errors !== undefined) return this.#refusedQuery(response, errors);
      const tag = response.headers.get('etag');
      const page = { body, next: this.#nextOf(response), scopes: scopesOf(response), tag };
      if (method === 'GET') this.#remember(url.href, page);
      return facts(page);
    }
    const limitedUntilMs = this.#limitOf(response, text);
    if (limitedUntilMs !== null) return this.#pause(limitedUntilMs);
    const { headers, status } = response;
    const needs = oneLine(headers.get('x-accepted-github-permissions') ?? '');
    const refusal = {
      ...refusalOf(status, url, this.#deps.token, messageOf(body)),
      ...(status === 403 && needs !== '' ? { needs } : {}),
    };
    if (method === 'GET' || isQuery === true || status !== 403) return refusal;
    const rights = needs === '' ? '' : ` (it needs ${needs})`;
    const path = `${url.host}${url.pathname}`;
    const why = `This token may not write to ${path}${messageOf(body)}${rights}.`;
    return { ...refusal, why };
  }

  #pause(untilMs: number): Answer<never> {
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, untilMs);
    return { kind: 'limited', untilMs };
  }

  #refusedQuery(response: Response, errors: unknown): Answer<never> {
    const cause = causeOfErrors(errors);
    if (cause === 'limited')
      return this.#pause(this.#resetOf(response) ?? this.#deps.nowMs() + secondaryPauseMs);
    return { kind: 'unreadable', why: `${this.#base.host} refuses: ${wordsOf(errors)}.`, cause };
  }

  #remember(href: string, page: Page): void {
    this.#known.delete(href);
    if (page.tag === null) return;
    const usedMs = this.#deps.nowMs();
    this.#known.set(href, { page, usedMs });
    forgetUnused(this.#known, usedMs);
  }

  #leaveReserve({ headers }: Response): void {
    const { reserve = 0 } = this.#deps;
    const left = Number(headers.get('x-ratelimit-remaining') ?? Number.NaN);
    const limit = Number(headers.get('x-ratelimit-limit') ?? Number.NaN);
    const resetS = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
    if (left < limit * reserve && Number.isFinite(resetS))
      this.#pausedUntilMs = Math.max(this.#pausedUntilMs, resetS * 1_000);
  }

  /** The next page if it is on the same host; otherwise null. */
  #nextOf(response: Response): string | null {
    const link = /<([^>]+)>;\s*rel="next"/u.exec(response.headers.get('link') ?? '')?.[1];
    if (link === undefined || !URL.canParse(link, this.#base.href)) return null;
    const url = new URL(link, this.#base);
    return url.origin === this.#base.origin ? url.href : null;
  }

  /**
   * When the host may be queried again. A secondary limit does not show in the primary budget, only
   * in the `retry-after` header and the body.
   */
  #limitOf(response: Response, text: string): number | null {
    if (response.status !== 403 && response.status !== 429) return null;
    const now = this.#deps.nowMs();
    const afterS = Number(response.headers.get('retry-after') ?? Number.NaN);
    if (Number.isFinite(afterS) && afterS >= 0) return now + afterS * 1_000;
    if (response.headers.get('x-ratelimit-remaining') === '0')
      return this.#resetOf(response) ?? now + secondaryPauseMs;
    const isSecondary = response.status === 429 || /secondary rate limit/iu.test(text);
    return isSecondary ? now + secondaryPauseMs : null;
  }

  #resetOf({ headers }: Response): number | null {
    const resetS = Number(headers.get('x-ratelimit-reset') ?? Number.NaN);
    return Number.isFinite(resetS) ? Math.max(this.#deps.nowMs(), resetS * 1_000) : null;
  }
}

function forgetUnused(known: Map<string, { readonly usedMs: number }>, nowMs: number): void {
  for (const [key, { usedMs }] of known) {
    if (nowMs - usedMs <= unusedMaxMs) return;
    known.delete(key);
  }
}

function scopesOf({ headers }: Response): readonly string[] | null {
  const scopes = headers.get('x-oauth-scopes');
  return scopes === null ? null : scopes.split(/[\s,]+/u).filter((scope) => scope !== '');
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
