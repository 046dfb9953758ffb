// Settings that limit work: budgets, loops, and resources that the machine must keep free. Rows of
// the settings table.

import { typedKeys } from '../keys-of.ts';
import type { BudgetLimits, Budgets, BudgetScope } from '../work/budget.ts';
import type { HostLimits } from '../work/host-limits.ts';

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
    doc: 'Limit of tokens (input and output) for one task, across its attempts. If unset, no limit.',
    readBy: enforcement,
  },
  'budget.task_usd': {
    value: money,
    fallback: null,
    inFile: true,
    doc: 'Limit in US dollars for one task, across its attempts.',
    readBy: enforcement,
  },
  'budget.task_turns': {
    value: turns,
    fallback: null,
    inFile: true,
    doc: 'Limit of turns (tool calls) for one task, across its attempts.',
    readBy: enforcement,
  },
  'budget.task_time': {
    value: time,
    fallback: null,
    inFile: true,
    doc: 'Limit of agent running time for one task, across its attempts.',
    readBy: enforcement,
  },
  'budget.epic_tokens': {
    value: tokens,
    fallback: null,
    inFile: true,
    doc: 'Limit of tokens (input and output) for all tasks of an epic. If unset, no limit.',
    readBy: enforcement,
  },
  'budget.epic_usd': {
    value: money,
    fallback: null,
    inFile: true,
    doc: 'Limit in US dollars for all tasks of an epic.',
    readBy: enforcement,
  },
  'budget.epic_turns': {
    value: turns,
    fallback: null,
    inFile: true,
    doc: 'Limit of turns (tool calls) for all tasks of an epic.',
    readBy: enforcement,
  },
  'budget.epic_time': {
    value: time,
    fallback: null,
    inFile: true,
    doc: 'Limit of agent running time for all tasks of an epic.',
    readBy: enforcement,
  },
  'budget.day_tokens': {
    value: tokens,
    fallback: null,
    inFile: true,
    doc: 'Daily limit of tokens (input and output) for the project. If unset, no limit.',
    readBy: enforcement,
  },
  'budget.day_usd': {
    value: money,
    fallback: null,
    inFile: true,
    doc: 'Daily limit in US dollars for the project.',
    readBy: enforcement,
  },
  'budget.day_turns': {
    value: turns,
    fallback: null,
    inFile: true,
    doc: 'Daily limit of turns (tool calls) for the project.',
    readBy: enforcement,
  },
  'budget.day_time': {
    value: time,
    fallback: null,
    inFile: true,
    doc: 'Daily limit of agent running time for the project.',
    readBy: enforcement,
  },
  'budget.ask_at': {
    value: { type: 'number', min: 0.01, max: 1 },
    fallback: 0.8,
    inFile: true,
    doc: 'Fraction of a budget at which Drover asks whether to continue (1 = never).',
    readBy: enforcement,
  },
  'budget.loop_repeats': {
    value: { type: 'integer', min: 0, max: 1_000 },
    fallback: 8,
    inFile: true,
    doc: 'Pause the agent after this many identical tool calls in a row (0 = never).',
    readBy: enforcement,
  },
  'machine.min_free_memory': {
    value: { type: 'size', min: '0', max: '1024GB' },
    fallback: '256MB',
    inFile: true,
    doc: 'Start no additional agent while less memory than this is free.',
    readBy: 'workflows (start of tasks)',
  },
  'machine.min_free_disk': {
    value: { type: 'size', min: '0', max: '1024GB' },
    fallback: '256MB',
    inFile: true,
    doc: 'Start no agent while less disk space than this is free for worktrees.',
    readBy: 'workflows (start of tasks)',
  },
  'machine.max_load': {
    value: { type: 'number', min: 0, max: 1_000 },
    fallback: 16,
    inFile: true,
    doc: 'Start no additional agent while the load average per core is higher than this (0 = no limit).',
    readBy: 'workflows (start of tasks)',
  },
} as const;

export const boundSettingKeys = typedKeys(boundSettingTable);

type Get = <T>(key: keyof typeof boundSettingTable) => T;

function limitsOf(get: Get, scope: BudgetScope): BudgetLimits {
  return {
    tokens: get(`budget.${scope}_tokens`),
    usd: get(`budget.${scope}_usd`),
    turns: get(`budget.${scope}_turns`),
    workedMs: get(`budget.${scope}_time`),
  };
}

export function readBudgets(get: Get): Budgets {
  return {
    task: limitsOf(get, 'task'),
    epic: limitsOf(get, 'epic'),
    day: limitsOf(get, 'day'),
    askAt: get('budget.ask_at'),
    loopRepeats: get('budget.loop_repeats'),
  };
}

export function readMachineLimits(get: Get): Omit<HostLimits, 'worktreesMaxBytes'> {
  return {
    minFreeMemoryBytes: get('machine.min_free_memory'),
    minFreeDiskBytes: get('machine.min_free_disk'),
    maxLoad: get('machine.max_load'),
  };
}
