// The secrets of a project as it is set now, and the mask that takes them out of what is stored.

import { secretValues } from '../agents/environment.ts';
import { createMask, type Mask } from '../agents/masking.ts';
import type { WebhookEndpoint } from '../core/webhook-endpoints.ts';
import type { LiveSettings } from './live-settings.ts';

/** What must never be stored: secret values of the environment, and those that only the agent is given. */
export function secretsOf(live: LiveSettings): string[] {
  return [
    ...secretValues(live.environment),
    ...secretValues(live.settings.agent.env),
    ...live.settings.webhooks.endpoints.flatMap(secretsOfEndpoint),
  ];
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

export function maskOf(live: LiveSettings): Mask {
  return createMask(secretsOf(live));
}
