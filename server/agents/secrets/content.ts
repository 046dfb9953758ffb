// Searches contents for secrets: known values in common encodings, keys by their format, and
// random-looking assignments. Finds secrets that were left by mistake, but not deliberately hidden
// (for example encrypted) ones.

import { assignedSecrets } from './assignments.ts';
import { credentialsInSettings } from './tool-settings.ts';
import { type KnownSecret, writtenForms } from './known-secrets.ts';

/**
 * A secret found in content: its kind, for a sentence, and a text that identifies the same secret.
 */
export interface SecretFound {
  readonly what: string;
  readonly id: string;
}

export type SecretSearch = (content: Buffer, path: string) => Promise<readonly SecretFound[]>;

/** In characters. The rest of a longer content is only searched for known values. */
const searchedMax = 1024 * 1024;
/** The first bytes, which show whether content is binary. */
const beginning = 8_000;
/** A value must be at least this long (characters) for its presence in a file to mean anything. */
const lengthMin = 8;
/**
 * Texts that are also ordinary variable names or files. Holding files because of them would hold
 * half a project.
 */
const ordinary = /^(?:[a-z]{1,15}|[A-Z]{1,15}|\d{1,11}|(?:~|\.{1,2})?\/\S*)$/;

/** Generated files, which look random throughout. */
const generated =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|deno\.lock|Cargo\.lock|go\.(?:sum|mod)|poetry\.lock|uv\.lock|Pipfile\.lock|Gemfile\.lock|composer\.lock|Package\.resolved|packages\.lock\.json|flake\.lock|mix\.lock|pubspec\.lock|[^/]+\.(?:map|svg|min\.js|min\.css|snap))$/i;

/** `mayLookLike`: paths in which only known values count. */
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

/** Decodes text in any encoding whose letters are single bytes or pairs with a zero. */
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
 * Removes the characters that split a value into pieces: line ends, blanks, quotes, concatenation
 * signs, and the zeros of UTF-16.
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
