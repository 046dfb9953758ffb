// Review comments as the text that is sent to the agent, and as drafts that survive a reload. Pure.

export interface DraftComment {
  readonly id: string;
  /** The task or epic that is reviewed. */
  readonly review: string;
  readonly root: string;
  readonly sha: string;
  readonly path: string;
  /** Starts at 0, as editors count. */
  readonly startLine: number;
  readonly endLine: number;
  /** The commented lines, as they were. */
  readonly quoted: string;
  readonly text: string;
}

/** The backend's limit for one message. */
export const sentMax = 20_000;

/** Sorted by file and line; each with its location and its subject. */
export function composeComments(drafts: readonly DraftComment[], general = ''): string {
  const sorted = drafts.toSorted(
    (a, b) => compare(a.path, b.path) || a.startLine - b.startLine || compare(a.id, b.id),
  );
  const parts = sorted.map((draft) => {
    const quote = quoteOf(draft.quoted);
    return [placeOf(draft), ...(quote === '' ? [] : [quote]), draft.text.trim()].join('\n');
  });
  return [general.trim(), ...parts].filter((part) => part !== '').join('\n\n');
}

/**
 * `path:line` or `path:first-last`, counted from 1 as people do. A path with unusual characters is
 * quoted.
 */
function placeOf({ path, startLine, endLine }: DraftComment): string {
  const name = /^[\p{L}\p{N} ._/@+-]+$/u.test(path) ? path : JSON.stringify(path);
  const lines = endLine > startLine ? `${startLine + 1}-${endLine + 1}` : `${startLine + 1}`;
  return `${name}:${lines}`;
}

const quotedLinesMax = 12;
const quotedLineMax = 300;

function quoteOf(quoted: string): string {
  if (quoted === '') return '';
  const lines = quoted.split(/\r?\n/u);
  const kept = lines.slice(0, quotedLinesMax).map((line) => `> ${line.slice(0, quotedLineMax)}`);
  return (lines.length > quotedLinesMax ? [...kept, '> …'] : kept).join('\n');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

const draftsMax = 2_000;

/** Comments that are damaged or were stored by another version are left out. */
export function readDrafts(kept: unknown): readonly DraftComment[] {
  if (!Array.isArray(kept)) return [];
  return kept.slice(0, draftsMax).flatMap((raw: unknown) => readDraft(raw) ?? []);
}

function readDraft(raw: unknown): DraftComment | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const { id, review, root, sha, path, startLine, endLine, quoted, text } = raw as Readonly<
    Record<string, unknown>
  >;
  if (typeof id !== 'string' || typeof review !== 'string' || typeof root !== 'string') return null;
  if (typeof sha !== 'string' || typeof path !== 'string') return null;
  if (typeof quoted !== 'string' || typeof text !== 'string') return null;
  if (!isLine(startLine) || !isLine(endLine)) return null;
  return { id, review, root, sha, path, startLine, endLine, quoted, text };
}

function isLine(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}
