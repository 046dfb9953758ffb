// Determines which values are secret, by the names of their variables, and the forms in which a
// secret may be written.

type Environment = Readonly<Record<string, string | undefined>>;

export interface KnownSecret {
  /** Name of the variable or the setting, which may be shown. */
  readonly name: string;
  readonly value: string;
}

/** Matches anywhere in a name, as in the command's contract. */
const secretWord = /KEY|TOKEN|SECRET|PASSWORD/i;
/** Matches a part of a name between underscores, or its end. */
const passwordPart = /(?:PASS|PASSWD|PWD|PASSPHRASE|PASSCODE)(?:_|$)/i;
const secretPart =
  /(?:^|_)(?:PATS?|CREDS?|CREDENTIALS?|AUTH|AUTHORIZATION|COOKIES?|DSN|WEBHOOKS?|PRIVATE|SESSION|SESSID|APIKEY|BEARER)(?:_|$)/i;
/** The current and previous folder of a shell. */
const folderNames = /^(?:PWD|OLDPWD)$/i;

/** Masking shorter values would hide ordinary words. */
export const secretLengthMin = 6;
/** In encoded form, a shorter value could be part of anything. */
const encodedLengthMin = 8;

/**
 * Secret values of an environment: by variable name, as passwords inside URLs, and as secrets
 * inside JSON.
 */
export function knownSecrets(environment: Environment): readonly KnownSecret[] {
  const found = new Map<string, KnownSecret>();
  for (const [name, value] of Object.entries(environment)) {
    if (value === undefined) continue;
    for (const one of valuesOf(name, value)) {
      if (!found.has(one)) found.set(one, { name, value: one });
    }
  }
  return [...found.values()];
}

function valuesOf(name: string, value: string): readonly string[] {
  const inside = [...passwordsOf(value), ...secretsInJson(value)];
  if (secretWord.test(name)) return [value, ...inside];
  const isNamed = !folderNames.test(name) && !isPath(value);
  if (isNamed && passwordPart.test(name)) return [value, ...inside];
  if (isNamed && secretPart.test(name) && !isWord(value)) return [value, ...inside];
  return inside;
}

/** The path of a socket or a file with a secret is not itself a secret. */
function isPath(value: string): boolean {
  return /^(?:~|\.{1,2})?\/[^\s:]*$/.test(value) || /^[A-Za-z]:\\/.test(value);
}

function isWord(value: string): boolean {
  return /^(?:[A-Za-z]+|\d+)$/.test(value);
}

/**
 * Both as written in a URL and as typed. A user without a password is a key (as in Sentry's DSN) if
 * it is long.
 */
function passwordsOf(value: string): readonly string[] {
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/\s]*@/i.test(value) || !URL.canParse(value)) return [];
  const { username, password } = new URL(value);
  const secret = password === '' && username.length >= 16 ? username : password;
  if (secret === '') return [];
  try {
    return [secret, decodeURIComponent(secret)];
  } catch {
    return [secret];
  }
}

const jsonDepthMax = 8;

function secretsInJson(value: string): readonly string[] {
  if (!/^\s*[{[]/.test(value)) return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    return [];
  }
  return secretsBelow(parsed, '', jsonDepthMax);
}

function secretsBelow(value: unknown, name: string, depth: number): readonly string[] {
  if (typeof value === 'string') {
    return secretWord.test(name) || passwordPart.test(name) || secretPart.test(name) ? [value] : [];
  }
  if (value === null || typeof value !== 'object' || depth === 0) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    secretsBelow(one, Array.isArray(value) ? name : key, depth - 1),
  );
}

/**
 * All common forms of a value: plain, quoted, by its lines, in base64, in UTF-16, in hexadecimal,
 * in a URL, in HTML, spaced, reversed.
 */
export function writtenForms(secret: string): readonly string[] {
  const forms = new Set<string>();
  // Output is split into lines, so each line of a longer value also counts.
  for (const value of [secret, ...secret.split(/\r?\n/)]) {
    if (value.trim().length < secretLengthMin) continue;
    forms.add(value);
    forms.add(JSON.stringify(value).slice(1, -1));
    if (value.length < encodedLengthMin) continue;
    for (const form of encodedForms(value)) forms.add(form);
  }
  return [...forms];
}

function encodedForms(value: string): readonly string[] {
  const bytes = Buffer.from(value);
  const hex = bytes.toString('hex');
  const forms = [hex, hex.toUpperCase(), Array.from(value).toReversed().join('')];
  forms.push(bytes.toString('base64').replace(/=+$/, ''), bytes.toString('base64url'));
  for (const encoded of [bytes, Buffer.from(value, 'utf16le')]) {
    for (const offset of [0, 1, 2]) {
      const text = base64Inside(encoded, offset);
      forms.push(text, text.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  for (const between of [' ', '\0']) forms.push(Array.from(value).join(between));
  forms.push(...escapedForms(value));
  return forms.filter((form) => form !== value);
}

/** The forms in URLs, web pages and other programs' JSON. */
function escapedForms(value: string): readonly string[] {
  const inUrl = percentEncoded(value);
  const smallInUrl = inUrl.replace(/%../g, (code) => code.toLowerCase());
  const inJson = JSON.stringify(value).slice(1, -1);
  return [
    inUrl,
    inUrl.replaceAll('%20', '+'),
    smallInUrl,
    smallInUrl.replaceAll('%20', '+'),
    inJson.replaceAll('/', '\\/'),
    inJson.replace(/[<>&'+=]/g, unicodeEscape),
    inJson.replace(/[<>&]/g, unicodeEscape),
    value.replace(/[&<>"']/g, (sign) => htmlNames[sign] ?? sign),
  ];
}

const htmlNames: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function unicodeEscape(sign: string): string {
  return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function percentEncoded(value: string): string {
  try {
    return encodeURIComponent(value);
  } catch {
    return value;
  }
}

/**
 * The part that is the same in the base64 of every text in which the bytes start at this position
 * (modulo 3).
 */
function base64Inside(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const text = padded.toString('base64').replace(/=+$/, '');
  const isCut = padded.length % 3 !== 0;
  // The characters at both ends also contain bits of their neighbors.
  return text.slice(offset === 0 ? 0 : offset + 1, isCut ? -1 : undefined);
}
