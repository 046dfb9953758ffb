// Commands that let the agents work.

import { Option, type Command } from 'commander';
import type { RunCommandOptions } from '../commands/run.ts';
import { define, wholeNumber, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/run.ts');

export function defineRunCommands(program: Command, host: ProgramHost): void {
  program.commandsGroup('Run:');
  const run = define(program, 'run', 'run until nothing in scope can move', [
    'run --workers 4',
    'run --epic epic-7h2k9d3f --land review',
    'run --gate "npm test" --target main --json',
  ]);
  run
    .option('-w, --workers <n>', 'agents at the same time', wholeNumber)
    .option('-e, --epic <id>', 'only the tasks of this epic')
    .option('--target <branch>', 'the branch that finished work lands on')
    .option('--gate <command>', 'must succeed on the merged tree before anything lands')
    .option('--fallback <agents>', 'who takes over when an agent fails (codex,claude:opus)')
    .addOption(
      new Option('--land <how>', 'land each task, or the epic as a whole, or after review').choices(
        ['task', 'epic', 'review'],
      ),
    )
    .option('--detach', 'return at once; the run goes on in the background')
    .action(async (options: RunCommandOptions) => {
      await host.run(run, async (context) => (await load()).run(context, options));
    });

  const resume = define(program, 'resume', 'go on with the last run that did not end', [
    'resume',
    'resume --json',
  ]);
  resume
    .option('--detach', 'return at once; the run goes on in the background')
    .action(async (options: { detach?: boolean }) => {
      await host.run(resume, async (context) => (await load()).resume(context, options));
    });
}
