// A disk without space, as the system reports it to a program: a program's output does not prove
// it, because anything can print that.

/** True of an error that the system gave to this process. */
export function isFullDisk(error: unknown): error is NodeError {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeError;
  // Linux uses the same code for its limit of watched files.
  return (code === 'ENOSPC' || code === 'EDQUOT') && syscall !== 'watch';
}

/** Recognizes the message of such an error, for failures of which only the message was stored. */
export function startsAsFullDisk(message: string): boolean {
  return /^(?:ENOSPC: no space|EDQUOT: )/.test(message);
}

interface NodeError extends Error {
  readonly code?: string;
  readonly syscall?: string;
}
