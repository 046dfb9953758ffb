// Keys that are recognized by their format: secretlint's rules, and formats that it has no rule
// for. Loaded when first needed.

import type {
  SecretLintRuleContext,
  SecretLintRuleCreator,
  SecretLintSourceCode,
} from '@secretlint/types';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';

export interface KeyFound {
  /** What it is, for a sentence. */
  readonly what: string;
  readonly value: string;
}

/** Beginnings that their makers have published, so that such keys can be found. */
const moreFormats: readonly (readonly [what: string, pattern: RegExp])[] = [
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
  // The rule for keys knows none as short as Ed25519's.
  [
    'private key',
    /-----BEGIN (?:[A-Z\d]+ ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\r|\\n){1,6}[A-Za-z\d+/=]{32,}/g,
  ],
  ['PuTTY key', /\bPuTTY-User-Key-File-\d[^]{0,2000}?Private-Lines: \d+\s+[A-Za-z\d+/=]{20,}/g],
];

/** Rules for comments that switch rules off, which agents may write too; and what is no secret. */
const leftOutRules = new Set(['@secretlint/secretlint-rule-filter-comments']);
const leftOutMessages = new Set(['AWSAccountID']);

/** As documents and tests write them. */
const made =
  /example|eyJzdWIiOiIxMjM0NTY3ODkw|x{6,}|\*{4,}|0{8,}|1234567|abcdefg|\byour[-_]|<[\w -]+>|\$\{|%[sd]|changeme/i;
/** Of machines and services that are reached from this machine alone, or that are nowhere. */
const localHost =
  /@(?:localhost|127\.|\[?::1|0\.0\.0\.0|[\w-]+(?=[:/?"'`\s]|$)|[\w.-]+\.(?:example|test|invalid|local|localhost)\b|[\w.-]*example\.(?:com|org|net)\b|\$|<|\{)/i;

export async function keysByFormat(text: string, path: string): Promise<readonly KeyFound[]> {
  const found: KeyFound[] = [];
  const add = (what: string, value: string): void => {
    if (!made.test(value)) found.push({ what, value });
  };
  for (const rule of rules as readonly SecretLintRuleCreator[]) {
    if (!leftOutRules.has(rule.meta.id)) await apply(rule, text, path, add);
  }
  for (const [what, pattern] of moreFormats) {
    for (const [value] of text.matchAll(pattern)) add(what, value);
  }
  return found;
}

async function apply(
  rule: SecretLintRuleCreator,
  text: string,
  path: string,
  add: (what: string, value: string) => void,
): Promise<void> {
  const context = {
    sharedOptions: {},
    createTranslator: () => (messageId: unknown) => ({ messageId, message: String(messageId) }),
    ignore: () => {},
    report: ({ message, range }: Parameters<SecretLintRuleContext['report']>[0]) => {
      const messageId = String(message.messageId);
      const value = text.slice(range[0], range[1]);
      if (leftOutMessages.has(messageId)) return;
      if (isUrl(rule, messageId) && localHost.test(value)) return;
      add(kindOf(rule, messageId), value);
    },
  } as unknown as SecretLintRuleContext;
  await rule.create(context, {}).file?.(sourceOf(text, path));
}

function isUrl(rule: SecretLintRuleCreator, messageId: string): boolean {
  return messageId.endsWith('Connection') || rule.meta.id.endsWith('-basicauth');
}

/** `STRIPE_SECRET_KEY_LIVE`, `GITHUB_TOKEN`, `AWSSecretAccessKey` as words. */
function kindOf(rule: SecretLintRuleCreator, messageId: string): string {
  if (isUrl(rule, messageId)) return 'password in a URL';
  const maker = rule.meta.id.replace(/^.*secretlint-rule-/, '');
  return maker === 'privatekey' ? 'private key' : `${names[maker] ?? maker} key`;
}

const names: Readonly<Record<string, string>> = {
  aws: 'AWS',
  gcp: 'Google Cloud',
  github: 'GitHub',
  gitlab: 'GitLab',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  slack: 'Slack',
  stripe: 'Stripe',
  huggingface: 'Hugging Face',
  'hashicorp-vault': 'Vault',
};

function sourceOf(text: string, path: string): SecretLintSourceCode {
  const extension = /\.[^./]+$/.exec(path)?.[0] ?? '';
  return {
    hasBOM: false,
    content: text,
    ext: extension,
    filePath: path,
    contentType: 'text',
    getFilePath: () => path,
    // Nothing is read beside what was given.
    getPhysicalFilePath: () => undefined,
  } as unknown as SecretLintSourceCode;
}
