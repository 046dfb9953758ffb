// Check runs of the fake GitHub, and the jobs of Actions that most of them are.

import type { PublishedSchema } from './published-schema.ts';
import type { FakeCheck, PullAnswer, PullState } from './pulls.ts';

type State = Pick<PullState, 'checks' | 'reruns'>;

interface AskedJob {
  readonly rest: string;
  readonly method: string;
  readonly query: URLSearchParams;
  /** Of the repository, for addresses. */
  readonly page: string;
}

interface Job {
  readonly id: number;
  readonly run: number;
  readonly sha: string;
  readonly check: FakeCheck;
}

const jobsOfRun = 1_000;
const attemptsMax = 10;

function runsIn({ checks }: State): readonly Job[] {
  return [...checks].flatMap(([sha, all], at) =>
    all.map((check, index): Job => {
      const id = (at + 1) * jobsOfRun + index * attemptsMax + (check.attempt ?? 1);
      return { id, run: at + 1, sha, check };
    }),
  );
}

/** Returns null if the path is about something else. */
export function jobAnswer(
  state: State,
  schema: PublishedSchema,
  { rest, method, query, page }: AskedJob,
): PullAnswer | null {
  const all = runsIn(state);
  const jobs = all.filter(({ check }) => check.by === undefined);
  const [, sha] = /^commits\/([0-9a-f]+)\/check-runs$/u.exec(rest) ?? [];
  if (sha !== undefined) {
    const own = all.filter((one) => one.sha === sha && one.check.by !== 'status');
    const runs = own.map((one) => checkRun(schema, one, page));
    return { status: 200, body: { total_count: runs.length, check_runs: runs } };
  }
  if (rest === 'actions/runs') {
    const own = jobs.find((one) => one.sha === query.get('head_sha'));
    const runs = own === undefined ? [] : [workflowRun(schema, own, jobs)];
    return { status: 200, body: { total_count: runs.length, workflow_runs: runs } };
  }
  const [, run, list] = /^actions\/runs\/(\d+)(\/jobs)?$/u.exec(rest) ?? [];
  const ofRun = jobs.filter((one) => String(one.run) === run);
  if (list !== undefined) {
    const found = ofRun.map((one) => jobBody(schema, one, page));
    return { status: 200, body: { total_count: found.length, jobs: found } };
  }
  const [first] = ofRun;
  if (first !== undefined) return { status: 200, body: workflowRun(schema, first, jobs) };
  const [, id] = /^check-runs\/(\d+)\/annotations$/u.exec(rest) ?? [];
  if (id !== undefined) return annotationsOf(schema, all, Number(id));
  const [, job, what = ''] = /^actions\/jobs\/(\d+)(?:\/(logs|rerun))?$/u.exec(rest) ?? [];
  const one = jobs.find((other) => String(other.id) === job);
  if (one === undefined) return null;
  if (what === 'logs') return { status: 302, body: '', location: `/logs/${job}` };
  if (what === 'rerun' && method === 'POST') return rerun(state, one);
  return { status: 200, body: jobBody(schema, one, page) };
}

/** The log of a job, on another host. */
export function logOf(state: State, job: number): string | null {
  return runsIn(state).find(({ id }) => id === job)?.check.log ?? null;
}

function rerun({ checks, reruns }: State, { id, sha, check }: Job): PullAnswer {
  reruns.push(id);
  const again: FakeCheck = {
    name: check.name,
    state: 'in_progress',
    attempt: (check.attempt ?? 1) + 1,
  };
  const all = checks.get(sha) ?? [];
  checks.set(
    sha,
    all.map((one) => (one === check ? again : one)),
  );
  return { status: 201, body: {} };
}

function workflowRun(schema: PublishedSchema, { run, sha }: Job, jobs: readonly Job[]): object {
  const own = jobs.filter((one) => one.run === run);
  const isOver = own.every(({ check }) => check.state !== 'in_progress');
  return {
    ...(schema.sample('workflow-run') as object),
    id: run,
    head_sha: sha,
    run_attempt: Math.max(...own.map(({ check }) => check.attempt ?? 1)),
    status: isOver ? 'completed' : 'in_progress',
  };
}

function jobBody(schema: PublishedSchema, { id, run, sha, check }: Job, page: string): object {
  const isOver = check.state !== 'in_progress';
  return {
    ...(schema.sample('job') as object),
    id,
    run_id: run,
    run_attempt: check.attempt ?? 1,
    head_sha: sha,
    name: check.name,
    html_url: `${page}/actions/runs/${run}/job/${id}`,
    status: isOver ? 'completed' : 'in_progress',
    conclusion: isOver ? check.state : null,
  };
}

function checkRun(schema: PublishedSchema, { id, check }: Job, page: string): object {
  const sample = schema.sample('check-run') as Record<string, object>;
  const isOver = check.state !== 'in_progress';
  return {
    ...sample,
    id,
    name: check.name,
    html_url: `${page}/runs/${id}`,
    status: isOver ? 'completed' : 'in_progress',
    conclusion: isOver ? check.state : null,
    app: appBody(schema, check.by === 'app' ? 'coverage' : 'github-actions'),
    output: {
      ...sample['output'],
      summary: check.text ?? null,
      annotations_count: check.annotations?.length ?? 0,
    },
  };
}

function appBody(schema: PublishedSchema, slug: string): object {
  const address = 'https://localhost/';
  const time = '2026-11-01T12:00:00Z';
  return {
    id: 1,
    slug,
    node_id: 'A_1',
    owner: schema.sample('simple-user'),
    name: slug,
    description: null,
    external_url: address,
    html_url: address,
    created_at: time,
    updated_at: time,
    permissions: {},
    events: [],
  };
}

function annotationsOf(schema: PublishedSchema, all: readonly Job[], id: number): PullAnswer {
  const sample = schema.sample('check-annotation') as object;
  const { annotations = [] } = all.find((one) => one.id === id)?.check ?? {};
  const body = annotations.map(({ path, line, message }) => {
    return { ...sample, path, start_line: line, end_line: line, message };
  });
  return { status: 200, body };
}
