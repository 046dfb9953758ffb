// What the page of runs keeps over a reload: which run is shown, and what is searched for.

export interface RunMemory {
  /** Null shows the latest one. */
  readonly run: string | null;
  readonly search: string;
}

export const freshRunMemory: RunMemory = { run: null, search: '' };

/** What an older version has kept may be of another shape. */
export function readRunMemory(raw: unknown): RunMemory {
  if (typeof raw !== 'object' || raw === null) return freshRunMemory;
  const { run, search } = raw as Readonly<Record<string, unknown>>;
  return {
    run: typeof run === 'string' ? run : null,
    search: typeof search === 'string' ? search : '',
  };
}
