// The settings that keep work within bounds: budgets, loops, and what the machine must have left. Part of the one table.

import type { BudgetLimits, Budgets, BudgetScope } from './budget.ts';
import type { MachineLimits } from './machine.ts';

const tokens = { type: 'integer', min: 1, max: 1_000_000_000_000 } as const;
const money = { type: 'number', min: 0.0001, max: 1_000_000 } as const;
const turns = { type: 'integer', min: 1, max: 10_000_000 } as const;
const time = { type: 'duration', min: '1s', max: '720h' } as const;
const enforcement = 'workflows (budget)';

export const boundSettingTable = {
  'budget.task_tokens': {
    value: tokens,
    fallback: null,
    inFile: true,
    doc: 'Tokens (input and output) for one task, over all its attempts; without it, no limit.',
    readBy: enforcement,
  },
  'budget.task_usd': {
    value: money,
    fallback: null,
    inFile: true,
    doc: 'US dollars for one task, over all its attempts.',
    readBy: enforcement,
  },
  'budget.task_turns': {
    value: turns,
    fallback: null,
    inFile: true,
    doc: 'Turns (tool calls) for one task, over all its attempts.',
    readBy: enforcement,
  },
  'budget.task_time': {
    value: time,
    fallback: null,
    inFile: true,
    doc: 'Time at work for one task, over all its attempts.',
    readBy: enforcement,
  },
  'budget.epic_tokens': {
    value: tokens,
    fallback: null,
    inFile: true,
    doc: 'Tokens (input and output) for all tasks of one epic together; without it, no limit.',
    readBy: enforcement,
  },
  'budget.epic_usd': {
    value: money,
    fallback: null,
    inFile: true,
    doc: 'US dollars for all tasks of one epic together.',
    readBy: enforcement,
  },
  'budget.epic_turns': {
    value: turns,
    fallback: null,
    inFile: true,
    doc: 'Turns (tool calls) for all tasks of one epic together.',
    readBy: enforcement,
  },
  'budget.epic_time': {
    value: time,
    fallback: null,
    inFile: true,
    doc: 'Time at work for all tasks of one epic together.',
    readBy: enforcement,
  },
  'budget.day_tokens': {
    value: tokens,
    fallback: null,
    inFile: true,
    doc: 'Tokens (input and output) for everything of this project in one day; without it, no limit.',
    readBy: enforcement,
  },
  'budget.day_usd': {
    value: money,
    fallback: null,
    inFile: true,
    doc: 'US dollars for everything of this project in one day.',
    readBy: enforcement,
  },
  'budget.day_turns': {
    value: turns,
    fallback: null,
    inFile: true,
    doc: 'Turns (tool calls) for everything of this project in one day.',
    readBy: enforcement,
  },
  'budget.day_time': {
    value: time,
    fallback: null,
    inFile: true,
    doc: 'Time at work for everything of this project in one day.',
    readBy: enforcement,
  },
  'budget.ask_at': {
    value: { type: 'number', min: 0.01, max: 1 },
    fallback: 0.8,
    inFile: true,
    doc: 'Part of a budget at which you are asked whether to go on; 1 = never.',
    readBy: enforcement,
  },
  'budget.loop_repeats': {
    value: { type: 'integer', min: 0, max: 1_000 },
    fallback: 8,
    inFile: true,
    doc: 'The same tool call with the same input so many times in a row stops the agent and asks you; 0 = never.',
    readBy: enforcement,
  },
  'machine.min_free_memory': {
    value: { type: 'size', min: '0', max: '1024GB' },
    fallback: '256MB',
    inFile: true,
    doc: 'With less free memory nothing new starts beside what works.',
    readBy: 'workflows (start of tasks)',
  },
  'machine.min_free_disk': {
    value: { type: 'size', min: '0', max: '1024GB' },
    fallback: '256MB',
    inFile: true,
    doc: 'With less free disk for worktrees nothing new starts.',
    readBy: 'workflows (start of tasks)',
  },
  'machine.max_load': {
    value: { type: 'number', min: 0, max: 1_000 },
    fallback: 16,
    inFile: true,
    doc: 'With a higher load for each core nothing new starts beside what works; 0 = any load.',
    readBy: 'workflows (start of tasks)',
  },
} as const;

export type BoundSettingKey = keyof typeof boundSettingTable;

export const boundSettingKeys = Object.keys(boundSettingTable) as readonly BoundSettingKey[];

type Get = <T>(key: BoundSettingKey) => T;

function limitsOf(get: Get, scope: BudgetScope): BudgetLimits {
  return {
    tokens: get(`budget.${scope}_tokens`),
    usd: get(`budget.${scope}_usd`),
    turns: get(`budget.${scope}_turns`),
    workedMs: get(`budget.${scope}_time`),
  };
}

export function budgetsOf(get: Get): Budgets {
  return {
    task: limitsOf(get, 'task'),
    epic: limitsOf(get, 'epic'),
    day: limitsOf(get, 'day'),
    askAt: get('budget.ask_at'),
    loopRepeats: get('budget.loop_repeats'),
  };
}

export function machineLimitsOf(get: Get): MachineLimits {
  return {
    minFreeMemoryBytes: get('machine.min_free_memory'),
    minFreeDiskBytes: get('machine.min_free_disk'),
    maxLoad: get('machine.max_load'),
  };
}
