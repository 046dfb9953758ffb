// The actions of people and checks on the fake GitHub, through its own interface: `octokit` acts
// for them.

import type { PullAnswer, PullState } from './pulls.ts';
import type { PublishedSchema } from './published-schema.ts';

interface Said {
  readonly method: string;
  readonly slug: string;
  readonly rest: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly login: string;
}

interface Parts {
  readonly state: PullState;
  readonly schema: PublishedSchema;
}

/** Null if the request concerns something else. */
export function answerToPerson(parts: Parts, said: Said): PullAnswer | null {
  const { state } = parts;
  if (said.method !== 'POST') return null;
  if (said.rest === 'check-runs') return addCheck(parts, said);
  const [, number, what] = /^pulls\/(\d+)\/(comments|reviews)$/u.exec(said.rest) ?? [];
  const pull = state.pulls.find((one) => one.slug === said.slug && String(one.number) === number);
  if (pull === undefined) return null;
  return what === 'reviews' ? addReview(parts, said) : addComment(parts, said);
}

function addCheck({ state, schema }: Parts, { body }: Said): PullAnswer {
  const sha = String(body['head_sha']);
  const name = String(body['name']);
  const output = (body['output'] ?? {}) as {
    readonly summary?: string;
    readonly annotations?: readonly {
      readonly path: string;
      readonly start_line: number;
      readonly message: string;
    }[];
  };
  const others = (state.checks.get(sha) ?? []).filter((check) => check.name !== name);
  const annotations = (output.annotations ?? []).map(({ path, start_line: line, message }) => {
    return { path, line, message };
  });
  const ended = body['conclusion'] === 'success' ? 'success' : 'failure';
  const text = output.summary ?? '';
  state.checks.set(sha, [...others, { name, state: ended, text, annotations }]);
  return { status: 201, body: schema.sample('check-run') };
}

function addReview({ state, schema }: Parts, { body, login }: Said): PullAnswer {
  const id = `R_${state.reviews.length + 1}`;
  const event = body['event'] === 'APPROVE' ? 'APPROVED' : 'CHANGES_REQUESTED';
  const at = new Date().toISOString();
  state.reviews.push({ id, author: login, state: event, body: String(body['body']), at });
  return { status: 200, body: schema.sample('pull-request-review') };
}

function addComment({ state, schema }: Parts, { body, login }: Said): PullAnswer {
  const number = state.threads.length + 1;
  const at = new Date().toISOString();
  const comment = { id: `RC_${number}`, author: login, body: String(body['body']), at };
  state.threads.push({
    id: `RT_${number}`,
    isResolved: false,
    path: String(body['path']),
    line: Number(body['line']),
    comments: [comment],
  });
  return { status: 201, body: schema.sample('pull-request-review-comment') };
}

/** The only mutation that a person uses; null for any other query. */
export function resolvedThread(
  { threads }: PullState,
  query: string,
  { id }: Readonly<Record<string, unknown>>,
): object | null {
  if (!query.includes('resolveReviewThread')) return null;
  const thread = threads.find((one) => one.id === id);
  if (thread !== undefined) thread.isResolved = true;
  return { data: { resolveReviewThread: { thread: { id, isResolved: true } } } };
}
