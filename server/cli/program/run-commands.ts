// The commands that run agents.

import { Option, type Command } from 'commander';
import { landModes } from '../../core/plan/task.ts';
import { calls, collect, define, wholeNumber, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/run.ts');

export function defineRunCommands(program: Command, host: ProgramHost): void {
  const run = define(program, 'run', 'Run tasks until none in scope can continue', [
    'run --workers 4',
    'run --epic epic-7h2k9d3f --land review',
    'run --task task-7h2k9d3f',
    'run --agent claude:opus',
    'run --gate "npm test" --target main --json',
  ]);
  run
    .option('-w, --workers <n>', 'Maximum number of agents at the same time', wholeNumber)
    .option('--agent <kind>', 'Agent for tasks that name none (codex, or claude:opus with a model)')
    .option('-e, --epic <id>', 'Run only the tasks of this epic')
    .addOption(
      new Option('--task <id>', 'Run only this task and its blockers (repeatable)')
        .argParser(collect)
        .conflicts('epic'),
    )
    .option('--target <branch>', 'Branch to land work on')
    .option('--gate <command>', 'Command that tests the merged tree before it lands')
    .option('--fallback <agents>', 'Agents to try when one fails (codex,claude:opus)')
    .addOption(
      new Option(
        '--land <how>',
        'Land each task, whole epics, whole epics after review, or open a pull request',
      ).choices(landModes),
    )
    .option('--detach', 'Return immediately; the run continues in the background')
    .action(calls(host, run, async () => (await load()).run));

  const resume = define(program, 'resume', 'Resume the last unfinished run', [
    'resume',
    'resume --json',
  ]);
  resume
    .option('--detach', 'Return immediately; the run continues in the background')
    .action(calls(host, resume, async () => (await load()).resume));
}
