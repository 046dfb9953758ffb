// Maps a question in the log to an open question on the board, by the number of the agent's own
// request: buttons answer the board's question by its id.

import type { QuestionView } from '../../../server/protocol/views.ts';
import type { Entry } from '../../shared/log/transcript.ts';

export interface BoundQuestions {
  /** The open question of an entry, by the entry's key. */
  readonly byKey: ReadonlyMap<number, QuestionView>;
  /** Open questions without an entry, because their line is not loaded. */
  readonly unbound: readonly QuestionView[];
}

export function bindQuestions(
  entries: readonly Entry[],
  questions: readonly QuestionView[],
  taskId: string,
  attempt: number,
): BoundQuestions {
  const open = questions.filter(
    (question) =>
      question.kind !== 'review' &&
      question.task_id === taskId &&
      question.state === 'open' &&
      question.attempt === attempt,
  );
  const byKey = new Map<number, QuestionView>();
  const bound = new Set<QuestionView>();
  for (const { key, body } of entries) {
    if (open.length === 0) break;
    if (body.kind !== 'question' || body.state !== 'open') continue;
    const question = open.find(({ request_id }) => request_id === body.requestId);
    if (question === undefined) continue;
    byKey.set(key, question);
    bound.add(question);
  }
  return { byKey, unbound: open.filter((question) => !bound.has(question)) };
}
