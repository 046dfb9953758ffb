// Commands that look and change nothing.

import type { Command } from 'commander';
import type { EventsOptions, LogOptions } from '../commands/look.ts';
import type { StatusOptions } from '../commands/status.ts';
import { define, wholeNumber, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/look.ts');

export function defineLookCommands(program: Command, host: ProgramHost): void {
  program.commandsGroup('Look:');
  const status = define(program, 'status', 'where everything stands', [
    'status',
    'status --epic epic-7h2k9d3f --tree',
    'status --watch',
    'status --json',
  ]);
  status
    .option('-e, --epic <id>', 'only this epic')
    .option('--all', 'every task of a plan that is too large for a screen')
    .option('--tree', 'epics, tasks and sub-tasks as a tree')
    .option('--watch', 'show it again whenever something changes')
    .option('--oneline', 'one line only')
    .action(async (options: StatusOptions) => {
      await host.run(status, async (context) =>
        (await import('../commands/status.ts')).status(context, options),
      );
    });

  const show = define(program, 'show <id>', 'one task, and its plan where it has one', [
    'show task-2m8x4q1z',
  ]);
  show.action(async (id: string) => {
    await host.run(show, async (context) => (await load()).show(context, id));
  });

  const why = define(program, 'why <id>', 'why a task is not running', ['why task-2m8x4q1z']);
  why.action(async (id: string) => {
    await host.run(why, async (context) => (await load()).why(context, id));
  });

  const log = define(program, 'log <id>', 'what the agent did and said', [
    'log task-2m8x4q1z --follow',
    'log task-2m8x4q1z --attempt 1 --prompt',
  ]);
  log
    .option('--attempt <n>', 'this attempt instead of the last', wholeNumber)
    .option('--follow', 'go on until the attempt ends')
    .option('--prompt', 'what the agent was told')
    .action(async (id: string, options: LogOptions) => {
      await host.run(log, async (context) => (await load()).log(context, id, options));
    });

  const events = define(program, 'events', 'the numbered feed of everything that happened', [
    'events --after 120 --type task.completed',
    'events --follow --json',
  ]);
  events
    .option('--after <seq>', 'only events after this number', wholeNumber)
    .option('--type <type>', 'only this type')
    .option('--task <id>', 'only this task')
    .option('--limit <n>', 'at most so many', wholeNumber)
    .option('--follow', 'go on with what happens next')
    .action(async (options: EventsOptions) => {
      await host.run(events, async (context) => (await load()).events(context, options));
    });
  defineChanges(program, host);
}

function defineChanges(program: Command, host: ProgramHost): void {
  const diff = define(program, 'diff <id>', 'the change of a task or an epic against its base', [
    'diff task-2m8x4q1z',
    'diff epic-7h2k9d3f',
  ]);
  diff
    .option('--snapshot <n>', 'the change up to this snapshot', wholeNumber)
    .action(async (id: string, options: { snapshot?: number }) => {
      await host.run(diff, async (context) => (await load()).diff(context, id, options));
    });

  const snapshots = define(program, 'snapshots <id>', 'list what is kept of the work of a task', [
    'snapshots task-2m8x4q1z',
    'diff task-2m8x4q1z --snapshot 2',
  ]);
  snapshots.action(async (id: string) => {
    await host.run(snapshots, async (context) => (await load()).snapshots(context, id));
  });
}
