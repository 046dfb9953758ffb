// The little of Markdown that agents write all the time: code blocks, headings, lists, bold and `code`. Everything else,
// links too, stays the text it is.

export type ProseBlock =
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'heading'; readonly text: string }
  | { readonly kind: 'item'; readonly mark: string; readonly depth: number; readonly text: string }
  | { readonly kind: 'text'; readonly text: string };

export interface ProseSpan {
  readonly kind: 'text' | 'code' | 'bold';
  readonly text: string;
}

const fence = /^\s*(```+|~~~+)/u;
const heading = /^#{1,6}\s+(.*)$/u;
const item = /^(\s*)([-*+]|\d{1,3}[.)])\s+(.*)$/u;
const depthMax = 6;

export function proseBlocks(text: string): ProseBlock[] {
  const blocks: ProseBlock[] = [];
  let paragraph: string[] = [];
  let code: { readonly mark: string; readonly lines: string[] } | null = null;
  const endParagraph = (): void => {
    const joined = paragraph.join('\n').replaceAll(/^\n+|\n+$/gu, '');
    if (joined !== '') blocks.push({ kind: 'text', text: joined });
    paragraph = [];
  };
  for (const line of text.replaceAll('\r\n', '\n').split('\n')) {
    const mark = fence.exec(line)?.[1];
    if (code !== null) {
      if (mark?.startsWith(code.mark) === true) {
        blocks.push({ kind: 'code', text: code.lines.join('\n') });
        code = null;
      } else code.lines.push(line);
    } else if (mark !== undefined) {
      endParagraph();
      code = { mark, lines: [] };
    } else {
      const block = lineBlock(line);
      if (block === null) paragraph.push(line);
      else {
        endParagraph();
        blocks.push(block);
      }
    }
  }
  endParagraph();
  // A block that is still being written, or was cut.
  if (code !== null) blocks.push({ kind: 'code', text: code.lines.join('\n') });
  return blocks;
}

function lineBlock(line: string): ProseBlock | null {
  const title = heading.exec(line)?.[1];
  if (title !== undefined) return { kind: 'heading', text: title };
  const [, indent, mark, text] = item.exec(line) ?? [];
  if (mark === undefined || text === undefined) return null;
  const depth = Math.min(depthMax, Math.floor((indent?.replaceAll('\t', '  ').length ?? 0) / 2));
  return { kind: 'item', mark: /\d/u.test(mark) ? mark : '•', depth, text };
}

const spanPattern = /`([^`\n]+)`|\*\*([^*\n]+)\*\*/gu;

export function proseSpans(text: string): ProseSpan[] {
  const spans: ProseSpan[] = [];
  let from = 0;
  for (const found of text.matchAll(spanPattern)) {
    if (found.index > from) spans.push({ kind: 'text', text: text.slice(from, found.index) });
    const [whole, code, bold] = found;
    spans.push(
      code === undefined ? { kind: 'bold', text: bold ?? '' } : { kind: 'code', text: code },
    );
    from = found.index + whole.length;
  }
  if (from < text.length) spans.push({ kind: 'text', text: text.slice(from) });
  return spans;
}
