// The facts for the title and text of a pull request.

import type { PullRequestPlan } from '../core/forge/pull-plan.ts';
import type { PullTextFacts } from '../core/forge/pull-text.ts';
import { reviewWords } from '../core/review/review.ts';
import { pullOfBranch, tasksInPull } from '../store/forge/pull-requests.ts';
import { epicById, newestReview, runById, textList } from '../store/port.ts';
import { gateOfRun } from '../workflows/attempt/submission.ts';
import type { Engine } from '../workflows/kit/engine-ports.ts';

export async function textFacts(
  engine: Engine,
  { epicId, runId, base, undoes = [], level }: PullRequestPlan,
): Promise<PullTextFacts> {
  const { db } = engine.store;
  const epic = await epicById(db, epicId);
  const run = await runById(db, runId);
  const gate = run === null ? null : gateOfRun(engine, run);
  const all = await tasksInPull(db, epicId);
  const tasks = level === undefined ? all : all.filter(({ id }) => level.tasks.includes(id));
  const below = level === undefined ? null : await pullOfBranch(db, epicId, base);
  return {
    epic: { id: epicId, title: epic?.title ?? '', description: epic?.description ?? '' },
    tasks: await Promise.all(
      tasks.map(async ({ id, title, acceptance_criteria: criteria }) => {
        const review = await newestReview(db, id);
        return { id, title, ...reviewWords(textList(criteria), review) };
      }),
    ),
    gate: gate === null ? null : engine.mask(gate),
    target: base,
    undoes: undoes.map(({ number }) => number),
    ...(level !== undefined && { level: { below: below?.number ?? null } }),
  };
}
