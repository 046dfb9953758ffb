// Which open question of the board a question in the log is: buttons answer the board's question by its id. The board has
// no number of the agent's request, so they are matched by what was asked, in the order they were asked in.

import type { QuestionView } from '../../server/protocol/views.ts';
import type { Entry } from './transcript.ts';

export interface BoundQuestions {
  /** The open question of an entry, by the entry's key. */
  readonly byKey: ReadonlyMap<number, QuestionView>;
  /** Open questions without an entry: their line is not loaded. */
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
  if (open.length === 0) return { byKey, unbound: open };
  // The newest first: an older one that the agent asked in the same words was withdrawn without a word when it died.
  const left = [...open];
  for (const entry of [...entries].reverse()) {
    if (left.length === 0) break;
    const { body } = entry;
    if (body.kind !== 'question' || body.state !== 'open') continue;
    const index = left.findLastIndex(
      (question) =>
        question.kind === body.asks &&
        question.text === body.text &&
        sameTexts(question.choices, body.choices),
    );
    const question = left[index];
    if (question === undefined) continue;
    byKey.set(entry.key, question);
    bound.add(question);
    left.splice(index, 1);
  }
  return { byKey, unbound: open.filter((question) => !bound.has(question)) };
}

function sameTexts(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, index) => text === b[index]);
}
