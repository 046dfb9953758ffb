// Names of files that some checkouts cannot have: Windows refuses them, macOS and Windows take two
// of them for one file, or git leaves them out everywhere.

/** Windows opens a device for these names, with any extension and in any case. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])[ ]*(?:[.:]|$)/iu;
const refusedCharacter = /[<>:"|?*\\]|\p{Cc}/u;
/** HFS+ ignores these characters in names, so `.g\u200cit` is `.git` there. */
const ignoredByHfs = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/gu;

/** Why a path cannot be checked out everywhere; null if it can. */
export function whyNotPortable(path: string): string | null {
  for (const name of path.split('/')) {
    const why = whyNameNotPortable(name);
    if (why !== null) return why;
  }
  return null;
}

function whyNameNotPortable(name: string): string | null {
  if (isLeftOut(name)) return 'git leaves out such a name';
  if (device.test(name)) return 'a device name on Windows';
  const found = refusedCharacter.exec(name)?.[0];
  if (found !== undefined) {
    const sign = /\p{Cc}/u.test(found) ? 'a control character' : found;
    return `Windows allows no ${sign} in a name`;
  }
  if (/[. ]$/u.test(name)) return 'Windows allows no dot or blank at the end of a name';
  return null;
}

/** Whether git refuses to track a path, on every system: it could be the repository elsewhere. */
export function isLeftOutByGit(path: string): boolean {
  return path.split('/').some(isLeftOut);
}

function isLeftOut(name: string): boolean {
  const plain = name.replaceAll(ignoredByHfs, '');
  return /^(?:\.git|git~1)(?:[. ]*|[. ]*:.*)$/iu.test(plain);
}

/** The same for two paths that are one file on macOS or Windows. */
function caseKey(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/**
 * The added paths of a tree that would be one file with another path on other systems, or lie in a
 * folder that would: maps each to the other path, or folder.
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
      // If several are new, the first may stay.
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

/** `a`, `a/b` and `a/b/c` of `a/b/c`. */
function* prefixes(path: string): Generator<string> {
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1))
    yield path.slice(0, at);
  yield path;
}
