// trust: lists the repository's settings that start programs here, and accepts them.

import type { TrustReport } from '../../protocol/trust-report.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

export async function trust(
  context: CommandContext,
  { yes }: { readonly yes?: boolean },
): Promise<number> {
  const { surroundings } = context;
  const root = await context.root();
  const { trustSettings } = await surroundings.loadBackends();
  const seen = await trustSettings({ root, env: surroundings.env, accept: yes === true });
  const isAccepted = seen.accepted || (await isAskedAndAccepted(context, seen, root));
  const report = { ...seen, accepted: isAccepted };
  context.answer(report, [...lines(seen), lastLine(report)].join('\n'));
  return isAccepted ? exitCodes.done : exitCodes.left;
}

async function isAskedAndAccepted(
  context: CommandContext,
  seen: TrustReport,
  root: string,
): Promise<boolean> {
  const { surroundings } = context;
  if (context.json || surroundings.askLine === null) return false;
  for (const line of lines(seen)) context.tell(line);
  const said = (await surroundings.askLine('Accept these settings? [y/N] '))?.trim().toLowerCase();
  if (said !== 'y' && said !== 'yes') return false;
  const { trustSettings } = await surroundings.loadBackends();
  return (await trustSettings({ root, env: surroundings.env, accept: true })).accepted;
}

function lines(report: TrustReport): string[] {
  return report.settings.map(({ shown, state, by }) => {
    const author = by === null ? '' : ` (landed by ${by})`;
    return plainLine(`  ${state.padEnd(8)} ${shown}${author}`);
  });
}

function lastLine({ accepted, settings }: TrustReport): string {
  if (settings.length === 0)
    return 'The repository names no program, host, gate, environment or sandbox.';
  return accepted
    ? 'These settings are accepted.'
    : 'Accept these settings with "drover trust --yes"; "drover run" accepts those marked new.';
}
