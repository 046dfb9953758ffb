// The secrets of a project under its current settings, and the mask that removes them from stored
// texts.

import { createMask, type Mask } from '../agents/kit/log/masking.ts';
import { type KnownSecret, knownSecrets } from '../agents/secrets/known-secrets.ts';
import { protectedAmong } from '../core/plan/protected-paths.ts';
import type { WebhookEndpoint } from '../core/settings/webhook-endpoints.ts';
import type { GitAdapterOptions } from '../git/repository/adapter.ts';
import type { LiveSettings } from './live-settings.ts';

/** The files that git holds back under the current settings. The search is loaded on first use. */
export function secretRules(
  live: LiveSettings,
): Required<Pick<GitAdapterOptions, 'secretsIn' | 'secretsAllowed'>> {
  const secretsAllowed = (path: string): boolean =>
    protectedAmong([path], live.settings.secretsAllowed).length > 0;
  return {
    secretsAllowed,
    secretsIn: async (content, path) => {
      const { secretSearch } = await import('../agents/secrets/content.ts');
      return secretSearch(namedSecrets(live), secretsAllowed)(content, path);
    },
  };
}

/**
 * Values that must never be stored: secrets in the environment, and those that only the agent gets.
 */
export function namedSecrets(live: LiveSettings): readonly KnownSecret[] {
  return [
    ...knownSecrets(live.environment),
    ...knownSecrets(live.settings.agent.env),
    ...live.settings.webhooks.endpoints
      .flatMap(secretsOfEndpoint)
      .map((value) => ({ name: 'a webhook', value })),
  ];
}

export function listSecretValues(live: LiveSettings): string[] {
  return namedSecrets(live).map(({ value }) => value);
}

const secretHeader = /auth|cookie|key|token|secret|password/i;

/** The path of a chat's webhook is its password. */
function secretsOfEndpoint({ url, secret, headers }: WebhookEndpoint): string[] {
  const hasPath = URL.canParse(url) && new URL(url).pathname.length > 1;
  return [
    ...(secret === null ? [] : [secret]),
    ...(hasPath ? [url] : []),
    ...Object.entries(headers).flatMap(([name, text]) => (secretHeader.test(name) ? [text] : [])),
  ];
}

export function secretMask(live: LiveSettings): Mask {
  return createMask(listSecretValues(live));
}
