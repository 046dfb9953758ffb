// The schema for a model's answer when it plans a design, and its type.

import { taskTypes, type Task } from '../plan/task.ts';

export const planPriorities = ['critical', 'high', 'normal', 'low'] as const;
export type PlanPriority = (typeof planPriorities)[number];

/** Keys are chosen by the model. They are replaced by project ids when the plan is written. */
export interface PlannedEpic {
  readonly key: string;
  readonly title: string;
  readonly description: string;
}

export interface PlannedTask extends Pick<
  Task,
  'title' | 'description' | 'type' | 'blockedBy' | 'acceptanceCriteria'
> {
  readonly key: string;
  readonly epic: string | null;
  readonly priority: PlanPriority;
}

export interface SpecPlan {
  readonly epics: readonly PlannedEpic[];
  /**
   * In an order in which they can be done, with tasks of one epic next to each other if possible.
   */
  readonly tasks: readonly PlannedTask[];
}

export const planBounds = {
  epics: 50,
  tasks: 300,
  titleCharacters: 200,
  textCharacters: 20_000,
  criteria: 30,
  blockers: 50,
} as const;

/** JSON Schema of the answer. It is weaker than the check, because a schema cannot forbid loops. */
export const planSchema = {
  type: 'object',
  additionalProperties: false,
  required: ['epics', 'tasks'],
  properties: {
    epics: {
      type: 'array',
      description: 'Sets of tasks that make one outcome together. Empty for a small design.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['key', 'title', 'description'],
        properties: {
          key: { type: 'string', description: 'A short unique name, for example "storage".' },
          title: { type: 'string' },
          description: { type: 'string' },
        },
      },
    },
    tasks: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: [
          'key',
          'epic',
          'title',
          'description',
          'type',
          'priority',
          'blocked_by',
          'acceptance_criteria',
        ],
        properties: {
          key: { type: 'string', description: 'A short unique name, for example "save-links".' },
          epic: { type: ['string', 'null'], description: 'Key of its epic, or null.' },
          title: { type: 'string', description: 'What is true when it is done, in a few words.' },
          description: { type: 'string' },
          type: { type: 'string', enum: taskTypes },
          priority: { type: 'string', enum: planPriorities },
          blocked_by: {
            type: 'array',
            items: { type: 'string' },
            description: 'Keys of tasks whose result this one needs.',
          },
          acceptance_criteria: {
            type: 'array',
            items: { type: 'string' },
            description: 'Facts that can be checked when the task is done.',
          },
        },
      },
    },
  },
} as const;
