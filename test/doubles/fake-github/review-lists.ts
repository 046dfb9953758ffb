// Review comments and reviews of the fake GitHub, as the REST API lists them.

import type { PublishedSchema } from './published-schema.ts';
import type { PullAnswer, PullState } from './pulls.ts';

/** Threads of one pull request. */
export function threadsOn(
  { threads }: Pick<PullState, 'threads'>,
  number: number,
): PullState['threads'] {
  return threads.filter(({ pull }) => pull === undefined || pull === number);
}

/** Returns null if the path concerns something else. */
export function reviewList(
  state: Pick<PullState, 'threads' | 'reviews'>,
  schema: PublishedSchema,
  { number, list }: { readonly number: number; readonly list: string },
): PullAnswer | null {
  const user = (login: string): object => ({ ...(schema.sample('simple-user') as object), login });
  if (list === 'comments') {
    const sample = schema.sample('pull-request-review-comment') as object;
    const body = threadsOn(state, number).flatMap(({ path, line, comments }) =>
      comments.map(({ id, author, body, at }) => {
        return { ...sample, node_id: id, user: user(author), body, path, line, updated_at: at };
      }),
    );
    return { status: 200, body, isList: true };
  }
  if (list !== 'reviews') return null;
  const sample = schema.sample('pull-request-review') as object;
  const body = state.reviews.map(({ id, author, body, state: verdict, at }) => {
    return { ...sample, node_id: id, user: user(author), body, state: verdict, submitted_at: at };
  });
  return { status: 200, body, isList: true };
}
