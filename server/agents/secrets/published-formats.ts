// Prefixes of keys that their vendors have published so that such keys can be found.

/** Formats for which secretlint has no rule. */
export const moreFormats: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['JSON web token', /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{20,}/g],
  ['Google API key', /\bAIza[\w-]{35}\b/g],
  ['Google client secret', /\bGOCSPX-[\w-]{28}\b/g],
  ['PyPI token', /\bpypi-AgE[\w-]{50,}/g],
  ['Azure storage key', /\bAccountKey=[A-Za-z\d+/]{86}==/g],
  ['DigitalOcean token', /\bdo[opr]_v1_[\da-f]{64}\b/g],
  ['Atlassian token', /\bATATT3[\w=-]{100,}/g],
  ['Discord webhook', /\bhttps:\/\/discord(?:app)?\.com\/api\/webhooks\/\d{15,}\/[\w-]{40,}/g],
  ['Telegram bot token', /\b\d{8,10}:AA[\w-]{33}\b/g],
  ['Mailgun key', /\bkey-[\da-f]{32}\b/g],
  ['New Relic key', /\bNRAK-[A-Z\d]{27}\b/g],
  ['Sentry token', /\bsntry[su]_[\w+/=-]{40,}/g],
  ['Supabase token', /\bsbp_[\da-f]{40}\b/g],
  ['Terraform token', /\b[A-Za-z\d]{14}\.atlasv1\.[\w-]{60,}/g],
  ['age key', /\bAGE-SECRET-KEY-1[A-Z\d]{58}\b/g],
  // Its rule for keys requires more characters than Ed25519's have.
  [
    'private key',
    /-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n){1,6}[A-Za-z\d+/=]{32,}/g,
  ],
  ['PuTTY key', /\bPuTTY-User-Key-File-\d[^]{0,2000}?Private-Lines: \d+\s+[A-Za-z\d+/=]{20,}/g],
];

/**
 * Short forms of formats for which it has a rule, because masking reads every line and does not
 * load its rules.
 */
const commonFormats: readonly RegExp[] = [
  /\b(?:AKIA|ASIA)[A-Z\d]{16}\b/,
  /\bgh[oprsu]_[A-Za-z\d]{36,255}\b/,
  /\bgithub_pat_\w{60,100}\b/,
  /\bglpat-[\w-]{20,}/,
  /\bxox[abeoprs]-(?:\d+-)+[\w-]{16,}/,
  /\bhttps:\/\/hooks\.slack\.com\/services\/T\w+\/B\w+\/\w{16,}/,
  /\bnpm_[A-Za-z\d]{36}\b/,
  /\bsk-(?:ant|proj)-[\w-]{32,}/,
  /\b[rs]k_live_[A-Za-z\d]{20,}/,
  /\bhf_[A-Za-z\d]{34}\b/,
  /-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[rn]|[A-Za-z\d+/=])+(?:-----END [A-Z\d ]+-----)?/,
];

/** All formats. */
const keys = new RegExp(
  [...commonFormats, ...moreFormats.map(([, pattern]) => pattern)]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** Letters that each of them contains. Most text has none of these and is passed on at once. */
const telling =
  /A[KS]IA|gh[oprsu]_|github_pat_|glpat-|xox[abeoprs]-|hooks\.slack|npm_|sk-ant|sk-proj|k_live_|hf_|PRIVATE KEY|\.eyJ|AIza|GOCSPX-|pypi-|AccountKey|do[opr]_v1|ATATT3|discord|:AA|key-|NRAK-|sntry|sbp_|\.atlasv1|AGE-SEC|PuTTY-/;

export function withoutKeys(text: string, instead: string): string {
  return telling.test(text) ? text.replace(keys, instead) : text;
}

/** In characters. A longer key that is split between two pieces of output is only partly hidden. */
export const keyLengthMax = 256;
