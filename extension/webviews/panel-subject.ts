// The subject of a webview, in a form that survives a reload. Pure.

export interface Subject {
  /** Root of the project, or null for the current project. */
  readonly root: string | null;
  /** A task (stream) or an epic (board). */
  readonly id: string | null;
  readonly attempt: number | null;
}

export const noSubject: Subject = { root: null, id: null, attempt: null };

/** The state restored after a reload comes from a webview, so every field is checked. */
export function readSubject(raw: unknown): Subject {
  if (typeof raw !== 'object' || raw === null) return noSubject;
  const { root, id, attempt } = raw as Readonly<Record<string, unknown>>;
  return {
    root: typeof root === 'string' ? root : null,
    id: typeof id === 'string' ? id : null,
    attempt: typeof attempt === 'number' && Number.isInteger(attempt) ? attempt : null,
  };
}

/** Subjects with equal keys share one panel. */
export function subjectKey(name: string, { root, id, attempt }: Subject): string {
  return JSON.stringify([name, root, id, attempt]);
}
