// Asks a model to plan a design, checks the plan, and lets the model correct it once.

import { err, failure, ok, type Result } from '../../core/failure.ts';
import { checkPlan, type PlanOptions } from '../../core/spec/spec-check.ts';
import { complaintPrompt, shownAnswer } from '../../core/prompt/spec-prompt.ts';
import type { SpecPlan } from '../../core/spec/spec-schema.ts';
import type { PlanModel, PlanUsage, RefusedAnswer } from './port.ts';

const triesMax = 2;

export interface AskedPlan {
  readonly plan: SpecPlan;
  readonly usage: PlanUsage;
}

export interface PlanTalk {
  readonly prompt: string;
  readonly planOptions: PlanOptions;
  readonly signal: AbortSignal;
  /** Called with the fault before the model is asked again. */
  readonly onCorrection: (fault: string) => void;
}

/** `unusable`: the model answered, but no answer was a plan. */
export type PlanTalkEnd =
  | { readonly kind: 'planned'; readonly asked: AskedPlan }
  | { readonly kind: 'unusable'; readonly fault: string };

export async function askForPlan(model: PlanModel, talk: PlanTalk): Promise<Result<PlanTalkEnd>> {
  let refused: RefusedAnswer | null = null;
  let usage: PlanUsage = { inputTokens: 0, outputTokens: 0, costUsd: null };
  for (let tries = 1; ; tries += 1) {
    const answered = await model.ask({ prompt: talk.prompt, refused }, talk.signal);
    if (talk.signal.aborted) return err(failure('interrupted', 'The planning was interrupted.'));
    if (!answered.ok) return answered;
    const { answer } = answered.value;
    usage = added(usage, answered.value.usage);
    const checked = checkPlan(answer, talk.planOptions);
    if (checked.ok) return ok({ kind: 'planned', asked: { plan: checked.value, usage } });
    if (tries === triesMax) return ok({ kind: 'unusable', fault: checked.error });
    talk.onCorrection(checked.error);
    refused = { answer: shownAnswer(answer), complaint: complaintPrompt(checked.error) };
  }
}

function added(a: PlanUsage, b: PlanUsage): PlanUsage {
  const costUsd =
    a.costUsd === null && b.costUsd === null ? null : (a.costUsd ?? 0) + (b.costUsd ?? 0);
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    costUsd,
  };
}
