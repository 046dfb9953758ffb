// Explains why no machine of a fleet takes a task that could start.

import {
  type MachineFacts,
  neededLabels,
  needsLabel,
  suits,
  whyItsMachine,
  whyNoMachine,
} from '../../core/work/machines.ts';
import { whyNoLander } from '../../core/work/landers.ts';
import { lastAttempt, mustStayOnMachine } from '../work/claims.ts';
import { formatDuration } from '../../core/format.ts';
import { readLander } from '../fleet/line-landers.ts';
import { liveMachines } from '../fleet/machines.ts';
import { readMachines } from '../fleet/machine-views.ts';
import { type Db, textList } from '../rows/one-moment.ts';
import type { TaskRow } from '../schema/tables.ts';

export async function whyMachine(
  db: Db,
  row: TaskRow,
  gateNeeds: readonly string[],
): Promise<string[]> {
  const views = await readMachines(db, 0);
  const facts = new Map(views.map((view) => [view.id, { ...view, busy: view.agents }]));
  const gates = row.candidate_of === null ? [] : gateNeeds.map(needsLabel);
  const labels = [...textList(row.labels), ...gates];
  const begun = await begunOn(db, row, labels, facts);
  const sentence =
    begun === null ? whyNoMachine(labels, [...facts.values()]) : whyItsMachine(begun);
  return sentence === null ? [] : [sentence];
}

/** The machine on which the attempt started, which alone can continue it. */
async function begunOn(
  db: Db,
  row: TaskRow,
  labels: readonly string[],
  machines: ReadonlyMap<string, MachineFacts>,
): Promise<MachineFacts | null> {
  if (machines.size === 0) return null;
  const last = await lastAttempt(db, row.id);
  const machine = last === null ? undefined : machines.get(last.machine);
  if (machine?.state !== 'working') return null;
  return mustStayOnMachine(last, suits(machine.labels, neededLabels(labels))) ? machine : null;
}

/** Explains why finished work waits for a machine that runs its gate. Empty if one does. */
export async function whyNotLanding(db: Db, gateNeeds: readonly string[]): Promise<string[]> {
  const views = await readMachines(db, 0);
  const sentence = whyNoLander(
    gateNeeds,
    views.map((view) => ({ ...view, busy: view.agents })),
  );
  return sentence === null ? [] : [sentence];
}

/** Which machine lands on the branch, and since when, or how long ago the last landing ended. */
export async function whyLander(db: Db, branch: string, nowMs: number): Promise<string[]> {
  const lander = await readLander(db, branch);
  if (lander === null || lander.since_ms > nowMs) return [];
  const machine = (await readMachines(db, 0, true)).find(({ id }) => id === lander.machine);
  const name = machine?.name ?? lander.machine;
  if (lander.ended_ms !== null) {
    const ago = formatDuration(nowMs - lander.ended_ms);
    return [`The last landing on ${branch} ended ${ago} ago, on ${name}.`];
  }
  const lasts = formatDuration(nowMs - lander.since_ms);
  return machine?.state === 'working' || machine?.state === 'draining'
    ? [`${name} is landing on ${branch}, and started ${lasts} ago.`]
    : [
        `${name} was landing on ${branch} when it stopped; another machine that can land continues.`,
      ];
}

/**
 * For a task whose attempt is running according to its row although its machine stopped. Returns
 * null while the machine runs, or if there never was one.
 */
export async function whyLost(
  db: Db,
  attempt: { readonly task_id: string; readonly machine: string },
): Promise<string | null> {
  if (attempt.machine === '') return null;
  const machines = await readMachines(db, 0, true);
  const machine = machines.find(({ id }) => id === attempt.machine);
  if (machine === undefined || machine.state === 'working' || machine.state === 'draining') {
    return null;
  }
  const gone = machine.state === 'dead' ? 'is dead' : 'has left';
  const isAnybody = machines.some(({ state }) => state === 'working' || state === 'draining');
  const next = isAnybody
    ? 'the others take it over, and no attempt is used'
    : 'start "drover worker" on a machine to resume it; no attempt is used';
  return `${attempt.task_id} was running on ${machine.name}, which ${gone}: ${next}.`;
}

/**
 * Reports that machines cannot reach the git remote: the attempt's machine or, for work that any
 * machine could land, all of them.
 */
export async function explainUnreachableRemote(db: Db, machine: string | null): Promise<string[]> {
  const cutOff = (await liveMachines(db)).filter(
    ({ id, isCutOff }) => isCutOff && (machine === null || id === machine),
  );
  if (cutOff.length === 0) return [];
  const notes = new Map((await readMachines(db, 0)).map(({ id, note }) => [id, note]));
  return cutOff.map(({ id, name }) => {
    return `${name}: ${notes.get(id) ?? 'The git remote does not answer.'}`;
  });
}
