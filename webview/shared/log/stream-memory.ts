// The memory of a stream panel over hiding, moving, reloading and restarting: its position and its
// open entries, never facts of the board. The state that VS Code restores may be from another
// version, so it is checked.

export interface StreamMemory {
  /** The attempt that the user chose, or null for the newest one. */
  readonly attempt: number | null;
  /** Null at the end. */
  readonly place: StreamPlace | null;
  readonly folds: readonly string[];
  readonly draft: string;
  /** The part of the panel to show; null selects the part that has content. */
  readonly page: StreamPage | null;
}

export const streamPages = ['task', 'stream'] as const;
export type StreamPage = (typeof streamPages)[number];

export interface StreamPlace {
  /** The attempt that the position belongs to. */
  readonly attempt: number;
  /**
   * The byte offset of a page of the log, the number of an event in it, and how far the event's row
   * is scrolled out of view.
   */
  readonly offset: number;
  readonly index: number;
  readonly px: number;
}

export const emptyMemory: StreamMemory = {
  attempt: null,
  place: null,
  folds: [],
  draft: '',
  page: null,
};

const foldsMax = 500;
const draftMax = 20_000;

export function readMemory(raw: unknown): StreamMemory {
  if (typeof raw !== 'object' || raw === null) return emptyMemory;
  const memory = raw as Readonly<Record<string, unknown>>;
  const folds = Array.isArray(memory['folds']) ? memory['folds'] : [];
  return {
    attempt: count(memory['attempt']),
    place: readPlace(memory['place']),
    folds: folds.filter((fold): fold is string => typeof fold === 'string').slice(-foldsMax),
    draft: typeof memory['draft'] === 'string' ? memory['draft'].slice(0, draftMax) : '',
    page: streamPages.find((page) => page === memory['page']) ?? null,
  };
}

function readPlace(raw: unknown): StreamPlace | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const place = raw as Readonly<Record<string, unknown>>;
  const attempt = count(place['attempt']);
  const offset = count(place['offset']);
  const index = count(place['index']);
  if (attempt === null || offset === null || index === null) return null;
  const px = typeof place['px'] === 'number' && Number.isFinite(place['px']) ? place['px'] : 0;
  return { attempt, offset, index, px };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

export function boundedFolds(folds: ReadonlySet<string>): readonly string[] {
  return [...folds].slice(-foldsMax);
}
