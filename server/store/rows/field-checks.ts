// Validates fields of tasks and epics. A refusal names the invalid value and the remedy.

import { Refusal } from '../../core/failure.ts';

export const titleCharactersMax = 1_000;
export const descriptionBytesMax = 1024 * 1024;
const listItemsMax = 200;
const itemCharactersMax = 2_000;

// Built from text, because a source file must not contain control characters.
const controlCharacters = '\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f';
const controlPattern = new RegExp(`[${controlCharacters}]`, 'u');
const lineControlPattern = new RegExp(`[${controlCharacters}\\t\\n\\r]`, 'u');

/** Returns the trimmed title, which must be one line. */
export function checkedTitle(title: string): string {
  const trimmed = title.trim();
  if (trimmed === '') throw new Refusal('bad_title', 'The title must not be blank.');
  refuseControls(trimmed, lineControlPattern, 'The title');
  const count = trimmed.length;
  if (count > titleCharactersMax) {
    throw new Refusal(
      'bad_title',
      `The title has ${count} characters, ${titleCharactersMax} are allowed; put the details into the description.`,
    );
  }
  return trimmed;
}

/** Accepts any number of lines. A blank text counts as none. */
export function checkedDescription(text: string): string | null {
  return checkedText(text, 'The description');
}

/** Accepts any number of lines. A blank text counts as none. */
export function checkedText(text: string, name: string): string | null {
  const bytes = Buffer.byteLength(text);
  if (bytes > descriptionBytesMax) {
    throw new Refusal(
      'bad_value',
      `${name} has ${bytes} bytes, ${descriptionBytesMax} are allowed; put the rest into a file of the repository and name it.`,
    );
  }
  refuseControls(text, controlPattern, name);
  return text.trim() === '' ? null : text;
}

/** Checks labels or criteria: no blank entries, line breaks or duplicates. */
export function checkedList(list: readonly string[], name: string): string[] {
  if (list.length > listItemsMax) {
    throw new Refusal(
      'bad_value',
      `${name} has ${list.length} entries, ${listItemsMax} are allowed; leave some out.`,
    );
  }
  const items = new Set<string>();
  for (const given of list) {
    const item = given.replace(/\s*[\r\n]+\s*/gu, ' ').trim();
    if (item === '') throw new Refusal('bad_value', `${name} has a blank entry; leave it out.`);
    refuseControls(item, lineControlPattern, `An entry of ${name}`);
    if (item.length > itemCharactersMax) {
      throw new Refusal(
        'bad_value',
        `An entry of ${name} is longer than ${itemCharactersMax} characters; shorten it.`,
      );
    }
    items.add(item);
  }
  return [...items];
}

/** Checks that the word is in a closed list. */
export function checkedWord<Word extends string>(
  given: string,
  words: readonly Word[],
  name: string,
): Word {
  const found = words.find((word) => word === given);
  if (found !== undefined) return found;
  throw new Refusal('bad_value', `${name} is "${shown(given)}"; use one of ${words.join(', ')}.`);
}

/** Shortens a given text to one line for a message. */
export function shown(text: string): string {
  const line = text.replace(new RegExp(lineControlPattern, 'gu'), ' ');
  return line.length > 80 ? `${line.slice(0, 77)}…` : line;
}

function refuseControls(text: string, pattern: RegExp, name: string): void {
  const found = pattern.exec(text);
  if (found === null) return;
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  throw new Refusal('bad_value', `${name} contains the control character U+${code}; remove it.`);
}
