// The board's memory while it is hidden or the window is reloaded: view state, never a fact.

export type BoardMode = 'kanban' | 'graph';

export interface BoardMemory {
  readonly mode: BoardMode;
  /** The epic chosen on the board. Absent for the one it was opened for. */
  readonly epic?: string | null;
  readonly hidesCompleted: boolean;
}

export const freshMemory: BoardMemory = { mode: 'kanban', hidesCompleted: false };

/** Whatever was kept by another version, or is damaged, is forgotten. */
export function readMemory(kept: unknown): BoardMemory {
  if (typeof kept !== 'object' || kept === null) return freshMemory;
  const { mode, epic, hidesCompleted } = kept as Readonly<Record<string, unknown>>;
  return {
    mode: mode === 'graph' ? 'graph' : 'kanban',
    ...(typeof epic === 'string' || epic === null ? { epic } : {}),
    hidesCompleted: hidesCompleted === true,
  };
}
