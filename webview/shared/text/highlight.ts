// Code as colored pieces. The kinds form a closed set: a grammar's own names never reach the page.

import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import csharp from 'highlight.js/lib/languages/csharp';
import css from 'highlight.js/lib/languages/css';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import php from 'highlight.js/lib/languages/php';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';

export type CodeKind = 'keyword' | 'string' | 'number' | 'comment' | 'name' | 'type' | 'attribute';

export interface CodePiece {
  readonly text: string;
  readonly kind: CodeKind | null;
}

const grammars = {
  bash,
  c,
  cpp,
  csharp,
  css,
  go,
  ini,
  java,
  javascript,
  json,
  php,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
};
/** File extensions that no grammar has as an alias. */
const aliases = { bash: ['console', 'shell'], cpp: ['hh'], ini: ['lock'], xml: ['vue'] };
let made: ReturnType<typeof createLowlight> | null = null;

/** Created for the first piece of code, so that a page without code appears sooner. */
function lowlight(): ReturnType<typeof createLowlight> {
  if (made === null) {
    made = createLowlight(grammars);
    made.registerAlias(aliases);
  }
  return made;
}

const charsMax = 20_000;

/** Returns null if the language is unknown, or the text too long. */
export function highlighted(text: string, language: string): readonly CodePiece[] | null {
  if (language === '' || text.length > charsMax || !lowlight().registered(language)) return null;
  const pieces: CodePiece[] = [];
  const walk = (nodes: readonly Node[], kind: CodeKind | null): void => {
    for (const node of nodes) {
      if (node.type === 'text') pieces.push({ text: node.value ?? '', kind });
      else walk(node.children ?? [], kindOf(node) ?? kind);
    }
  };
  walk(lowlight().highlight(language, text).children as readonly Node[], null);
  return pieces;
}

/** Determines a file's language by its extension. */
export function languageOfPath(path: string | null): string {
  const file = path?.slice(path.lastIndexOf('/') + 1) ?? '';
  const ending = file.slice(file.lastIndexOf('.') + 1).toLowerCase();
  return /^\w{1,12}$/u.test(ending) && file.includes('.') ? ending : '';
}

/** The parts of a lowlight tree that are used. */
interface Node {
  readonly type: string;
  readonly value?: string;
  readonly children?: readonly Node[];
  readonly properties?: { readonly className?: unknown };
}

const kinds: ReadonlyMap<string, CodeKind> = new Map([
  ...(['keyword', 'operator', 'meta', 'selector-tag', 'template-tag'] as const).map(
    (scope) => [scope, 'keyword'] as const,
  ),
  ...(['string', 'regexp', 'quote', 'addition', 'link', 'char'] as const).map(
    (scope) => [scope, 'string'] as const,
  ),
  ...(['number', 'literal', 'symbol', 'bullet'] as const).map(
    (scope) => [scope, 'number'] as const,
  ),
  ['comment', 'comment'],
  ...(['title', 'section', 'name', 'selector-id', 'selector-class'] as const).map(
    (scope) => [scope, 'name'] as const,
  ),
  ...(['type', 'built_in', 'class'] as const).map((scope) => [scope, 'type'] as const),
  ...(['attr', 'attribute', 'property', 'variable', 'params', 'selector-attr'] as const).map(
    (scope) => [scope, 'attribute'] as const,
  ),
]);

function kindOf(node: Node): CodeKind | null {
  const names = node.properties?.className;
  const [first] = Array.isArray(names) ? names : [];
  return typeof first === 'string' ? (kinds.get(first.replace('hljs-', '')) ?? null) : null;
}
