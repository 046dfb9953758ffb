// Code as a template: colored, with the changed words marked.

import { html } from 'lit';
import { highlighted, type CodePiece } from './highlight.ts';
import { ansiTemplate, plainTemplate } from './text-template.ts';
import type { TextRange } from './word-diff.ts';

export function codeTemplate(text: string, language: string): unknown {
  const isOutput = text.includes('\u001b') || text.includes('\r');
  const pieces = isOutput ? null : highlighted(text, language);
  return pieces === null ? ansiTemplate(text, true) : pieces.map(pieceTemplate);
}

/** A line of a diff: its colors, split where a changed word starts or ends. */
export function codeLineTemplate(
  text: string,
  language: string,
  changed: readonly TextRange[],
): unknown {
  const pieces = highlighted(text, language) ?? [{ text, kind: null }];
  let at = 0;
  return pieces.flatMap((piece) => {
    const start = at;
    at += piece.text.length;
    return cutPiece(piece, start, changed);
  });
}

function cutPiece(piece: CodePiece, start: number, changed: readonly TextRange[]): unknown[] {
  const end = start + piece.text.length;
  const parts: unknown[] = [];
  let from = start;
  const part = (to: number): unknown =>
    pieceTemplate({ ...piece, text: piece.text.slice(from - start, to - start) });
  for (const [markFrom, markTo] of changed) {
    if (markTo <= from || markFrom >= end) continue;
    if (markFrom > from) {
      parts.push(part(markFrom));
      from = markFrom;
    }
    const to = Math.min(end, markTo);
    parts.push(html`<span class="word">${part(to)}</span>`);
    from = to;
  }
  if (from < end) parts.push(part(end));
  return parts;
}

function pieceTemplate({ text, kind }: CodePiece): unknown {
  const shown = plainTemplate(text);
  return kind === null ? shown : html`<span class="code-${kind}">${shown}</span>`;
}
