// `drover doctor --forge`: checks what landing by a pull request will require, and what this token
// may do.

import { Refusal } from '../core/failure.ts';
import { readLandingRows } from '../forge-work/landing-facts.ts';
import { openGitAdapter } from '../git/repository/adapter.ts';
import type { LiveSettings } from '../project/live-settings.ts';
import type { Check } from './check.ts';

export async function forgeChecks(root: string, live: LiveSettings): Promise<readonly Check[]> {
  const { forge, land } = live.settings;
  const local = await openGitAdapter().open(root);
  const base = forge.base ?? land.target ?? (local.ok ? local.value.facts.headBranch : null);
  if (base === null) {
    const message = 'HEAD is detached; name the branch of pull requests with [forge] base';
    return [{ name: 'forge', ok: false, message }];
  }
  try {
    const env = live.environment;
    const rows = await readLandingRows({ root, env, base, isTrying: true });
    return rows.map(({ topic, outcome, message }) => ({
      name: `forge ${topic}`,
      ok: outcome !== 'error' && (topic !== 'repository' || outcome !== 'warning'),
      message: outcome === 'warning' ? `warning: ${message}` : message,
    }));
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [{ name: 'forge', ok: false, message: error.message }];
  }
}
