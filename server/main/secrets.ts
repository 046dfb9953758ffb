// The secrets of a project as it is set now, and the mask that takes them out of what is stored.

import { secretValues } from '../agents/environment.ts';
import { createMask, type Mask } from '../agents/masking.ts';
import type { LiveSettings } from './live-settings.ts';

/** What must never be stored: secret values of the environment, and those that only the agent is given. */
export function secretsOf(live: LiveSettings): string[] {
  return [...secretValues(live.environment), ...secretValues(live.settings.agent.env)];
}

export function maskOf(live: LiveSettings): Mask {
  return createMask(secretsOf(live));
}
