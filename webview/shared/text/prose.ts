// Markdown of agents and people, as a tree of closed kinds: no HTML, links only to the web and to
// files, and images only from the project. Any other link, image or HTML is shown as its source
// text.

import { isAttachmentName } from '../../../server/core/plan/attachments.ts';
import { Marked, type MarkedToken, type Token, type Tokens } from 'marked';
import { fileReference, fileReferences, type ProseSpan } from './file-reference.ts';

export type ProseBlock =
  | { readonly kind: 'code'; readonly text: string; readonly language: string }
  | { readonly kind: 'heading'; readonly level: number; readonly spans: readonly ProseSpan[] }
  | {
      readonly kind: 'list';
      /** Number of the first item; null for a list without numbers. */
      readonly start: number | null;
      readonly items: readonly ProseItem[];
    }
  | { readonly kind: 'quote'; readonly blocks: readonly ProseBlock[] }
  | {
      readonly kind: 'table';
      readonly head: readonly ProseCell[];
      readonly rows: readonly (readonly ProseCell[])[];
    }
  | { readonly kind: 'rule' }
  | { readonly kind: 'text'; readonly spans: readonly ProseSpan[] };

export interface ProseItem {
  /** Null if it is not an item of a to-do list. */
  readonly isDone: boolean | null;
  readonly blocks: readonly ProseBlock[];
}

export interface ProseCell {
  readonly align: 'start' | 'center' | 'end';
  readonly spans: readonly ProseSpan[];
}

/** Deeper nesting is shown as plain text. */
const depthMax = 8;
/**
 * Longer texts, and lines that no person writes, are shown unparsed, because parsing them could
 * take seconds.
 */
const charsMax = 60_000;
const lineCharsMax = 8_000;
const nestingMax = /^(?:[ \t]*[>*+-][ \t]?){40}/mu;

const marked = new Marked({ gfm: true, async: false });

export function proseBlocks(text: string): ProseBlock[] {
  if (text.trim() === '') return [];
  if (text.length > charsMax || nestingMax.test(text) || hasLongLine(text)) return [plain(text)];
  try {
    return marked.lexer(text).flatMap((token) => blockOf(token, 0));
  } catch {
    // A text that the parser cannot handle is still shown.
    return [plain(text)];
  }
}

function hasLongLine(text: string): boolean {
  return text.split('\n').some((line) => line.length > lineCharsMax);
}

function plain(text: string): ProseBlock {
  return { kind: 'text', spans: [{ kind: 'text', text: text.replaceAll(/^\n+|\n+$/gu, '') }] };
}

function blockOf(given: Token, depth: number): ProseBlock[] {
  const token = given as MarkedToken;
  if (depth > depthMax) return [plain(token.raw)];
  switch (token.type) {
    case 'space':
    case 'def':
      return token.type === 'space' ? [] : [plain(token.raw)];
    case 'code':
      return [{ kind: 'code', text: token.text, language: languageOf(token.lang ?? '') }];
    case 'heading':
      return [{ kind: 'heading', level: token.depth, spans: spansOf(token.tokens, 0) }];
    case 'list':
      return [listOf(token as Tokens.List, depth)];
    case 'blockquote':
      return [
        { kind: 'quote', blocks: token.tokens.flatMap((inner) => blockOf(inner, depth + 1)) },
      ];
    case 'table':
      return [tableOf(token as Tokens.Table)];
    case 'hr':
      return [{ kind: 'rule' }];
    case 'paragraph':
      return [{ kind: 'text', spans: spansOf(token.tokens, 0) }];
    case 'text':
      return [{ kind: 'text', spans: spansOf(token.tokens ?? [token], 0) }];
    default:
      return [plain(token.raw)];
  }
}

function languageOf(info: string): string {
  return /^[\w+#.-]{1,30}/u.exec(info.trim())?.[0].toLowerCase() ?? '';
}

function listOf(list: Tokens.List, depth: number): ProseBlock {
  const items = list.items.map((item) => ({
    isDone: item.task ? item.checked === true : null,
    blocks: item.tokens
      .filter(({ type }) => type !== 'checkbox')
      .flatMap((inner) => blockOf(inner, depth + 1)),
  }));
  return { kind: 'list', start: list.ordered ? Number(list.start) || 1 : null, items };
}

function tableOf(table: Tokens.Table): ProseBlock {
  const cell = ({ tokens, align }: Tokens.TableCell): ProseCell => ({
    align: align === 'center' ? 'center' : align === 'right' ? 'end' : 'start',
    spans: spansOf(tokens, 0),
  });
  return {
    kind: 'table',
    head: table.header.map(cell),
    rows: table.rows.map((row) => row.map(cell)),
  };
}

function spansOf(tokens: readonly Token[], depth: number): ProseSpan[] {
  return tokens.flatMap((token) => spanOf(token as MarkedToken, depth));
}

function spanOf(token: MarkedToken, depth: number): ProseSpan[] {
  if (depth > depthMax) return [{ kind: 'text', text: token.raw }];
  switch (token.type) {
    case 'codespan': {
      const file = fileReference(token.text);
      if (file !== null) return [{ kind: 'file', file, text: token.text }];
      return [{ kind: 'code', text: token.text }];
    }
    case 'strong':
      return [{ kind: 'bold', spans: spansOf(token.tokens, depth + 1) }];
    case 'em':
      return [{ kind: 'italic', spans: spansOf(token.tokens, depth + 1) }];
    case 'del':
      return [{ kind: 'struck', spans: spansOf(token.tokens, depth + 1) }];
    case 'link':
      return [linkOf(token as Tokens.Link)];
    case 'image':
      return [imageOf(token as Tokens.Image)];
    case 'br':
      return [{ kind: 'text', text: '\n' }];
    case 'escape':
      return [{ kind: 'text', text: token.text }];
    case 'text':
      return token.tokens === undefined
        ? fileReferences(withoutEntities(token.text))
        : spansOf(token.tokens, depth + 1);
    default:
      return [{ kind: 'text', text: token.raw }];
  }
}

function linkOf(link: Tokens.Link): ProseSpan {
  const { href, text, raw } = link;
  const url = webAddress(href);
  if (url !== null) return { kind: 'link', url, text: withoutEntities(text) };
  const file = /^[a-z][\w+.-]*:/iu.test(href) ? null : fileReference(href.replace(/#L?/u, ':'));
  return file === null ? { kind: 'text', text: raw } : { kind: 'file', file, text };
}

const attachmentScheme = 'attachment:';

/** Any other address would reveal to its server that the text is being read. */
function imageOf({ href, text, raw }: Tokens.Image): ProseSpan {
  const name = href.startsWith(attachmentScheme) ? href.slice(attachmentScheme.length) : '';
  return isAttachmentName(name)
    ? { kind: 'image', name, words: withoutEntities(text), text: raw }
    : { kind: 'text', text: raw };
}

const openedSchemes: ReadonlySet<string> = new Set(['http:', 'https:', 'mailto:']);

function webAddress(href: string): string | null {
  if (!URL.canParse(href)) return null;
  const url = new URL(href);
  return openedSchemes.has(url.protocol) ? url.href : null;
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&amp;': '&',
};

function withoutEntities(text: string): string {
  return text.replaceAll(/&(?:lt|gt|quot|#39|amp);/gu, (found) => entities[found] ?? found);
}
