// Marks matches in the rows on the page with the browser's own highlights, without changing the
// rows.

import type { FindQuery } from './find-entries.ts';

const rangesMax = 2_000;

/** `current`: the row of the current match. */
export function highlightFound(
  root: ParentNode,
  query: FindQuery | null,
  currentKey: number | null,
): void {
  const registry = CSS.highlights;
  registry.delete('drover-find');
  registry.delete('drover-find-current');
  if (query === null || query.text === '') return;
  const found: Range[] = [];
  const current: Range[] = [];
  for (const row of root.querySelectorAll<HTMLElement>('.row')) {
    const ranges = row.dataset['key'] === String(currentKey) ? current : found;
    for (const part of row.querySelectorAll<HTMLElement>('[data-find]')) {
      if (found.length + current.length >= rangesMax) break;
      ranges.push(...rangesIn(part, query));
    }
  }
  registry.set('drover-find', new Highlight(...found));
  registry.set('drover-find-current', new Highlight(...current));
}

function rangesIn(part: HTMLElement, query: FindQuery): Range[] {
  const nodes: { readonly node: Text; readonly start: number }[] = [];
  const walker = document.createTreeWalker(part, NodeFilter.SHOW_TEXT);
  let whole = '';
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    nodes.push({ node: node as Text, start: whole.length });
    whole += (node as Text).data;
  }
  const text = query.matchesCase ? whole : whole.toLowerCase();
  // The lowercase text may be longer than the original, so that positions would differ.
  if (text.length !== whole.length) return [];
  const words = query.matchesCase ? query.text : query.text.toLowerCase();
  const place = (at: number): { node: Text; offset: number } | null => {
    const holder = nodes.findLast(({ start }) => start <= at);
    return holder === undefined ? null : { node: holder.node, offset: at - holder.start };
  };
  const ranges: Range[] = [];
  for (let at = text.indexOf(words); at !== -1; at = text.indexOf(words, at + words.length)) {
    const from = place(at);
    const to = place(at + words.length - 1);
    if (from === null || to === null || ranges.length >= rangesMax) break;
    const range = document.createRange();
    range.setStart(from.node, from.offset);
    range.setEnd(to.node, to.offset + 1);
    ranges.push(range);
  }
  return ranges;
}
