// Finds the files that a task's text names: `src/cart.ts`, `docs/guide.md:12`, `Makefile`. Pure.

const name = String.raw`[\w@+-][\w@+.-]*`;
const folders = String.raw`(?:\.{1,2}/)*(?:(?:${name}|\.[\w-]+)/)+`;
/** Excludes names inside a longer word, a URL or another path. */
const before = String.raw`(?<![\w:/.@~\\-])`;
const found = new RegExp(
  String.raw`${before}(${folders}(?:${name}|\.[\w-]+)|(?:\./)*${name}\.[A-Za-z]\w{0,7}|Makefile|Dockerfile)(?![\w/\\]|:/)`,
  'gu',
);
const endings = new Set(
  (
    'c cc cpp cs css csv go h hpp html ini java js json jsonl jsx kt lock lua md mjs cjs mts php proto py rb rs scss sh ' +
    'sql svelte swift toml ts tsx txt vue xml yaml yml zig'
  ).split(' '),
);
/** Product names that look like file names. */
const products =
  /^(?:angular|backbone|d3|discord|ember|express|nest|next|node|nuxt|p5|react|socket|three|vue)\.js$/iu;

const textMax = 200_000;
const filesMax = 200;

/** Returns each path once in text order, with forward slashes and without a leading `./`. */
export function namedFiles(text: string): readonly string[] {
  const files = new Set<string>();
  for (const [, path = ''] of text.slice(0, textMax).matchAll(found)) {
    const file = path.replace(/[.]+$/u, '').replace(/^(?:\.\/)+/u, '');
    if (isFile(file)) files.add(file);
    if (files.size >= filesMax) break;
  }
  return [...files];
}

/** A name with an unknown extension counts as a file only if it is inside a folder. */
function isFile(path: string): boolean {
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (/^(?:Makefile|Dockerfile)$/u.test(last)) return true;
  const dot = last.lastIndexOf('.');
  if (dot < 0 || path.startsWith('../')) return false;
  const ending = last.slice(dot + 1).toLowerCase();
  if (path.includes('/')) return /^[a-z]\w{0,7}$/iu.test(ending);
  return endings.has(ending) && !products.test(last);
}

/**
 * Whether two names mean the same file. A bare name matches a file with that name in any folder.
 */
export function isSameFile(a: string, b: string): boolean {
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return long.endsWith(`/${short}`);
}
