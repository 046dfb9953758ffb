// The commands that build the plan: init, epics, tasks.

import { Option, type Command } from 'commander';
import type { AddOptions } from '../commands/plan.ts';
import {
  calls,
  collect,
  collectIds,
  collectValue,
  define,
  priorityValue,
  wholeNumber,
} from './options.ts';
import type { ProgramHost } from './options.ts';

const load = async () => await import('../commands/plan.ts');

export function definePlanCommands(program: Command, host: ProgramHost): void {
  const init = define(program, 'init', 'Set up Drover in this repository', [
    'init',
    'init --yes',
    'init -C ../other-repository',
  ]);
  init
    .option('-y, --yes', 'Keep the defaults; ask nothing')
    .action(calls(host, init, async () => (await import('../commands/init.ts')).init));
  defineEpicCommands(program, host);

  const add = define(program, 'add [title]', 'Add a task', [
    'add "Greet people by name" -d "hello(name) in src/hello.ts" --accept "tested"',
    'add "Translate the greeting" --epic epic-7h2k9d3f --blocked-by task-2m8x4q1z',
    'add "task-2m8x4q1z.2 Update the manual page"',
    'add "From a file" --description-file notes.md',
    'add "Empty names crash" --template bug --set area=greeting',
    'add "Greet them in French, too" --continues task-2m8x4q1z',
  ]);
  taskOptions(add)
    .option('--template <name>', 'Start from this template of the settings')
    .option('--set <key=value>', 'Fill a placeholder of the template (repeatable)', collectValue)
    .action(async (title: string | undefined, options: AddOptions) => {
      if (title === undefined && options.template === undefined) {
        add.error("error: missing required argument 'title'", {
          code: 'commander.missingArgument',
        });
      }
      await host.run(add, async (context) => (await load()).add(context, title ?? '', options));
    });

  const templates = define(program, 'templates', 'List the task templates in the settings', [
    'templates',
  ]);
  templates.action(calls(host, templates, async () => (await load()).templates));

  const edit = define(program, 'edit <id>', 'Edit a task, even during a run', [
    'edit task-2m8x4q1z --priority high --add-blocker task-9c4v7b2n',
    'edit task-2m8x4q1z --no-epic',
  ]);
  taskOptions(edit.option('--title <text>', 'New title'))
    .option('--add-blocker <id>', 'Add a task to wait for', collectIds)
    .option('--remove-blocker <id>', 'Stop waiting for this task', collectIds)
    .option('--no-epic', 'Remove the task from its epic')
    .action(calls(host, edit, async () => (await load()).edit));
  defineSpecCommand(program, host);
  defineNoteCommands(program, host);
}

function defineSpecCommand(program: Command, host: ProgramHost): void {
  const spec = define(
    program,
    'spec <files...>',
    'Plan epics, tasks and dependencies from a design document',
    [
      'spec design.md',
      'spec docs/design --epic --dry-run',
      'spec design.md --out plan.jsonl',
      'spec - --yes --model claude-sonnet-5-5 < design.md',
    ],
  );
  spec
    .addHelpText(
      'after',
      `
Reads files, folders (their .md and .txt files) or - for stdin. Asks the model
at ANTHROPIC_BASE_URL with ANTHROPIC_API_KEY, or the installed Claude Code if
that is not set. Shows the plan, then adds all of it or none. You can edit a plan
written with --out and add it with "drover import".`,
    )
    .option('--epic', 'Put all tasks into one epic')
    .option('--model <name>', 'Model that plans (default: spec.model)')
    .addOption(new Option('-y, --yes', 'Add the plan without asking').conflicts('dryRun'))
    .option('--order', 'Make tasks wait for each other that name the same files')
    .option('--dry-run', 'Show the plan without adding it')
    .addOption(
      new Option(
        '-o, --out <file>',
        'Write the plan to a new file for `drover import` instead',
      ).conflicts(['yes', 'dryRun']),
    )
    .action(calls(host, spec, async () => (await import('../commands/spec.ts')).spec));
}

const loadNotes = async () => await import('../commands/notes.ts');

