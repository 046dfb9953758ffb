// The cost lines in the status bar's hover: today, the rest of the day's budget, and each open epic
// with a cost. Pure.

import { formatCost, formatCount } from '../../server/core/format.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { plainText } from './plain-text.ts';

const epicsMax = 5;
const titleCharsMax = 40;

/** `todayUsd` is null while it is unknown. */
export function costLines(
  { tasks, epics, config }: Pick<StatusSnapshot, 'tasks' | 'epics' | 'config'>,
  todayUsd: number | null,
): readonly string[] {
  const costs = new Map<string, number>();
  for (const { epic_id: id, cost } of tasks) {
    if (id !== null && cost > 0) costs.set(id, (costs.get(id) ?? 0) + cost);
  }
  const epicLimit = limitOf(config, 'budget.epic_usd');
  const open = epics.flatMap((epic) => {
    const cost = costs.get(epic.id);
    if (cost === undefined || epic.status !== 'open' || epic.landing_state === 'landed') return [];
    return [{ title: epic.title, cost }];
  });
  open.sort((a, b) => b.cost - a.cost);
  const more = open.length - epicsMax;
  return [
    ...(todayUsd === null ? [] : [line('Today', todayUsd, limitOf(config, 'budget.day_usd'))]),
    ...open
      .slice(0, epicsMax)
      .map(({ title, cost }) => line(plainText(title, titleCharsMax), cost, epicLimit)),
    ...(more > 0 ? [`… and ${formatCount(more, 'more epic')}`] : []),
  ];
}

function limitOf(config: StatusSnapshot['config'], key: string): number | null {
  const value = config[key]?.value;
  return typeof value === 'number' ? value : null;
}

function line(what: string, usd: number, limitUsd: number | null): string {
  if (limitUsd === null) return `${what}: ${formatCost(usd)}`;
  const left = formatCost(Math.max(0, limitUsd - usd));
  return `${what}: ${formatCost(usd)} of ${formatCost(limitUsd)}, ${left} left`;
}
