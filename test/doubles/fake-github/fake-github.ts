// An in-memory GitHub server with the part of the REST API that Drover uses. Every request and
// every answer is checked against GitHub's published description.

import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { blockersOf, childrenOf, type FakeIssue, issueBody, milestoneBody } from './bodies.ts';
import { GitBackend } from './git-backend.ts';
import { faultsOfQuery } from './graphql-schema.ts';
import { type FakeComment, IssueWrites, ownLogin } from './issue-writes.ts';
import { answerToPerson, resolvedThread } from './people.ts';
import { logOf } from './jobs.ts';
import { FakePulls, type PullState } from './pulls.ts';
import { answerAbout, freshRepository, type RepositoryState } from './repository.ts';
import { permissionFor, queryErrors, refusalOf, scopesOf, type TokenKind } from './rights.ts';
import { PublishedSchema, type Release } from './published-schema.ts';

export interface FakeGithub extends PullState, RepositoryState {
  readonly git: GitBackend;
  /** Has a trailing slash; a remote on the server starts with it. */
  readonly url: string;
  readonly issues: FakeIssue[];
  readonly comments: FakeComment[];
  /** A renamed repository: old slug → new one. */
  readonly moved: Map<string, string>;
  /** Its pull requests and its git repository are renamed with it. */
  rename(slug: string, to: string): void;
  /** Sent in response to the next request instead of its usual answer. */
  readonly next: Refused[];
  /** Maps the end of a path to its answer. */
  readonly refused: Map<string, Refused>;
  /** Maps part of a GraphQL query to its answer. */
  readonly failingQueries: [string, { body: object; headers?: Record<string, string> }][];
  readonly requests: string[];
  /** The requests that count toward the hourly limit: all except those answered with status 304. */
  readonly counted: string[];
  readonly authorizations: Set<string>;
  /** Permissions that the requests require from a token. */
  readonly needed: Set<string>;
  /** Maps another person's token to the login. */
  readonly people: Map<string, string>;
  /** Requests that the description does not allow. A test that uses the fake must end with none. */
  readonly faults: string[];
  close(): Promise<void>;
}

