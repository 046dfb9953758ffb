// Requests by which people see and overrule agents' reviews.

import { blockingAmong } from '../../core/review/review.ts';
import type { Handlers } from '../../protocol/api.ts';
import type { ReviewView } from '../../protocol/requests/reviews.ts';
import {
  newestReview,
  overruleFinding,
  type StoredReview,
  taskOrRefuse,
} from '../../store/port.ts';
import type { DataHandlerDeps } from '../handlers/data-deps.ts';

export function agentReviewHandlers({
  store,
}: Pick<DataHandlerDeps, 'store'>): Pick<Handlers, 'review.show' | 'review.overrule'> {
  return {
    'review.show': async ({ id }) => {
      await taskOrRefuse(store.db, id);
      const review = await newestReview(store.db, id);
      return review === null ? null : reviewView(review);
    },
    'review.overrule': async ({ id, finding }) => {
      const review = await store.transaction(async (tx) => {
        await taskOrRefuse(tx, id);
        return overruleFinding(tx, store.sources, id, finding);
      });
      return reviewView(review);
    },
  };
}

function reviewView(review: StoredReview): ReviewView {
  const { task_id, tree_sha, attempt, agent, model, verdict } = review;
  return {
    task_id,
    tree_sha,
    attempt,
    agent,
    model,
    verdict,
    blocking: blockingAmong(review.findings).length,
    findings: review.findings.map(({ isOverruled, ...finding }) => ({
      ...finding,
      overruled: isOverruled,
    })),
    criteria: review.criteria.map(({ text, isMet, evidence }) => ({ text, met: isMet, evidence })),
    at: Math.floor(review.at_ms / 1000),
  };
}
