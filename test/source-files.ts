// The sources as a graph: which file imports which, and the exports of each. Used by tests of the
// code's structure.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '..');
export const sourceTops = ['server', 'extension', 'webview'] as const;

export interface SourceFile {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly text: string;
  /** Files of this project that it imports, for types or for values. */
  readonly imports: readonly string[];
}

const relativeImport = /(?:from|import)\s*\(?\s*'(\.[^']+)'/gu;

/** `at`: the root, if it is not this repository's. */
export function readSources(
  tops: readonly string[] = sourceTops,
  at: string = root,
): readonly SourceFile[] {
  const paths = tops.flatMap((top) => codeFiles(at, top));
  return paths.map((path) => {
    const text = readFileSync(join(at, path), 'utf8');
    const targets = [...text.matchAll(relativeImport)].map(([, target = '']) =>
      relative(at, resolve(at, dirname(path), target)),
    );
    return { path, text, imports: [...new Set(targets)] };
  });
}

function codeFiles(at: string, top: string): string[] {
  return readdirSync(join(at, top), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mts|mjs)$/u.test(name) && !name.endsWith('.d.ts'))
    .filter((name) => !name.includes('node_modules'))
    .map((name) => join(top, name));
}

/** Files that import each other, directly or through others; each cycle is listed once. */
export function importCircles(files: readonly SourceFile[]): readonly string[][] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const number = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];
  const visit = (path: string): void => {
    number.set(path, number.size);
    lowest.set(path, number.get(path) ?? 0);
    open.push(path);
    for (const target of byPath.get(path)?.imports ?? []) {
      if (!byPath.has(target)) continue;
      if (!number.has(target)) visit(target);
      else if (!open.includes(target)) continue;
      lowest.set(path, Math.min(lowest.get(path) ?? 0, lowest.get(target) ?? 0));
    }
    if (lowest.get(path) !== number.get(path)) return;
    const circle = open.splice(open.indexOf(path));
    if (circle.length > 1) circles.push(circle.toSorted());
  };
  for (const { path } of files) if (!number.has(path)) visit(path);
  return circles;
}

const exportedName =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|const|let|class|interface|type|enum)\s+([\w$]+)/gmu;

export function exportsOf(file: SourceFile): readonly string[] {
  return [...file.text.matchAll(exportedName)].map(([, name = '']) => name);
}

interface NamedImport {
  readonly name: string;
  /** The file that the name is imported from, relative to the root. */
  readonly from: string;
}

/** Names that a file imports from other files of this project, as these files export them. */
export function importedNames(file: SourceFile): readonly NamedImport[] {
  return namesOf(file, /^import (?:type )?(?:\w+, )?\{([^}]*)\} from '(\.[^']+)';$/gmu);
}

/** Names that these files re-export from other files of this project. */
export function namesHandedOn(
  files: readonly SourceFile[],
): readonly (NamedImport & { readonly by: string })[] {
  const pattern = /^export (?:type )?(?:\{([^}]*)\}|\*) from '(\.[^']+)';$/gmu;
  return files.flatMap((file) => namesOf(file, pattern).map((one) => ({ by: file.path, ...one })));
}

function namesOf({ path, text }: SourceFile, pattern: RegExp): readonly NamedImport[] {
  return [...text.matchAll(pattern)].flatMap(([, names = '*', target = '']) => {
    const from = join(dirname(path), target);
    return names
      .split(',')
      .map(
        (name) =>
          name
            .trim()
            .replace(/^type /u, '')
            .split(' as ')[0] ?? '',
      )
      .filter((name) => name !== '')
      .map((name) => ({ name, from }));
  });
}

const handedOn = /^export (?:type )?\{[^}]*\} from '[^']+';$/gmu;

/** Exports that no other file uses and that their own file does not use either; as `path: name`. */
export function deadExports(files: readonly SourceFile[]): readonly string[] {
  const filesWith = new Map<string, number>();
  for (const { text } of files) {
    // A file that only re-exports a name does not use it.
    for (const word of wordsOf(text.replaceAll(handedOn, '')))
      filesWith.set(word, (filesWith.get(word) ?? 0) + 1);
  }
  const isUsedAt = (name: string, text: string): boolean =>
    text.indexOf(name) !== text.lastIndexOf(name);
  return files
    .filter(({ path }) => path.endsWith('.ts'))
    .flatMap((file) =>
      exportsOf(file)
        .filter((name) => filesWith.get(name) === 1 && !isUsedAt(name, file.text))
        .map((name) => `${file.path}: ${name}`),
    );
}

export function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.match(/[\w$]+/gu));
}
