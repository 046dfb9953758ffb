// Building blocks of request parameters: shared parts, each with the text by which a refusal names
// the expected value. Schemas are built only by code that reads requests; panels and clients import
// only the types.

import * as z from 'zod/mini';

const textCharactersMax = 2 * 1024 * 1024;
const listItemsMax = 2_000;
const idCharactersMax = 200;

/** A limit that a tool does not show to a model, because its description explains it. */
function atMost(charactersMax: number): ReturnType<typeof z.refine<string>> {
  return z.refine((value: string) => value.length <= charactersMax, {
    error: `a string of at most ${charactersMax} characters`,
  });
}

/** A string of at most this many characters. */
export function boundedText(charactersMax: number): z.ZodMiniString {
  return z.string({ error: 'a string' }).check(atMost(charactersMax));
}

/** A string whose length the handler checks with its own message. */
export const anyText = z.string({ error: 'a string' });

export const text = boundedText(textCharactersMax);

/** A string that becomes part of a command, a file name or a message to an agent. */
export const word = anyText.check(
  z.refine((value) => !value.includes('\0'), { error: 'a string without NUL characters' }),
);

export const id = boundedText(idCharactersMax).check(z.trim());

export const flag = z.boolean({ error: 'true or false' });

export const number = z.number({ error: 'a number' });

/** An integer within inclusive bounds. */
export function integer(
  min = Number.MIN_SAFE_INTEGER,
  max = Number.MAX_SAFE_INTEGER,
): z.ZodMiniNumber {
  const error = `a whole number from ${min} to ${max}`;
  return z.int({ error }).check(z.minimum(min, { error }), z.maximum(max, { error }));
}

/** An offset, a count or a time: not below zero. */
export const place = integer(0);

/** A choice from a short list. */
export function oneOf<const Words extends readonly [string, ...string[]]>(
  words: Words,
): z.ZodMiniEnum<{ [W in Words[number]]: W }> {
  return z.enum(words, { error: `one of ${words.join(', ')}` });
}

/** A list that handlers do not modify. Validation returns it unchanged. */
type ListOf<Item extends z.ZodMiniType> = z.ZodMiniType<
  readonly z.output<Item>[],
  readonly z.input<Item>[]
>;

/** A list of at most this many items. */
export function boundedList<Item extends z.ZodMiniType>(
  item: Item,
  itemsMax: number,
  items = 'entries',
): ListOf<Item> {
  const error = `a list of at most ${itemsMax} ${items}`;
  const list: ListOf<Item> = z.array(item, { error });
  return list.check(z.refine(({ length }) => length <= itemsMax, { error }));
}

export const texts = boundedList(text, listItemsMax, 'strings');

/** A list whose length and items the handler checks with its own messages. */
export const anyTexts: ListOf<typeof anyText> = z.array(anyText, { error: 'a list of strings' });

/** Strings by caller-defined names. */
export const textsByName = z.record(z.string(), text, { error: 'strings by name' }).check(
  z.refine((value) => Object.keys(value).length <= listItemsMax, {
    error: `at most ${listItemsMax} strings`,
  }),
);

/** A string, or null for no value. */
export const textOrNull = z.nullable(text);
export const idOrNull = z.nullable(text.check(z.trim()));

const optionals = new WeakMap<z.ZodMiniType, z.ZodMiniType>();

/** Optional. Created once per shared part, because creating one is slower than checking one. */
export function optional<Part extends z.ZodMiniType>(part: Part): z.ZodMiniExactOptional<Part> {
  const made = optionals.get(part) ?? z.exactOptional(part);
  optionals.set(part, made);
  return made as z.ZodMiniExactOptional<Part>;
}

/** The parameters of a request, by name. */
export type Shape = Readonly<Record<string, z.ZodMiniType>>;

/** The parameters that a shape accepts. */
export type ParamsOf<S extends Shape> = z.output<z.ZodMiniObject<S>>;
