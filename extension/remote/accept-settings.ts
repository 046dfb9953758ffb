// Shows project settings that no person has accepted yet, and accepts them with a click.

import type { TrustReport } from '../../server/protocol/trust-report.ts';
import type { CommandContext } from '../commands/context.ts';
import { runEnvironment } from '../commands/runs.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';

/** Returns false if the user does not accept them. */
export async function acceptSettings(
  { access, extension, messages }: CommandContext,
  project: Project,
): Promise<boolean> {
  const environment = await runEnvironment(extension.secrets, project);
  const trust = async (...args: readonly string[]): Promise<TrustReport> => {
    const all = ['trust', ...args, '--json'];
    const { stdout, stderr } = await access.command(all, project.root, environment);
    if (stdout.trim() === '') throw new Error(stderr.trim());
    return JSON.parse(stdout) as TrustReport;
  };
  const { accepted, settings } = await trust();
  if (accepted) return true;
  const lines = settings.filter(({ state }) => state !== 'accepted');
  const detail = lines.map(({ shown }) => plainText(shown, 200)).join('\n');
  const words = 'Accept these settings of .drover.toml?';
  if (!(await messages.confirm(words, detail, 'Accept'))) return false;
  return (await trust('--yes')).accepted;
}
