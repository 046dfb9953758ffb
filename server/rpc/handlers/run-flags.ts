// Options of a run besides the settings.

import type { RunOptions } from '../../protocol/requests/runs.ts';

/** Keyed by setting. Omits values that were not given. */
export function runFlags(options: Omit<RunOptions, 'env'>): Readonly<Record<string, unknown>> {
  const budget = options.epic === undefined ? 'budget.task_usd' : 'budget.epic_usd';
  const flags = {
    max_workers: options.workers,
    'gate.command': options.gate,
    'agent.kind': options.agent,
    'agent.model': options.model,
    'agent.fallback': options.fallback,
    'land.mode': options.land,
    'land.target': options.target,
    plan: options.plan,
    [budget]: options.budget_usd,
  };
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}
