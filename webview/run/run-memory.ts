// The state that the page of runs keeps over a reload: the displayed run, and the search.

export interface RunMemory {
  /** Null shows the latest one. */
  readonly run: string | null;
  readonly search: string;
}

export const freshRunMemory: RunMemory = { run: null, search: '' };

/** State stored by an older version may have another shape. */
export function readRunMemory(raw: unknown): RunMemory {
  if (typeof raw !== 'object' || raw === null) return freshRunMemory;
  const { run, search } = raw as Readonly<Record<string, unknown>>;
  return {
    run: typeof run === 'string' ? run : null,
    search: typeof search === 'string' ? search : '',
  };
}
