// Settings that change nothing.

import type { AgentChoices } from '../../server/core/work/fallback.ts';
import type { HostLimits } from '../../server/core/work/host-limits.ts';
import type { Budgets, BudgetLimits } from '../../server/core/work/budget.ts';

export const noFallback: AgentChoices = {
  fallback: [],
  fallbackOf: {},
  modelOf: {},
  after: 1,
  limitWaitMs: null,
};

export const anyHost: HostLimits = {
  minFreeMemoryBytes: 0,
  minFreeDiskBytes: 0,
  maxLoad: 0,
  worktreesMaxBytes: null,
};

export const noLimits: BudgetLimits = { tokens: null, usd: null, turns: null, workedMs: null };

export const noBudgets: Budgets = {
  task: noLimits,
  epic: noLimits,
  day: noLimits,
  askAt: 0.8,
  loopRepeats: 0,
};
