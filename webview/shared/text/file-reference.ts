// Files that a text names, with their line: `src/cart.ts:12`. Only text that is clearly a path
// counts. Pure.

export interface FileReference {
  readonly path: string;
  readonly line: number | null;
}

const name = String.raw`[\w@+-][\w@+.-]*`;
const path = String.raw`(?:\.{1,2}/|/)?(?:${name}/|\.[\w-]+/)*${name}`;
const whole = new RegExp(
  String.raw`^(${path}\.[A-Za-z]\w{0,7})(?::(\d{1,6}))?(?:[:-]\d{1,6})*$`,
  'u',
);
/** In running text, a line number or a folder distinguishes a file from other words with a dot. */
const inText = new RegExp(
  String.raw`(?<![\w/:.@-])(${path}\.[A-Za-z]\w{0,7}):(\d{1,6})(?::\d{1,6})?(?![\w/])`,
  'gu',
);
const knownEndings = new Set(
  (
    'c cc cpp cs css csv go h hpp html ini java js json jsonl jsx kt lock lua md mjs cjs mts php proto py rb rs scss sh ' +
    'sql svelte swift toml ts tsx txt vue xml yaml yml zig'
  ).split(' '),
);

/** A text that consists only of a path; null for all other texts. */
export function fileReference(text: string): FileReference | null {
  if (text.length > 300) return null;
  const [, file, line] = whole.exec(text) ?? [];
  if (file === undefined) return null;
  const ending = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  if (line === undefined && !knownEndings.has(ending)) return null;
  return { path: file, line: line === undefined ? null : Number(line) };
}

/** Running text, split at the locations that it names. */
export function fileReferences(text: string): ProseSpan[] {
  const spans: ProseSpan[] = [];
  let from = 0;
  for (const found of text.matchAll(inText)) {
    const [shown, file, line] = found;
    if (file === undefined) continue;
    if (found.index > from) spans.push({ kind: 'text', text: text.slice(from, found.index) });
    spans.push({ kind: 'file', file: { path: file, line: Number(line) }, text: shown });
    from = found.index + shown.length;
  }
  if (from < text.length || spans.length === 0)
    spans.push({ kind: 'text', text: text.slice(from) });
  return spans;
}

export type ProseSpan =
  | { readonly kind: 'text' | 'code'; readonly text: string }
  | { readonly kind: 'bold' | 'italic' | 'struck'; readonly spans: readonly ProseSpan[] }
  /** `url` has one of the schemes that a browser can open. */
  | { readonly kind: 'link'; readonly url: string; readonly text: string }
  | { readonly kind: 'file'; readonly file: FileReference; readonly text: string }
  /** An image that the project stores; `text` is its source. */
  | {
      readonly kind: 'image';
      readonly name: string;
      readonly words: string;
      readonly text: string;
    };
