// The files that a task's text names: `src/cart.ts`, `docs/guide.md:12`, `Makefile`. Pure.

const name = String.raw`[\w@+-][\w@+.-]*`;
const folders = String.raw`(?:\.{1,2}/)*(?:(?:${name}|\.[\w-]+)/)+`;
/** Not inside a longer word, an address or a path that starts elsewhere. */
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
/** Names of products that look like files. */
const products =
  /^(?:angular|backbone|d3|discord|ember|express|nest|next|node|nuxt|p5|react|socket|three|vue)\.js$/iu;

const textMax = 200_000;
const filesMax = 200;

/** Each path once, with slashes and without a leading `./`, in the order of the text. */
export function namedFiles(text: string): readonly string[] {
  const files = new Set<string>();
  for (const [, path = ''] of text.slice(0, textMax).matchAll(found)) {
    const file = path.replace(/[.]+$/u, '').replace(/^(?:\.\/)+/u, '');
    if (isFile(file)) files.add(file);
    if (files.size >= filesMax) break;
  }
  return [...files];
}

/** A name without a known ending is a file only below a folder, and only with some ending. */
function isFile(path: string): boolean {
  const last = path.slice(path.lastIndexOf('/') + 1);
  if (/^(?:Makefile|Dockerfile)$/u.test(last)) return true;
  const dot = last.lastIndexOf('.');
  if (dot < 0 || path.startsWith('../')) return false;
  const ending = last.slice(dot + 1).toLowerCase();
  if (path.includes('/')) return /^[a-z]\w{0,7}$/iu.test(ending);
  return endings.has(ending) && !products.test(last);
}

/** Whether two names mean one file: a bare name means the file of that name in any folder. */
export function isSameFile(a: string, b: string): boolean {
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return long.endsWith(`/${short}`);
}
