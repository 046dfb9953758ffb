// Planning a design: the request and the resulting plan. Both are JSON, so that a request can carry
// them.

import type { PlannedTask } from '../core/spec/spec-schema.ts';

export interface SpecPlanRequest {
  readonly documents: readonly { readonly name: string; readonly text: string }[];
  /** Null = use the setting, else the default. */
  readonly model: string | null;
  readonly one_epic: boolean;
}

export interface PlannedTaskView extends Pick<
  PlannedTask,
  'title' | 'description' | 'type' | 'priority'
> {
  readonly id: string;
  readonly epic_id: string | null;
  readonly blocked_by: readonly string[];
  readonly acceptance_criteria: readonly string[];
}

export interface PlanView {
  readonly epics: readonly {
    readonly id: string;
    readonly title: string;
    readonly description: string;
  }[];
  /** In an order in which they can be done. */
  readonly tasks: readonly PlannedTaskView[];
  /** The plan as input of `import`. Nothing else is needed to write it. */
  readonly jsonl: string;
}

/** The plan that a model made from a design. */
export interface SpecPlanView extends PlanView {
  /** A model provider's API, or the installed agent. */
  readonly source: 'api' | 'agent';
  readonly model: string;
  readonly usage: {
    readonly input_tokens: number;
    readonly output_tokens: number;
    readonly cost_usd: number | null;
  };
}

/** The plan made from a forge's issues. */
export interface IssuePlanView extends PlanView {
  readonly source: 'issues';
  /** `owner/name`. */
  readonly repository: string;
  /** Tasks that wait for open issues which are neither in this plan nor in the project. */
  readonly left_out: readonly {
    readonly id: string;
    readonly title: string;
    /** `owner/name#12`. */
    readonly waits_for: readonly string[];
  }[];
}

/** Shown on a page before it is added. */
export type ShownPlan = SpecPlanView | IssuePlanView;
