// Finds secrets without a key format: assignments of random-looking values to names that suggest
// secrets, in any language.

/** Longer values are data; shorter ones could be words. */
const valueLengths = { min: 16, max: 256 };
/** Bits per character. Words and identifiers have fewer. */
const entropyMin = 3.5;
/**
 * Hexadecimal digits contain at most 4 bits each; one in five sequences of 32 random ones has less
 * than 3.5 on average.
 */
const hexEntropyMin = 3;

const namePart =
  '(?:api|access|auth|client|deploy|encryption|master|private|secret|service|signing|webhook)?[_.-]?(?:key|secret|token|passw(?:or)?d|passwd|passphrase|pwd|credentials?)';
const valuePart = `[\\w+/=.~@!#%^&*?:-]{${valueLengths.min},${valueLengths.max}}`;
/**
 * Matches `name = "value"`, `"name": "value"`, `name => 'value'`, and unquoted values up to the end
 * of the line (`.env`, YAML, INI).
 */
const assignment = new RegExp(
  `([\\w.-]{0,40}${namePart})["'\`\\]]{0,2}\\s{0,4}(?::=|=>|[:=])\\s{0,4}(?:(["'\`])(${valuePart})\\2|(${valuePart})\\s*$)`,
  'gim',
);

/** A name whose value is public or a digest. */
const harmlessName =
  /public|hash|digest|integrity|checksum|fingerprint|sha\d|token[_.-]?(?:type|limit|count|max|url|uri|id|name)|max[_.-]?token|primary|foreign|sort|cache|react|i18n|css|class|selector/i;
const placeholder =
  /example|sample|dummy|change|replace|placeholder|redacted|hidden|your|insert|todo|fake|mock|test|foo|bar|lorem|secret|passw|token|key|[x*0]{6,}|1234567|abcdef|\.\.\./i;
/** The fingerprint of a public key in its usual format. */
const fingerprint = /^[\dA-F]{40}$/;
const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The values in text order. */
export function assignedSecrets(text: string): readonly string[] {
  const found: string[] = [];
  for (const [, name = '', , quoted, bare] of text.matchAll(assignment)) {
    const value = quoted ?? bare ?? '';
    if (!harmlessName.test(name) && looksRandom(value)) found.push(value);
  }
  return found;
}

function looksRandom(value: string): boolean {
  if (placeholder.test(value) || uuid.test(value) || fingerprint.test(value)) return false;
  const digits = value.match(/\d/g)?.length ?? 0;
  const letters = value.match(/[a-z]/gi)?.length ?? 0;
  if (digits < 2 || letters < 4) return false;
  // Paths, calls and members of objects are code.
  if (/^(?:https?:|\.{0,2}\/|[\w$]+(?:\.[\w$]+)+$)/.test(value)) return false;
  return textEntropy(value) >= (/^[\da-f]+$/i.test(value) ? hexEntropyMin : entropyMin);
}

/** Shannon entropy in bits per character. */
export function textEntropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values())
    bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}
