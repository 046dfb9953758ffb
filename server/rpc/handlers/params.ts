// Parameters come from outside: each is checked to be what it should before it is used.

import { Refusal } from '../../core/failure.ts';

const textCharactersMax = 2 * 1024 * 1024;
const listItemsMax = 2_000;

function wrong(name: string, needed: string): Refusal {
  return new Refusal('bad_request', `"${name}" must be ${needed}.`);
}

/** The parameters as one object; anything else has no parameters. */
export function recordOf(params: unknown): Readonly<Record<string, unknown>> {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) {
    throw new Refusal('bad_request', 'The parameters must be an object.');
  }
  return params as Readonly<Record<string, unknown>>;
}

export function textOf(value: unknown, name: string, max = textCharactersMax): string {
  if (typeof value !== 'string') throw wrong(name, 'a string');
  if (value.length > max) throw wrong(name, `a string of at most ${max} characters`);
  return value;
}

export function idOf(value: unknown, name = 'id'): string {
  return textOf(value, name, 200).trim();
}

export function optionalText(value: unknown, name: string): string | undefined {
  return value === undefined ? undefined : textOf(value, name);
}

/** A text, null (nothing), or not given. */
export function nullableText(value: unknown, name: string): string | null | undefined {
  return value === null ? null : optionalText(value, name);
}

export function integerOf(
  value: unknown,
  name: string,
  bounds: { readonly min: number; readonly max: number },
): number {
  if (typeof value === 'number' && Number.isSafeInteger(value)) {
    if (value >= bounds.min && value <= bounds.max) return value;
  }
  throw wrong(name, `a whole number from ${bounds.min} to ${bounds.max}`);
}

export function optionalInteger(
  value: unknown,
  name: string,
  bounds: { readonly min: number; readonly max: number },
): number | undefined {
  return value === undefined ? undefined : integerOf(value, name, bounds);
}

export function optionalTexts(value: unknown, name: string): readonly string[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length > listItemsMax) {
    throw wrong(name, `a list of at most ${listItemsMax} texts`);
  }
  return value.map((item: unknown) => textOf(item, name));
}

/** Texts under names of the caller's own; none when it is not given. */
export function textsByName(value: unknown, name: string): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const entries = Object.entries(recordOf(value));
  if (entries.length > listItemsMax) throw wrong(name, `at most ${listItemsMax} texts`);
  return Object.fromEntries(
    entries.map(([key, text]) => [key, textOf(text, `${name}.${key.slice(0, 100)}`)]),
  );
}

export function flagOf(value: unknown, name: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== 'boolean') throw wrong(name, 'true or false');
  return value;
}

export function choiceOf<Word extends string>(
  value: unknown,
  name: string,
  words: readonly Word[],
): Word {
  const found = words.find((word) => word === value);
  if (found === undefined) throw wrong(name, `one of ${words.join(', ')}`);
  return found;
}

/** Leaves out what was not given, so that "not given" and "undefined" are the same. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
