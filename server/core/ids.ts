// Checks ids, which become parts of branch names and folders, and creates new ones.

export type IdCheck = { readonly ok: true } | { readonly ok: false; readonly reason: string };

export type IdKind = 'epic' | 'task' | 'question' | 'run' | 'hint' | 'note';

const allowedPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

/** On Windows these names open a device, with any extension and in any case. */
const devicePattern = /^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)/i;

/**
 * Drover uses the branches `drover/epic/<id>` and `drover/results/<branch>` besides `drover/<task
 * id>/<attempt>`.
 */
const reservedWords: ReadonlySet<string> = new Set(['epic', 'results']);

/** Whether the id is allowed. The reason continues a sentence that starts with "the id …". */
export function checkId(id: string): IdCheck {
  if (id === '') return { ok: false, reason: 'is empty' };
  if (id.length > 64) return { ok: false, reason: 'is longer than 64 characters' };
  if (!allowedPattern.test(id)) {
    return {
      ok: false,
      reason:
        'must start with a letter or digit and contain only letters, digits, `.`, `_` and `-` (ASCII)',
    };
  }
  if (id.includes('..')) return { ok: false, reason: 'must not contain `..`' };
  if (id.endsWith('.')) return { ok: false, reason: 'must not end with `.`' };
  if (id.endsWith('.lock')) return { ok: false, reason: 'must not end with `.lock`' };
  if (devicePattern.test(id)) return { ok: false, reason: 'is a device name on Windows' };
  if (reservedWords.has(id.toLowerCase())) {
    return { ok: false, reason: "is reserved for Drover's own branches" };
  }
  return { ok: true };
}

const prefixes: { readonly [K in IdKind]: string } = {
  epic: 'epic',
  task: 'task',
  question: 'q',
  run: 'run',
  hint: 'hint',
  note: 'note',
};

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Random bytes needed by `newId`: 8 characters of 5 bits. */
export const randomBytesPerId = 5;

/** `task-` and 8 lower-case base32 characters; other kinds have their own prefix. */
export function newId(kind: IdKind, random: Uint8Array): string {
  if (random.length < randomBytesPerId) throw new Error('newId needs 5 random bytes');
  let text = '';
  for (let index = 0; index < 8; index++) {
    const bit = index * 5;
    const high = random[bit >> 3] ?? 0;
    const low = random[(bit >> 3) + 1] ?? 0;
    const value = (((high << 8) | low) >> (11 - (bit & 7))) & 31;
    text += base32.charAt(value);
  }
  return `${prefixes[kind]}-${text}`;
}

/** The id of a sub-task that Drover numbers itself. `n` counts from 1. */
export function subTaskId(parent: string, n: number): string {
  return `${parent}.${n}`;
}

/** A title may start with a sub-task id (`task-x.5 `), which contains the parent and the number. */
export function subTaskIdInTitle(
  title: string,
): { readonly parent: string; readonly n: number; readonly title: string } | null {
  const match = /^(task-[A-Za-z0-9]+(?:\.[1-9][0-9]*){0,2})\.([1-9][0-9]{0,8})\s+(\S.*)$/s.exec(
    title,
  );
  if (match === null) return null;
  return { parent: match[1] ?? '', n: Number(match[2]), title: match[3] ?? '' };
}
