// The results of a merge in the editor: where they are, what they contain at first, and when they
// are done. Pure.

export interface MergedFile {
  readonly path: string;
  /** Address of the file that holds the result. */
  readonly output: string;
  /** Whether base, landed and the task's version have the file. */
  readonly sides: readonly boolean[];
  readonly isMerged: boolean;
}

export interface Merge {
  readonly root: string;
  readonly task: string;
  readonly title: string;
  readonly base: string | null;
  readonly onto: string;
  readonly commit: string;
  readonly files: readonly MergedFile[];
}

const marks = { ours: '<<<<<<< landed', between: '=======', theirs: '>>>>>>> this task' } as const;

/** Git's own marks: VS Code then starts from the base, and other editors show both sides. */
export function emptyResult(landed: string, task: string): string {
  return [marks.ours, withEnd(landed), `${marks.between}\n`, withEnd(task), marks.theirs]
    .map((part, at) => (at === 0 || at === 4 ? `${part}\n` : part))
    .join('');
}

function withEnd(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/**
 * Undefined: a conflict is still in it. Null: one side took the file out, and so did the person.
 */
export function editedResult(
  text: string,
  { sides }: Pick<MergedFile, 'sides'>,
): string | null | undefined {
  const lines = text.split('\n').map((line) => line.trimEnd());
  if (lines.some((line) => line === marks.ours || line === marks.theirs)) return undefined;
  const [, hasLanded, hasTask] = sides;
  return text === '' && !(hasLanded === true && hasTask === true) ? null : text;
}

/** The parts of a path below the storage folder: nothing of it climbs out of there. */
export function storedName(key: string, path: string): readonly string[] {
  const parts = path.split('/').filter((part) => part !== '' && part !== '.' && part !== '..');
  return [key.replaceAll(/[^\w-]/gu, '_'), ...parts];
}

/** What an older version has kept may be of another shape. */
export function readMerges(raw: unknown): readonly Merge[] {
  return Array.isArray(raw) ? raw.filter(isMerge) : [];
}

function isMerge(value: unknown): value is Merge {
  if (typeof value !== 'object' || value === null) return false;
  const { root, task, title, onto, commit, files } = value as Readonly<Record<string, unknown>>;
  return (
    [root, task, title, onto, commit].every((each) => typeof each === 'string') &&
    Array.isArray(files) &&
    files.every((file) => typeof (file as MergedFile | null)?.output === 'string')
  );
}