function defineNoteCommands(program: Command, host: ProgramHost): void {
  const notes = define(program, 'notes', 'List notes that prompts of later tasks contain', [
    'notes',
    'notes --epic epic-7h2k9d3f',
  ]);
  notes
    .option('-e, --epic <id>', 'Only notes that apply to this epic')
    .action(calls(host, notes, async () => (await loadNotes()).notes));
  notes.helpCommand(false);

  const add = define(notes, 'add <text>', 'Leave a note for agents, at most 280 characters', [
    'notes add "The fixtures are made by npm run fixtures."',
    'notes add "Amounts are in cents." --epic epic-7h2k9d3f --at src/cart.ts:12',
  ]);
  add
    .option('-e, --epic <id>', 'Only for tasks of this epic (default: the whole project)')
    .option(
      '--at <file:line>',
      'Line of code that shows it; the note is removed when the line changes',
    )
    .action(calls(host, add, async () => (await loadNotes()).notesAdd));

  const keep = define(notes, 'keep <id>', "Keep an agent's note for the whole project", [
    'notes keep note-4k9d2m1x',
  ]);
  keep.action(calls(host, keep, async () => (await loadNotes()).notesKeep));

  const drop = define(notes, 'drop <id>', 'Remove a note', ['notes drop note-4k9d2m1x']);
  drop.action(calls(host, drop, async () => (await loadNotes()).notesDrop));
}

const runsOnHelp = 'Where agents run: local or remote ("" = use the settings)';

function taskOptions(command: Command): Command {
  return command
    .option('-d, --description <text>', 'What to do')
    .addOption(
      new Option(
        '--description-file <file>',
        'Read the description from a file (- = stdin)',
      ).conflicts('description'),
    )
    .addOption(
      new Option('--attach <file>', 'Image to show in the description (repeatable)')
        .argParser(collect)
        .conflicts('template'),
    )
    .option('-e, --epic <id>', 'Epic to put it in')
    .option('-P, --parent <id>', 'Make it a sub-task of this task')
    .option(
      '-p, --priority <n>',
      'A number (higher runs first), or critical, high, normal (the default) or low',
      priorityValue,
    )
    .option('--blocked-by <ids>', 'Tasks that must land first (a,b)', collectIds)
    .option('--type <type>', 'feature, bug, refactor, test, docs, research, fix or other')
    .option('--label <label>', 'Label (repeatable)', collect)
    .option('--accept <text>', 'Acceptance criterion (repeatable)', collect)
    .option('--agent <kind>', 'Agent for this task')
    .option('--model <name>', 'Model that the agent is asked for ("" = use the settings)')
    .option('--fallback <agents>', 'Agents to try when it fails (codex,claude:opus; or none)')
    .option('--best-of <n>', 'Produce this many candidates in parallel; one lands', wholeNumber)
    .option('--choose <rule>', 'How to choose it: first-green, smallest-change or person')
    .option('--gate <command>', 'Gate command for this task')
    .addOption(new Option('--test-command <command>', 'Same as --gate').conflicts('gate'))
    .option('--test-mode <mode>', 'strict or disabled')
    .option('--test-scope <scope>', 'diff, all or skip')
    .option('--max-attempts <n>', 'Maximum number of attempts', wholeNumber)
    .option('--plan', 'Have an agent plan it first, for your approval')
    .option('--no-plan', 'Do not plan first, even if the settings say so')
    .option('--runs-on <place>', runsOnHelp)
    .option('--continues <id>', 'Follow up on this task, in its conversation and epic');
}

function defineEpicCommands(program: Command, host: ProgramHost): void {
  const epic = define(program, 'epic', 'Add, list, show, edit and close epics', [
    'epic add "Speak French" --description "All messages, with tests"',
    'epic show epic-7h2k9d3f',
  ]);
  epic.helpCommand(false);

  const add = define(epic, 'add <title>', 'Add an epic', ['epic add "Speak French"']);
  add
    .option('-d, --description <text>', 'What the epic is about')
    .option('--runs-on <place>', runsOnHelp)
    .action(calls(host, add, async () => (await load()).epicAdd));

  const list = define(epic, 'list', 'List epics', ['epic list --json']);
  list.action(calls(host, list, async () => (await load()).epicList));

  const show = define(epic, 'show <id>', 'Show an epic and its tasks', ['epic show epic-7h2k9d3f']);
  show.action(calls(host, show, async () => (await load()).epicShow));

  const edit = define(epic, 'edit <id>', 'Edit an epic', [
    'epic edit epic-7h2k9d3f --title "Speak French and German"',
  ]);
  edit
    .option('--title <text>', 'New title')
    .option('-d, --description <text>', 'New description')
    .option('--runs-on <place>', runsOnHelp)
    .action(calls(host, edit, async () => (await load()).epicEdit));

  const close = define(epic, 'close <id>', 'Close an epic', ['epic close epic-7h2k9d3f']);
  close.action(calls(host, close, async () => (await load()).epicClose));
}
