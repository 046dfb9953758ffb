// Recognizes a full disk from the error of a system call. A program's output is not proof, because
// any program can print such a message.

/** True if the system reported a full disk to this process. */
export function isFullDisk(error: unknown): error is NodeError {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeError;
  // Linux uses the same code for its limit on watched files.
  return (code === 'ENOSPC' || code === 'EDQUOT') && syscall !== 'watch';
}

/** Recognizes the stored message of such an error. */
export function startsAsFullDisk(message: string): boolean {
  return /^(?:ENOSPC: no space|EDQUOT: )/.test(message);
}

interface NodeError extends Error {
  readonly code?: string;
  readonly syscall?: string;
}
