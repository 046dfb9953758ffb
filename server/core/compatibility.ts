// Decides which release may continue which running work, and which releases of a fleet assign new
// work.

/**
 * Raised only when step names or outputs change so that the code can no longer read the old ones.
 * Until then, every release continues the work of the others.
 */
export const compatibilityNumber = 1;

/** Tests set the number, to make one build act as two releases. */
export function readCompatibility(
  environment: Readonly<Record<string, string | undefined>>,
): number {
  if (environment['DROVER_TEST'] !== '1') return compatibilityNumber;
  const wanted = Number(environment['DROVER_TEST_COMPATIBILITY']);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : compatibilityNumber;
}

/** The part of a machine that decides. */
export interface ComparedMachine {
  readonly compatibility: number;
  readonly isDraining: boolean;
  /** Maximum number of agents on it. A machine without agents cannot run tasks. */
  readonly agentsMax: number;
}

/**
 * The compatibility number that assigns work: the highest of the machines that take some, so that a
 * fleet that is upgraded machine by machine moves to the new release as soon as one of them has it.
 * Returns null if no machine takes tasks.
 */
export function leadingNumber(machines: readonly ComparedMachine[]): number | null {
  const taking = machines.filter(({ isDraining, agentsMax }) => !isDraining && agentsMax > 0);
  return taking.length === 0 ? null : Math.max(...taking.map(({ compatibility }) => compatibility));
}
