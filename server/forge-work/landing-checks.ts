// The checks before a run that lands by a pull request.

import { setTimeout as wait } from 'node:timers/promises';
import type { LandingRow } from '../core/forge/landing-rules.ts';
import { Refusal } from '../core/failure.ts';
import type { PreflightCheck } from '../protocol/panel-views.ts';
import { type LandingRequest, readLandingRows } from './landing-facts.ts';

/** Short, because a user waits for the result. */
const forgeTimeoutMs = 10_000;
const name = 'forge';

/** `base`: the branch that pull requests are merged into. */
export async function landingChecks(
  root: string,
  env: LandingRequest['env'],
  base: string,
): Promise<readonly PreflightCheck[]> {
  const timer = new AbortController();
  try {
    const late = wait(forgeTimeoutMs, null, { signal: timer.signal });
    const rows = await Promise.race([readLandingRows({ root, env, base, isTrying: false }), late]);
    if (rows !== null) return rowChecks(rows, base);
    const message = `GitHub has not answered yet, so it is unknown what ${base} needs.`;
    return [{ name, outcome: 'note', message, remedy: 'Run "drover doctor --forge".' }];
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return [{ name, outcome: 'error', message: error.message, remedy: null }];
  } finally {
    timer.abort();
  }
}

function rowChecks(rows: readonly LandingRow[], base: string): readonly PreflightCheck[] {
  const shown = rows.filter(({ outcome }) => outcome === 'warning' || outcome === 'error');
  const checks = shown.map(
    ({ outcome, message }) => ({ name, outcome, message, remedy: null }) as const,
  );
  const [repository] = rows;
  if (repository?.outcome !== 'ok') return checks;
  const place = repository.message.replace(/, as .*$/u, '');
  const message = `Pull requests go to ${place}, into ${base}.`;
  return [{ name, outcome: 'ok', message, remedy: null }, ...checks];
}
