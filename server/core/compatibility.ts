// Decides which release may continue running work, and which releases in a fleet may assign new
// work.

/**
 * Increase this only if step names or outputs change so that newer code cannot read older ones.
 * Releases with the same number can continue each other's work.
 */
export const compatibilityNumber = 1;

/** Tests override the number so that one build acts as two releases. */
export function readCompatibility(
  environment: Readonly<Record<string, string | undefined>>,
): number {
  if (environment['DROVER_TEST'] !== '1') return compatibilityNumber;
  const wanted = Number(environment['DROVER_TEST_COMPATIBILITY']);
  return Number.isInteger(wanted) && wanted > 0 ? wanted : compatibilityNumber;
}

/** The fields of a machine that the comparison needs. */
export interface ComparedMachine {
  readonly compatibility: number;
  readonly isDraining: boolean;
  /** Maximum number of agents on this machine. 0 means that it runs no tasks. */
  readonly agentsMax: number;
}

/**
 * Returns the compatibility number whose machines assign work: the highest number of any machine
 * that takes tasks. During a rolling upgrade, the new release takes over as soon as one machine
 * runs it. Returns null if no machine takes tasks.
 */
export function leadingNumber(machines: readonly ComparedMachine[]): number | null {
  const taking = machines.filter(({ isDraining, agentsMax }) => !isDraining && agentsMax > 0);
  return taking.length === 0 ? null : Math.max(...taking.map(({ compatibility }) => compatibility));
}
