// Which release may go on with which running work, and which of a fleet's releases hands new work
// out.

/**
 * Raised only when the names of steps or their outputs change in a way that the code does not read
 * any more; until then, every release goes on with the work of the others.
 */
export const compatibilityNumber = 1;

/** The part of a machine that decides. */
export interface ComparedMachine {
  readonly compatibility: number;
  readonly isDraining: boolean;
  /** Agents on it at once; a machine without any has nobody to give work to. */
  readonly agentsMax: number;
}

/**
 * The number that hands out work: the highest of the machines that take some, so that a fleet which
 * is upgraded machine by machine moves to the new release as soon as one of them has it. Null: no
 * machine takes any.
 */
export function leadingNumber(machines: readonly ComparedMachine[]): number | null {
  const taking = machines.filter(({ isDraining, agentsMax }) => !isDraining && agentsMax > 0);
  return taking.length === 0 ? null : Math.max(...taking.map(({ compatibility }) => compatibility));
}
