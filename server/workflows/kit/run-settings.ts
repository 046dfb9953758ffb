// The settings that a run was started with: another run that starts beside it changes nothing of
// them.

import type { RunRow } from '../../store/port.ts';
import type { Uses, WorkSettings } from './engine-ports.ts';

/** Budgets and the reserves of the machine can change during a run; nothing else can. */
export function resolveRunSettings(
  engine: Uses<'settings'>,
  run: Pick<RunRow, 'settings'> | null | undefined,
): WorkSettings {
  const current = engine.settings();
  if (run === null || run === undefined || run.settings === null) return current;
  const { budget, machine } = current;
  return { ...current, ...(JSON.parse(run.settings) as WorkSettings), budget, machine };
}
