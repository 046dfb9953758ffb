// Decides which machines of a fleet land work and run gates: those with the labels in `[gate]
// needs`, preferring the ones with most free resources.

import { type MachineFacts, suits } from './machines.ts';

export interface Lander {
  readonly labels: readonly string[];
  /** The machine's own setting; null if unset. */
  readonly lands: boolean | null;
  readonly agentsMax: number;
  /** The machine cannot reach the remote, or its disk is full. */
  readonly isUnable: boolean;
  /** The machine is low on memory or has a high load. */
  readonly isLow: boolean;
}

/** `last`: only if no other machine can land. */
export type LandingRank = 'lands' | 'last' | 'never';

export function landingRank(machine: Lander, needed: readonly string[]): LandingRank {
  const { labels, lands, agentsMax, isUnable, isLow } = machine;
  if (isUnable || lands === false || !suits(labels, needed)) return 'never';
  if (isLow) return 'last';
  return lands === true || agentsMax > 0 ? 'lands' : 'last';
}

export interface LanderFacts extends MachineFacts {
  readonly lands: boolean;
}

const namedMax = 5;

/**
 * A sentence with the remedy that says why finished work waits for a machine. Returns null if a
 * machine can land it, or if there is no fleet.
 */
export function whyNoLander(
  needed: readonly string[],
  machines: readonly LanderFacts[],
): string | null {
  const alive = machines.filter(({ state }) => state === 'working' || state === 'draining');
  if (alive.length === 0 || alive.some(({ lands }) => lands)) return null;
  const more = alive.length - namedMax;
  const named = alive.slice(0, namedMax).map((machine) => obstacleOf(machine, needed));
  const listed = [...named, ...(more > 0 ? [`${more} more`] : [])].join('; ');
  if (alive.some(({ labels }) => suits(labels, needed))) {
    return `No machine lands work or runs the gate now (${listed}).`;
  }
  const words = needed.map((label) => `"${label}"`).join(' and ');
  const flags = needed.map((label) => `--label ${label}`).join(' ');
  return `No machine with ${needed.length === 1 ? 'label' : 'labels'} ${words} is running, and the gate needs one ([gate] needs): ${listed}. Start "drover worker ${flags}" on one that can run it.`;
}

function obstacleOf({ name, labels, note }: LanderFacts, needed: readonly string[]): string {
  if (!suits(labels, needed)) {
    return `${name} has ${labels.length === 0 ? 'no labels' : labels.join(', ')}`;
  }
  return `${name}: ${note?.replace(/\.$/u, '') ?? 'see its [fleet] lands'}`;
}
