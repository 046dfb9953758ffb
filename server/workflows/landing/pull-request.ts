// An epic whose gate is green goes to the forge. The requests are written down in the
// transaction that ends its landing.

import { forgeBranch, type PullRequestPlan } from '../../core/forge/pull-plan.ts';
import type { Sha } from '../../git/sha.ts';
import { planRequests, runById, type Tx } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { settingsOf } from '../kit/run-settings.ts';

interface TestedEpic {
  readonly epicId: string;
  readonly runId: string;
  readonly line: string;
  readonly target: string;
  readonly tip: Sha;
  readonly tree: Sha;
}

export async function planPullRequest(
  engine: Uses<'clock' | 'settings' | 'store'>,
  tx: Tx,
  { epicId, runId, line, target, tip, tree }: TestedEpic,
): Promise<void> {
  const { forge } = settingsOf(engine, await runById(tx, runId));
  const plan: PullRequestPlan = {
    epicId,
    runId,
    line,
    target,
    head: tip,
    tree,
    branch: forgeBranch(epicId),
    base: forge.base ?? target,
    isDraft: forge.isDraft,
    reviewers: forge.reviewers,
    labels: forge.labels,
  };
  const kinds = ['push', 'open', 'dress', ...(forge.isDraft ? [] : ['ready'])];
  const requests = kinds.map((kind, position) => {
    return { key: `${epicId}/${tip}/${kind}`, epicId, position, kind, request: plan };
  });
  await planRequests(tx, epicId, requests, engine.clock.now());
}
