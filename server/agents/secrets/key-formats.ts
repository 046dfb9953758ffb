// Keys that are recognized by their format: secretlint's rules, and formats for which it has no
// rule. Loaded on demand.

import type {
  SecretLintRuleContext,
  SecretLintRuleCreator,
  SecretLintSourceCode,
} from '@secretlint/types';
import { rules } from '@secretlint/secretlint-rule-preset-recommend';
import { moreFormats } from './published-formats.ts';

export interface KeyFound {
  /** Its kind, for a sentence. */
  readonly what: string;
  readonly value: string;
}

/**
 * Excludes rules for comments that switch rules off, which agents may write too, and rules for
 * texts that are not secrets.
 */
const leftOutRules = new Set(['@secretlint/secretlint-rule-filter-comments']);
const leftOutMessages = new Set(['AWSAccountID']);

/** Placeholder secrets as in documentation and tests. */
const made =
  /example|eyJzdWIiOiIxMjM0NTY3ODkw|x{6,}|\*{4,}|0{8,}|1234567|abcdefg|\byour[-_]|<[\w -]+>|\$\{|%[sd]|changeme/i;
/** Machines and services that only this machine reaches, or that do not exist. */
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

/** Converts `STRIPE_SECRET_KEY_LIVE`, `GITHUB_TOKEN` or `AWSSecretAccessKey` to words. */
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
    // Only the given content is read.
    getPhysicalFilePath: () => undefined,
  } as unknown as SecretLintSourceCode;
}
