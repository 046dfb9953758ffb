// The commands that only print.

import type { Command } from 'commander';
import { calls, define, wholeNumber, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/inspect.ts');

export function defineInspectCommands(program: Command, host: ProgramHost): void {
  const status = define(program, 'status', 'Show the state of all tasks', [
    'status',
    'status --epic epic-7h2k9d3f --tree',
    'status --watch',
    'status --json',
  ]);
  status
    .option('-e, --epic <id>', 'Only this epic')
    .option('--all', 'List every task, even if the plan does not fit on a screen')
    .option('--tree', 'Show epics, tasks and sub-tasks as a tree')
    .option('--watch', 'Update whenever something changes')
    .option('--oneline', 'Print one line')
    .action(calls(host, status, async () => (await import('../commands/status.ts')).status));

  const show = define(program, 'show <id>', 'Show a task and its plan', ['show task-2m8x4q1z']);
  show.action(calls(host, show, async () => (await load()).show));

  const why = define(
    program,
    'why <id>',
    'Explain why a task is not running, or an epic not landed',
    ['why task-2m8x4q1z', 'why epic-7h2k9d3f'],
  );
  why.action(calls(host, why, async () => (await load()).why));

  const pr = define(
    program,
    'pr <epic> [text]',
    'Show the pull request of an epic, or reply on a thread',
    ['pr epic-7h2k9d3f', 'pr epic-7h2k9d3f --reply PRRT_kwDO "Rename it, too."'],
  );
  pr.option('--reply <thread>', 'Reply on a thread with the text')
    .option('--watch <on|off>', 'Whether Drover reads it')
    .option('--fix <on|off>', 'Whether agents get its red checks and threads')
    .option('--merge <who>', 'Who merges it: person, auto or queue');
  pr.action(calls(host, pr, async () => (await import('../commands/pull-request.ts')).pullRequest));

  const log = define(program, 'log <id>', 'Show what the agent did and said', [
    'log task-2m8x4q1z --follow',
    'log task-2m8x4q1z --attempt 1 --prompt',
  ]);
  log
    .option('--attempt <n>', 'Number of the attempt (default: the last)', wholeNumber)
    .option('--follow', 'Follow until the attempt ends')
    .option('--prompt', 'Show the prompt')
    .action(calls(host, log, async () => (await load()).log));

  const events = define(program, 'events', 'List the events of the project', [
    'events --after 120 --type task.completed',
    'events --follow --json',
  ]);
  events
    .option('--after <seq>', 'Only events after this number', wholeNumber)
    .option('--type <type>', 'Only this type')
    .option('--task <id>', 'Only this task')
    .option('--by <name>', 'Only commands of this user or on this machine')
    .option('--limit <n>', 'Maximum number of events', wholeNumber)
    .option('--follow', 'Follow new events')
    .action(calls(host, events, async () => (await load()).events));
  defineChanges(program, host);
}

function defineChanges(program: Command, host: ProgramHost): void {
  const diff = define(program, 'diff <id>', 'Show the changes of a task or an epic', [
    'diff task-2m8x4q1z',
    'diff epic-7h2k9d3f',
  ]);
  diff
    .option('--snapshot <n>', 'Show the changes up to this snapshot', wholeNumber)
    .action(calls(host, diff, async () => (await load()).diff));

  const snapshots = define(program, 'snapshots <id>', "List the snapshots of a task's work", [
    'snapshots task-2m8x4q1z',
    'diff task-2m8x4q1z --snapshot 2',
  ]);
  snapshots.action(calls(host, snapshots, async () => (await load()).snapshots));
}