export interface Refused {
  readonly status: number;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface FakeGithubOptions {
  readonly release?: Release;
  /** Null if everything is public. */
  readonly token?: string | null;
  /** `classic` if absent. */
  readonly kind?: TokenKind;
}

const schemas = new Map<Release, PublishedSchema>();

function schemaOf(release: Release): PublishedSchema {
  const schema = schemas.get(release) ?? new PublishedSchema(release);
  schemas.set(release, schema);
  return schema;
}

export async function startFakeGithub({
  release = 'api.github.com',
  token = null,
  kind = 'classic',
}: FakeGithubOptions = {}): Promise<FakeGithub> {
  const schema = schemaOf(release);
  const relations = schema.pathOf('GET', '/repos/o/r/issues/1/dependencies/blocked_by') !== null;
  const git = new GitBackend();
  const pulls = new FakePulls(schema, git, () => fake.repository.user);
  const issues: FakeIssue[] = [];
  const writes = new IssueWrites(schema, issues);
  const fake = {
    ...pulls.state,
    git,
    repository: freshRepository(),
    url: '',
    issues,
    comments: writes.comments,
    moved: new Map<string, string>(),
    next: [] as Refused[],
    refused: new Map<string, Refused>(),
    failingQueries: [] as [string, { body: object; headers?: Record<string, string> }][],
    requests: [] as string[],
    counted: [] as string[],
    authorizations: new Set<string>(),
    needed: new Set<string>(),
    people: new Map<string, string>(),
    faults: [] as string[],
  };
  const answerOf = (request: IncomingMessage, url: URL, body: object): Answer => {
    const [, ofPath] = [...fake.refused].find(([end]) => url.pathname.endsWith(end)) ?? [];
    const refused = fake.next.shift() ?? ofPath;
    if (refused !== undefined) {
      const { status, message, headers = {} } = refused;
      return { status, headers, body: errorBody(message, status) };
    }
    const authorization = request.headers.authorization;
    if (authorization !== undefined) fake.authorizations.add(authorization);
    const login = fake.people.get(authorization?.replace(/^(?:token|Bearer) /u, '') ?? '');
    if (
      token !== null &&
      login === undefined &&
      authorization?.replace(/^token /u, 'Bearer ') !== `Bearer ${token}`
    ) {
      const status = authorization === undefined ? 404 : 401;
      return { status, headers: {}, body: errorBody('Not Found', status) };
    }
    const isQuery = url.pathname === '/api/graphql';
    const { query: queried = '' } = body as { readonly query?: string };
    const words = isQuery ? queried : `${request.method} ${url.pathname}`;
    fake.needed.add(permissionFor(words));
    const notAllowed = refusalOf(kind, words);
    if (notAllowed !== null && isQuery)
      return { status: 200, headers: {}, body: queryErrors('FORBIDDEN') };
    if (notAllowed !== null) {
      const { status, message, headers = {} } = notAllowed;
      return { status, headers, body: errorBody(message, status) };
    }
    if (url.pathname === '/api/graphql') {
      const { query = '', variables = {} } = body as {
        readonly query?: string;
        readonly variables?: Readonly<Record<string, unknown>>;
      };
      fake.faults.push(...faultsOfQuery(query));
      const failure = fake.failingQueries.find(([words]) => query.includes(words))?.[1];
      if (failure !== undefined)
        return { status: 200, headers: failure.headers ?? {}, body: failure.body };
      const resolved = resolvedThread(pulls.state, query, variables);
      return { status: 200, headers: {}, body: resolved ?? pulls.graphql(query, variables) };
    }
    const known = answerAbout(url.pathname, fake, { schema, release });
    if (known !== null) return { ...known, headers: {} };
    const [, slug = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/(.+)$/u.exec(url.pathname) ?? [];
    const asked = {
      method: request.method ?? 'GET',
      slug,
      rest,
      query: url.searchParams,
      body: body as Readonly<Record<string, unknown>>,
      base: fake.url,
    };
    const moved = fake.moved.get(slug);
    if (moved !== undefined) {
      const location = `${fake.url}api/v3/repos/${moved}/${rest}${url.search}`;
      const status = asked.method === 'GET' ? 301 : 307;
      return { status, headers: { location }, body: errorBody('Moved Permanently', status) };
    }
    const said = { ...asked, login: login ?? ownLogin };
    const ofPerson = answerToPerson({ schema, state: pulls.state }, said);
    if (ofPerson !== null) return { ...ofPerson, headers: {} };
    const written = writes.answer(asked);
    if (written !== null && written.body !== null) return { ...written, headers: {} };
    const ofPull = pulls.answer(asked);
    if (ofPull?.isList === true) {
      const question = { url, base: fake.url, relations, state: fake };
      return page(question, ofPull.body as readonly object[]);
    }
    if (ofPull?.location !== undefined) {
      const logs = new URL(ofPull.location, fake.url.replace('127.0.0.1', 'localhost'));
      return { ...ofPull, headers: { location: logs.href } };
    }
    if (ofPull !== null) return { ...ofPull, headers: {} };
    const asIs = { base: fake.url, relations, state: fake };
    if (written === null) return route({ url, ...asIs });
    // The issue in its current state.
    const own = new URL(url.href.replace(/\/assignees$/u, ''));
    return { ...route({ url: own, ...asIs }), status: written.status };
  };
  const checked = new Set<string>();
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const sent = await bodyOf(request);
    const full = new URL(request.url ?? '', fake.url);
    const url = new URL(full.href.replace('/api/v3/', '/'));
    const method = request.method ?? 'GET';
    if (/\.git\/(?:info\/refs|git-[a-z]+-pack)$/u.test(url.pathname)) {
      const basic = Buffer.from(`x-access-token:${token}`).toString('base64');
      if (token !== null && request.headers.authorization !== `Basic ${basic}`) {
        response.writeHead(401, { 'www-authenticate': 'Basic realm="fake"' }).end();
        return;
      }
      const service = url.searchParams.get('service') ?? url.pathname.split('/').at(-1);
      fake.needed.add(permissionFor(`/${service}`));
      if (refusalOf(kind, `/${service}`) !== null) {
        response.writeHead(403).end('Write access to repository not granted.');
        return;
      }
      await git.serve(request, response, sent);
      if (service === 'git-receive-pack') pulls.afterPush(slugOf(url.pathname));
      return;
    }
    const log = logOf(pulls.state, Number(/^\/logs\/(\d+)$/u.exec(url.pathname)?.[1]));
    if (log !== null) {
      if (request.headers.authorization !== undefined) fake.faults.push('a token for the logs');
      response.end(log);
      return;
    }
    fake.requests.push(`${method} ${url.pathname}${url.search}`);
    const body = sent.length === 0 ? {} : (JSON.parse(sent.toString('utf8')) as object);
    const isQuery = url.pathname === '/api/graphql';
    const isKnown = isQuery || schema.pathOf(method, url.pathname) !== null;
    if (isKnown && !isQuery) {
      fake.faults.push(...schema.faultsOfRequest(method, url));
      if (sent.length > 0) fake.faults.push(...schema.faultsOfBody(method, url.pathname, body));
    }
    const answer = isKnown ? answerOf(request, url, body) : notFound;
    const text = JSON.stringify(answer.body);
    const tag = `"${createHash('sha256').update(text).digest('hex')}"`;
    const isSame = answer.status === 200 && request.headers['if-none-match'] === tag;
    const status = isSame ? 304 : answer.status;
    if (!isSame) fake.counted.push(`${method} ${url.pathname}${url.search}`);
    const answered = `${method} ${url.pathname} ${status} ${tag}`;
    if (!isQuery && !checked.has(answered))
      fake.faults.push(...schema.faultsOfAnswer(method, url.pathname, status, answer.body));
    checked.add(answered);
    const headers = { 'content-type': 'application/json; charset=utf-8', etag: tag };
    response.writeHead(status, { ...headers, ...scopesOf(kind), ...answer.headers });
    response.end(isSame ? undefined : text);
  };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch((error: unknown) => {
      fake.faults.push(String(error));
      response.writeHead(500).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return Object.assign(fake, {
    rename: (slug: string, to: string) => {
      git.rename(slug, to);
      fake.moved.set(slug, to);
      for (const pull of fake.pulls) if (pull.slug === slug) pull.slug = to;
    },
    close: () =>
      new Promise<void>((resolve) => {
        git.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
}

/** `/acme/shop.git/…` */
function slugOf(path: string): string {
  return path.slice(1, path.indexOf('.git/'));
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

interface Question {
  readonly url: URL;
  readonly base: string;
  readonly relations: boolean;
  readonly state: Pick<FakeGithub, 'issues'>;
}

function route(question: Question): Answer {
  const { url, base, state } = question;
  if (url.pathname === '/search/issues') return search(question);
  const [, slug = '', rest = ''] = /^\/repos\/([^/]+\/[^/]+)\/(.+)$/u.exec(url.pathname) ?? [];
  const own = state.issues.filter((issue) => issue.slug === slug);
  if (own.length === 0) return notFound;
  if (rest === 'issues') return listIssues(question, own);
  if (rest === 'milestones') {
    const titles = [...new Set(own.flatMap(({ milestone }) => milestone ?? []))];
    return page(
      question,
      titles.map((title, index) => milestoneBody(base, slug, title, index + 1)),
    );
  }
  const [, number = '', list = ''] = /^issues\/(\d+)(?:\/(.+))?$/u.exec(rest) ?? [];
  const issue = own.find((one) => one.number === Number(number));
  return issue === undefined ? notFound : relation(question, issue, list);
}

function relation(question: Question, issue: FakeIssue, list: string): Answer {
  const { relations, base, state } = question;
  const body = (one: FakeIssue): object => issueBody(one, state.issues, { base, relations });
  switch (list) {
    case '':
      return { status: 200, headers: {}, body: body(issue) };
    case 'sub_issues':
      return page(question, childrenOf(issue, state.issues).map(body));
    case 'dependencies/blocked_by':
      return page(question, blockersOf(issue, state.issues).map(body));
    default:
      return notFound;
  }
}

function listIssues(question: Question, own: readonly FakeIssue[]): Answer {
  const { url, base, relations, state } = question;
  const wanted = url.searchParams;
  const titles = [...new Set(own.flatMap(({ milestone }) => milestone ?? []))];
  const milestone = titles[Number(wanted.get('milestone')) - 1];
  const found = own.filter(
    (issue) =>
      (wanted.get('state') ?? 'open') === (issue.isClosed === true ? 'closed' : 'open') &&
      (!wanted.has('milestone') || issue.milestone === milestone) &&
      (wanted.get('labels') ?? '')
        .split(',')
        .every((label) => label === '' || issue.labels?.includes(label) === true),
  );
  return page(
    question,
    found.map((issue) => issueBody(issue, state.issues, { base, relations })),
  );
}

function search(question: Question): Answer {
  const { url, base, relations, state } = question;
  const query = url.searchParams.get('q') ?? '';
  const slug = /repo:(\S+)/u.exec(query)?.[1];
  const words = query.split(/\s+/u).filter((word) => word !== '' && !word.includes(':'));
  const found = state.issues.filter(
    (issue) =>
      issue.slug === slug &&
      issue.isClosed !== true &&
      words.every((word) => issue.title.toLowerCase().includes(word.toLowerCase())),
  );
  const listed = page(
    question,
    found.map((issue) => ({
      ...issueBody({ ...issue, body: issue.body ?? '' }, state.issues, { base, relations }),
      score: 1,
    })),
  );
  const body = {
    total_count: found.length,
    incomplete_results: false,
    search_type: 'lexical',
    items: listed.body,
  };
  return { ...listed, body };
}

function page({ url, base }: Question, items: readonly object[]): Answer {
  const size = Number(url.searchParams.get('per_page') ?? 30);
  const number = Number(url.searchParams.get('page') ?? 1);
  const next = new URL(`${base}api/v3${url.pathname}${url.search}`);
  next.searchParams.set('page', String(number + 1));
  const isLast = number * size >= items.length;
  const headers: Record<string, string> = isLast ? {} : { link: `<${next.href}>; rel="next"` };
  return { status: 200, headers, body: items.slice((number - 1) * size, number * size) };
}

const notFound: Answer = { status: 404, headers: {}, body: errorBody('Not Found', 404) };

function errorBody(message: string, status: number): object {
  return { message, documentation_url: 'https://docs.github.com/rest', status: String(status) };
}
