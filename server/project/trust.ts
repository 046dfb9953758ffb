// `drover trust`: lists the programs and other sensitive settings of the repository, and accepts
// them.

import { changedPowers, shownPower } from '../core/settings/accepted-settings.ts';
import type { TrustReport } from '../protocol/trust-report.ts';
import { acceptAll } from './accepted-settings.ts';
import { type Environment, LiveSettings } from './live-settings.ts';

export interface TrustRequest {
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly accept: boolean;
}

export async function trustSettings({ root, env, accept }: TrustRequest): Promise<TrustReport> {
  const live = await LiveSettings.loadValid(root, env as Environment);
  const { judged } = live;
  const changed = new Set(
    changedPowers(judged.accepted ?? {}, judged.present).map(({ name }) => name),
  );
  const authors = new Map(judged.held.map(({ name, by }) => [name, by]));
  const names = [...new Set([...Object.keys(judged.present), ...changed])].sort();
  const settings = names.map((name) => ({
    name,
    shown: shownPower(name, judged.present[name]),
    state: authors.has(name) ? 'held' : changed.has(name) ? 'new' : 'accepted',
    by: authors.get(name) ?? null,
  })) satisfies TrustReport['settings'];
  if (accept) await acceptAll(root, judged);
  return { accepted: accept || settings.every(({ state }) => state === 'accepted'), settings };
}
