// Searches contents for secrets: known values in any usual encoding; keys by their format;
// random-looking assignments. It finds secrets that were left by mistake. It cannot find
// deliberately hidden ones (for example encrypted).

import { assignedSecrets } from './assignments.ts';
import { credentialsInSettings } from './tool-settings.ts';
import { type KnownSecret, writtenForms } from './known-secrets.ts';

/** A secret in a content: its kind, for a sentence, and a text that identifies the same secret. */
export interface SecretFound {
  readonly what: string;
  readonly id: string;
}

export type SecretSearch = (content: Buffer, path: string) => Promise<readonly SecretFound[]>;

/** Characters; of a longer content the rest is only searched for values that are known. */
const searchedMax = 1024 * 1024;
/** The first bytes, which show whether a content is binary. */
const beginning = 8_000;
/** Characters that a value has to have before its presence in a file means anything. */
const lengthMin = 8;
/**
 * Texts that names of variables and people's files contain too: holding files for them would hold
 * half a project.
 */
const ordinary = /^(?:[a-z]{1,15}|[A-Z]{1,15}|\d{1,11}|(?:~|\.{1,2})?\/\S*)$/;

/** Written by programs, random-looking throughout. */
const generated =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|Cargo\.lock|go\.(?:sum|mod)|poetry\.lock|uv\.lock|Pipfile\.lock|Gemfile\.lock|composer\.lock|Package\.resolved|packages\.lock\.json|flake\.lock|mix\.lock|pubspec\.lock|[^/]+\.(?:map|svg|min\.js|min\.css|snap))$/i;

/** `mayLookLike`: paths of which only values that are known count. */
export function secretSearch(
  known: readonly KnownSecret[],
  mayLookLike: (path: string) => boolean = () => false,
): SecretSearch {
  return async (content, path) => {
    const found = knownIn(content, known);
    const text = mayLookLike(path) ? null : textOf(content);
    if (text === null) return found;
    const part = text.slice(0, searchedMax);
    const { keysByFormat } = await import('./key-formats.ts');
    const keys = (await keysByFormat(part, path)).map(({ what, value }) => ({ what, id: value }));
    const named = new Set(keys.map(({ id }) => id));
    const assigned = generated.test(path) ? [] : assignedSecrets(part);
    const others = [...new Set([...assigned, ...credentialsInSettings(part, path)])]
      .filter((value) => !named.has(value))
      .map((value) => ({ what: 'secret', id: value }));
    return [...found, ...keys, ...others];
  };
}

/** Text of any encoding in which its letters are single bytes or pairs with a zero. */
function textOf(content: Buffer): string | null {
  if (!content.subarray(0, beginning).includes(0)) return content.toString('utf8');
  const isWide = content.length >= 2 && (content[0] === 0xff || content[0] === 0xfe);
  return isWide ? content.toString('latin1').replaceAll('\0', '').slice(2) : null;
}

function knownIn(content: Buffer, secrets: readonly KnownSecret[]): readonly SecretFound[] {
  const named = secrets.filter(({ value }) => value.length >= lengthMin && !ordinary.test(value));
  if (named.length === 0) return [];
  const text = content.toString('utf8');
  const searched = [text, joined(text), ...bytesInText(text)];
  return named.flatMap(({ name, value }) => {
    const forms = writtenForms(value).filter((form) => form.length >= lengthMin);
    const isThere = forms.some(
      (form) => text.includes(form) || searched.some((one) => one.includes(joined(form))),
    );
    return isThere ? [{ what: `value of ${name}`, id: value }] : [];
  });
}

/**
 * Without the characters that cut a value into pieces: line ends, blanks, quotes, signs of joining,
 * and the zeros of UTF-16.
 */
function joined(text: string): string {
  return text.replace(/[\s"'`+\\,\0]+/g, '');
}

/** Decodes lists of character codes and escapes (`\x41`, `0x41`, `%41`, `41 42`, `65, 66`). */
function bytesInText(text: string): readonly string[] {
  const hex = text.match(/(?:(?:\\x|\\u00|0x|%)?[\da-f]{2}[\s,;:]{0,4}){8,}/gi) ?? [];
  const decimal = text.match(/(?:\d{2,3}\s{0,4},\s{0,4}){7,}\d{2,3}/g) ?? [];
  const ofHex = hex.map((one) => {
    const digits = one.replace(/\\x|\\u00|0x|%/gi, '').replace(/[^\da-f]/gi, '');
    return joined(Buffer.from(digits, 'hex').toString('utf8'));
  });
  const ofDecimal = decimal.map((one) =>
    joined(String.fromCharCode(...one.split(',').slice(0, 10_000).map(Number))),
  );
  return [...ofHex, ...ofDecimal];
}
