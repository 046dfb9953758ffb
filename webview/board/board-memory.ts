// The board's memory while it is hidden or the window is reloaded. It contains view state, never
// facts.

export type BoardMode = 'kanban' | 'graph';

export interface BoardMemory {
  readonly mode: BoardMode;
  /** The epic selected on the board. Absent if it is the epic that the board was opened for. */
  readonly epic?: string | null;
  readonly hidesCompleted: boolean;
}

export const freshMemory: BoardMemory = { mode: 'kanban', hidesCompleted: false };

/** State that is damaged or was stored by another version is discarded. */
export function readMemory(kept: unknown): BoardMemory {
  if (typeof kept !== 'object' || kept === null) return freshMemory;
  const { mode, epic, hidesCompleted } = kept as Readonly<Record<string, unknown>>;
  return {
    mode: mode === 'graph' ? 'graph' : 'kanban',
    ...(typeof epic === 'string' || epic === null ? { epic } : {}),
    hidesCompleted: hidesCompleted === true,
  };
}
