// The position of an insertion in the text of a field. Pure.

export interface FieldText {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/**
 * The text with `added` in place of the selection, and the part of it that is then selected. A
 * block becomes a separate paragraph; anything else is surrounded by spaces.
 */
export function inserted({ text, start, end }: FieldText, added: string): FieldText {
  const before = text.slice(0, start);
  const rest = text.slice(end);
  const isBlock = added.includes('\n') || added.startsWith('![');
  const gap = isBlock ? '\n\n' : ' ';
  const space = isBlock ? /\n\n$/u : /\s$/u;
  const lead =
    before === '' || space.test(before) ? '' : isBlock && before.endsWith('\n') ? '\n' : gap;
  const tail = rest === '' || /^\s/u.test(rest) ? '' : gap;
  const from = before.length + lead.length;
  const words = /^!\[([^\]]*)\]/u.exec(added)?.[1];
  const whole = `${before}${lead}${added}${tail}${rest}`;
  return words === undefined
    ? { text: whole, start: from + added.length, end: from + added.length }
    : { text: whole, start: from + 2, end: from + 2 + words.length };
}
