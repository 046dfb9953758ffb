// The settings that a run was started with, unaffected by runs that start later.

import type { RunRow } from '../../store/port.ts';
import type { Uses, WorkSettings } from './engine-ports.ts';

/** Only budgets and the machine's reserved resources can change during a run. */
export function resolveRunSettings(
  engine: Uses<'settings'>,
  run: Pick<RunRow, 'settings'> | null | undefined,
): WorkSettings {
  const current = engine.settings();
  if (run === null || run === undefined || run.settings === null) return current;
  const { budget, machine } = current;
  return { ...current, ...(JSON.parse(run.settings) as WorkSettings), budget, machine };
}
