// Review comments and reviews of the fake GitHub as REST lists them.

import type { PublishedSchema } from './published-schema.ts';
import type { PullAnswer, PullState } from './pulls.ts';

/** Returns null if the path is about something else. */
export function reviewList(
  { threads, reviews }: Pick<PullState, 'threads' | 'reviews'>,
  schema: PublishedSchema,
  list: string,
): PullAnswer | null {
  const user = (login: string): object => ({ ...(schema.sample('simple-user') as object), login });
  if (list === 'comments') {
    const sample = schema.sample('pull-request-review-comment') as object;
    const body = threads.flatMap(({ path, line, comments }) =>
      comments.map(({ id, author, body, at }) => {
        return { ...sample, node_id: id, user: user(author), body, path, line, updated_at: at };
      }),
    );
    return { status: 200, body, isList: true };
  }
  if (list !== 'reviews') return null;
  const sample = schema.sample('pull-request-review') as object;
  const body = reviews.map(({ id, author, body, state, at }) => {
    return { ...sample, node_id: id, user: user(author), body, state, submitted_at: at };
  });
  return { status: 200, body, isList: true };
}
