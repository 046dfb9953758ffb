// A platform that runs jobs: it accepts `POST /api/v1/jobs`, clones the given ref, serves the event
// log at the endpoint of a worker's stream, and pushes `drover/job/<id>`. Undocumented behavior
// follows the assumptions in docs/remote.md.

import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface Submission {
  readonly name: string;
  readonly prompt: string;
  readonly git: { readonly ref: string; readonly base_sha: string };
  readonly timeout_secs: number;
}

export interface PlatformOptions {
  /** Contains the platform's git repository and its clones. */
  readonly folder: string;
  readonly token: string;
  /** The agent: changes the clone and resolves with its exit code. */
  readonly work: (clone: string, print: (line: string) => void) => Promise<number> | number;
  /** Statuses that submissions get before one is accepted. */
  readonly refusals?: number[];
  /** Closes each connection of the event log after this many events. */
  readonly cutAfter?: number;
  /** Replaces the `git push` of the commits. */
  readonly push?: (clone: string, branch: string) => void;
}

export interface HostedPlatform {
  readonly url: string;
  /** The git remote. */
  readonly repository: string;
  readonly submissions: readonly Submission[];
  /** `METHOD path`, with JOB for the id and `Last-Event-ID` in brackets. */
  readonly requests: readonly string[];
  readonly bodies: readonly string[];
  readonly canceled: ReadonlySet<string>;
  git(...args: readonly string[]): string;
  close(): Promise<void>;
}

interface Job {
  readonly events: string[];
  isOver: boolean;
  readonly readers: Set<() => void>;
}

const identity = ['-c', 'user.name=Platform', '-c', 'user.email=platform@localhost'];

export async function startHostedPlatform(options: PlatformOptions): Promise<HostedPlatform> {
  const { folder, token, refusals = [], cutAfter = Number.POSITIVE_INFINITY } = options;
  const repository = join(folder, 'platform.git');
  mkdirSync(folder, { recursive: true });
  const env = { PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1' };
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' }).trim();
  git('init', '--quiet', '--bare', repository);
  const jobs = new Map<string, Job>();
  const submissions: Submission[] = [];
  const requests: string[] = [];
  const bodies: string[] = [];
  const canceled = new Set<string>();

  async function run(id: string, { git: from }: Submission): Promise<void> {
    const job = jobs.get(id);
    if (job === undefined) return;
    const clone = join(folder, id);
    const tell = (event: object): void => {
      job.events.push(`id: ${job.events.length}\ndata: ${JSON.stringify(event)}\n\n`);
      for (const wake of job.readers) wake();
    };
    const branch = from.ref.replace('refs/heads/', '');
    git('clone', '--quiet', '--branch', branch, repository, clone);
    const print = (line: string): void => tell({ line, stream: 'stdout' });
    const exitCode = await options.work(clone, print);
    git('-C', clone, 'add', '--all', '--force');
    const isChanged = git('-C', clone, 'status', '--porcelain') !== '';
    if (isChanged) {
      git('-C', clone, ...identity, 'commit', '--quiet', '-m', 'Work of the job');
      const push =
        options.push ?? ((at, to) => git('-C', at, 'push', '-q', 'origin', `HEAD:${to}`));
      push(clone, `refs/heads/drover/job/${id}`);
    }
    job.isOver = true;
    tell({ done: true, exit_code: canceled.has(id) ? 143 : exitCode });
  }

  function follow(job: Job, request: IncomingMessage, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.flushHeaders();
    const last = request.headers['last-event-id'];
    let next = last === undefined ? 0 : Number(last) + 1;
    let sent = 0;
    const send = (): void => {
      for (; next < job.events.length; next += 1, sent += 1) {
        if (sent >= cutAfter) return void response.end();
        response.write(job.events[next]);
      }
      if (job.isOver) response.end();
    };
    job.readers.add(send);
    response.on('close', () => job.readers.delete(send));
    send();
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '' } = request;
    const id = /[0-9a-f]{32}/.exec(url)?.[0] ?? '';
    const last = request.headers['last-event-id'];
    requests.push(
      `${method} ${url.replace(id || '-', 'JOB')}${last ? ` [${last as string}]` : ''}`,
    );
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    bodies.push(body);
    const end = (status: number, text: string): void => void response.writeHead(status).end(text);
    if (request.headers.authorization !== `Bearer ${token}`) return end(401, 'unauthorized\n');
    if (method === 'GET' && url === '/health') return end(200, 'ok');
    if (method === 'POST' && url === '/api/v1/jobs') {
      const refused = refusals.shift();
      if (refused !== undefined) return end(refused, 'not now\n');
      const submission = JSON.parse(body) as Submission;
      const made = randomBytes(16).toString('hex');
      submissions.push(submission);
      jobs.set(made, { events: [], isOver: false, readers: new Set() });
      void run(made, submission);
      return end(201, JSON.stringify({ job_id: made }));
    }
    const job = jobs.get(id);
    if (job === undefined) return end(404, 'unknown job_id\n');
    if (method === 'GET' && url.endsWith('/stream')) return follow(job, request, response);
    if (method !== 'POST' || !url.endsWith('/cancel')) return end(404, 'not found\n');
    canceled.add(id);
    end(202, '');
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    repository,
    submissions,
    requests,
    bodies,
    canceled,
    git: (...args) => git('-C', repository, ...args),
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
