// A person decides on a plan: the task implements it, or its agent plans again with the person's
// feedback.

import { Refusal } from '../../core/failure.ts';
import { boundedPlan, planCharactersMax } from '../../core/prompt/plan-prompt.ts';
import { decidePlan, lastAttempt, setAttempt, type TaskRow } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';

/**
 * `changed`: the plan as the person edited it, replacing the agent's. `seen`: the number of the
 * plan that the person read.
 */
export async function approvePlan(
  engine: Uses<'durable' | 'mask' | 'store'>,
  row: TaskRow,
  { changed, seen }: { readonly changed: string | null; readonly seen: string | null },
): Promise<void> {
  const text = changed === null ? null : engine.mask(changed).trim();
  if (text === '') throw new Refusal('bad_request', 'The plan must not be empty.');
  if (text !== null && text.length > planCharactersMax)
    throw new Refusal(
      'bad_request',
      `The plan has ${text.length} characters; at most ${planCharactersMax} are allowed.`,
    );
  await engine.store.transaction(async (tx) => {
    const plan = await decidePlan(tx, engine.store.sources, row.id, {
      state: 'approved',
      ...(text === null ? {} : { text: boundedPlan(text) }),
    });
    if (plan === null) throw noPlan(row.id);
    if (seen !== null && seen !== `plan-${plan.number}`) throw changedSince(row.id);
    const done = await engine.store.transition(tx, {
      taskId: row.id,
      to: 'ready',
      from: ['needs_review'],
      event: 'task.plan_approved',
      data: { plan: plan.number, changed: text !== null, by: 'person' },
      set: { last_error: null, next_attempt_at_ms: null },
    });
    if (!done.ok) throw changedSince(row.id);
  });
  engine.durable.wake();
}

export async function sendPlanBack(
  engine: Uses<'durable' | 'mask' | 'store'>,
  row: TaskRow,
  words: string,
): Promise<void> {
  const comment = boundedPlan(engine.mask(words).trim());
  await engine.store.transaction(async (tx) => {
    const plan = await decidePlan(tx, engine.store.sources, row.id, {
      state: 'sent_back',
      comment,
    });
    if (plan === null) throw noPlan(row.id);
    const attempt = await lastAttempt(tx, row.id);
    if (attempt !== null && attempt.number === plan.attempt) {
      await setAttempt(tx, row.id, attempt.number, {
        state: 'failed',
        failure_kind: 'sent_back',
        error: comment,
      });
    }
    const done = await engine.store.transition(tx, {
      taskId: row.id,
      to: 'ready',
      from: ['needs_review'],
      event: 'task.sent_back',
      data: { kind: 'plan', plan: plan.number, text: comment, by: 'person' },
      set: { next_attempt_at_ms: null },
    });
    if (!done.ok) throw changedSince(row.id);
  });
  engine.durable.wake();
}

/** The task was imported from another project, so the plan that it waits for is not here. */
function noPlan(id: string): Refusal {
  return new Refusal('bad_state', `${id} has no plan here. Run "drover retry ${id}" to make one.`);
}

function changedSince(id: string): Refusal {
  return new Refusal(
    'bad_state',
    `The plan of ${id} has changed since you reviewed it. Review it again with "drover show ${id}".`,
  );
}
