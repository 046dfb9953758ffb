// A plan that a model made from a design, before it is on the board.

import type { SpecPlanView } from '../../server/protocol/spec-plan.ts';

/** The fields that tests read from a line of an importable plan. */
export interface PlanLine {
  readonly id: string;
  readonly title: string;
  readonly description?: string;
  readonly blocked_by?: readonly string[];
  readonly acceptance_criteria?: readonly string[];
}

type PlannedTask = SpecPlanView['tasks'][number];

export function plannedTask(id: string, change: Partial<PlannedTask> = {}): PlannedTask {
  return {
    id,
    epic_id: 'epic-links',
    title: `Build ${id}`,
    description: `About ${id}.`,
    type: 'feature',
    priority: 'normal',
    blocked_by: [],
    acceptance_criteria: [`${id} is tested`],
    ...change,
  };
}

/** Adds the lines that an import accepts. */
export function planOf(epics: SpecPlanView['epics'], tasks: readonly PlannedTask[]): SpecPlanView {
  const records: readonly object[] = [
    ...epics.map(({ id, title }) => ({ id, type: 'epic', title })),
    ...tasks.map(({ type, ...task }) => ({ ...task, type: 'story', task_type: type })),
  ];
  return {
    source: 'api',
    model: 'sonnet',
    usage: { input_tokens: 1_200, output_tokens: 800, cost_usd: 0.02 },
    epics,
    tasks,
    jsonl: records.map((record) => `${JSON.stringify(record)}\n`).join(''),
  };
}

/** Two epics and a task without one; `text` is the description. */
export function smallPlan(text = 'What the design says.'): SpecPlanView {
  const description = text;
  return planOf(
    [
      { id: 'epic-links', title: 'Short links', description: '' },
      { id: 'epic-help', title: 'Help', description: '' },
    ],
    [
      plannedTask('storage', { description, title: 'Store the links' }),
      plannedTask('redirect', { blocked_by: ['storage'], priority: 'high' }),
      plannedTask('expiry', { blocked_by: ['redirect'], acceptance_criteria: [] }),
      plannedTask('page', { epic_id: 'epic-help', blocked_by: ['storage', 'redirect'] }),
      plannedTask('license', { epic_id: null }),
    ],
  );
}
