// Describes the candidate that a running gate tests, as a sentence without the final period.

import { formatOrdinal } from '../format.ts';

/** A gate that tests the work of a task together with other work. */
export interface GatedTask {
  /** The branch that the work lands on. */
  readonly line: string;
  /** The tasks whose work is merged, in the order in which they land. */
  readonly tasks: readonly string[];
  /** The task's place in the queue of the branch, from 1. */
  readonly place: number;
  /** True if work before this candidate is still being tested. */
  readonly early: boolean;
  /** True if the work failed once, and the gate tries the same tree again. */
  readonly second: boolean;
}

const namedMax = 4;

/** `names`: words for the tasks, in their order. */
export function runningGateText(gate: GatedTask, names: readonly string[] = gate.tasks): string {
  const { line, place, early, second } = gate;
  const kept = namedMax - 1;
  const isLong = names.length > namedMax + 1;
  const shown = isLong
    ? [...names.slice(0, kept), `${names.length - kept - 1} more`, ...names.slice(-1)]
    : names;
  const how = second ? 'again ' : early ? 'early ' : '';
  return `Gate runs ${how}on ${[line, ...shown].join(' + ')} (${formatOrdinal(place)} in the queue)`;
}
