// Detects file names that cannot be checked out on every system: Windows refuses some, macOS and
// Windows treat some different names as the same file, and git ignores some everywhere.

/** On Windows these names open a device, with any extension and in any case. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:[.:]|$)/iu;
const refusedCharacter = /[<>:"|?*\\]|\p{Cc}/u;
/** HFS+ ignores these characters in names, so it treats `.g\u200cit` as `.git`. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/** Why a path cannot be checked out everywhere. Returns null if it can. */
export function whyNotPortable(path: string): string | null {
  for (const name of path.split('/')) {
    const why = whyNameNotPortable(name);
    if (why !== null) return why;
  }
  return null;
}

function whyNameNotPortable(name: string): string | null {
  if (isLeftOut(name)) return 'git ignores such a name';
  if (device.test(name)) return 'a device name on Windows';
  const found = refusedCharacter.exec(name)?.[0];
  if (found !== undefined) {
    const sign = /\p{Cc}/u.test(found) ? 'a control character' : found;
    return `Windows does not allow ${sign} in a name`;
  }
  if (/[. ]$/u.test(name)) return 'Windows does not allow a dot or a space at the end of a name';
  return null;
}

/**
 * Whether git refuses to track the path on every system, because some system would treat it as
 * `.git`.
 */
export function isLeftOutByGit(path: string): boolean {
  return path.split('/').some(isLeftOut);
}

function isLeftOut(name: string): boolean {
  const plain = name.replaceAll(ignoredByHfs, '');
  return /^(?:\.git|git~1)(?:[. ]*|[. ]*:.*)$/iu.test(plain);
}

/** Returns the same key for two paths that macOS or Windows treats as the same file. */
function caseKey(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/**
 * Finds added paths that other systems treat as the same file as another path, or that lie in such
 * a folder. Maps each one to the conflicting path or folder.
 */
export function caseClashes(
  paths: readonly string[],
  added: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const fresh = new Map<string, Set<string>>();
  for (const path of added) for (const part of prefixes(path)) put(fresh, part);
  const old = new Map<string, Set<string>>();
  for (const path of paths) {
    if (added.has(path)) continue;
    for (const part of prefixes(path)) if (fresh.has(caseKey(part))) put(old, part);
  }
  const clashes = new Map<string, string>();
  for (const path of added) {
    for (const part of prefixes(path)) {
      const key = caseKey(part);
      const known = old.get(key) ?? new Set();
      // If several paths are new, the first one is allowed.
      const [first] = known.size > 0 ? known : [...(fresh.get(key) ?? [])].toSorted();
      if (known.has(part) || first === undefined || first === part) continue;
      clashes.set(path, first);
      break;
    }
  }
  return clashes;
}

function put(map: Map<string, Set<string>>, path: string): void {
  const key = caseKey(path);
  map.set(key, (map.get(key) ?? new Set()).add(path));
}

/** Yields `a`, `a/b` and `a/b/c` for `a/b/c`. */
function* prefixes(path: string): Generator<string> {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
    yield path.slice(0, at);
  yield path;
}
