// The subject of a webview, in the form that survives a reload. Pure.

export interface Subject {
  /** Root of the project, or null for the current project. */
  readonly root: string | null;
  /** A task (stream) or an epic (board). */
  readonly id: string | null;
  readonly attempt: number | null;
}

export const noSubject: Subject = { root: null, id: null, attempt: null };

/** The restored state after a reload is a webview's: every field is checked. */
export function readSubject(raw: unknown): Subject {
  if (typeof raw !== 'object' || raw === null) return noSubject;
  const { root, id, attempt } = raw as Readonly<Record<string, unknown>>;
  return {
    root: typeof root === 'string' ? root : null,
    id: typeof id === 'string' ? id : null,
    attempt: typeof attempt === 'number' && Number.isInteger(attempt) ? attempt : null,
  };
}

/** Equal keys show the same thing: there is one panel for each. */
export function subjectKey(name: string, { root, id, attempt }: Subject): string {
  return JSON.stringify([name, root, id, attempt]);
}
