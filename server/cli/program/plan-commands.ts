// Commands that make the plan: init, epics, tasks.

import { Option, type Command } from 'commander';
import type { AddOptions, EditOptions, EpicOptions } from '../commands/plan.ts';
import type { SpecOptions } from '../commands/spec.ts';
import {
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
  program.commandsGroup('Plan:');
  const init = define(program, 'init', 'make this repository a Drover project', [
    'init',
    'init -C ../other-repository',
  ]);
  init.action(async () => {
    await host.run(init, async (context) => (await load()).init(context));
  });
  defineEpicCommands(program, host);

  const add = define(program, 'add [title]', 'add a task', [
    'add "Greet people by name" -d "hello(name) in src/hello.ts" --accept "tested"',
    'add "Translate the greeting" --epic epic-7h2k9d3f --blocked-by task-2m8x4q1z',
    'add "task-2m8x4q1z.2 Update the manual page"',
    'add "From a file" --description-file notes.md',
    'add "Empty names crash" --template bug --set area=greeting',
  ]);
  taskOptions(add)
    .option('--template <name>', 'begin with this template of the settings')
    .option(
      '--set <key=value>',
      'fill a placeholder of the template; may be repeated',
      collectValue,
    )
    .action(async (title: string | undefined, options: AddOptions) => {
      if (title === undefined && options.template === undefined) {
        add.error("error: missing required argument 'title'", {
          code: 'commander.missingArgument',
        });
      }
      await host.run(add, async (context) => (await load()).add(context, title ?? '', options));
    });

  const templates = define(program, 'templates', 'the task templates of the settings', [
    'templates',
  ]);
  templates.action(async () => {
    await host.run(templates, async (context) => (await load()).templates(context));
  });

  const edit = define(program, 'edit <id>', 'change a task, also during a run', [
    'edit task-2m8x4q1z --priority high --add-blocker task-9c4v7b2n',
    'edit task-2m8x4q1z --no-epic',
  ]);
  taskOptions(edit.option('--title <text>', 'new title'))
    .option('--add-blocker <id>', 'wait for this task too', collectIds)
    .option('--remove-blocker <id>', 'no longer wait for this task', collectIds)
    .option('--no-epic', 'take the task out of its epic')
    .action(async (id: string, options: EditOptions) => {
      await host.run(edit, async (context) => (await load()).edit(context, id, options));
    });
  defineSpecCommand(program, host);
}

function defineSpecCommand(program: Command, host: ProgramHost): void {
  const spec = define(program, 'spec <files...>', 'plan a design: epics, tasks, dependencies', [
    'spec design.md',
    'spec docs/design --epic --dry-run',
    'spec design.md --out plan.jsonl',
    'spec - --yes --model claude-sonnet-5-5 < design.md',
  ]);
  spec
    .addHelpText(
      'after',
      `
A file, a folder (its .md and .txt files) or - for standard input. The model is
asked at ANTHROPIC_BASE_URL with ANTHROPIC_API_KEY; without a key, the installed
Claude Code is. The plan is shown, and written whole or not at all. A plan from
--out can be edited and goes in with "drover import".`,
    )
    .option('--epic', 'put all tasks into one epic')
    .option('--model <name>', 'the model that plans (default: spec.model)')
    .addOption(new Option('-y, --yes', 'write the plan without asking').conflicts('dryRun'))
    .option('--dry-run', 'show the plan, write nothing')
    .addOption(
      new Option('-o, --out <file>', 'write the plan to a new file for import instead').conflicts([
        'yes',
        'dryRun',
      ]),
    )
    .action(async (files: string[], options: SpecOptions) => {
      await host.run(spec, async (context) =>
        (await import('../commands/spec.ts')).spec(context, files, options),
      );
    });
}

const runsOnHelp = 'run agents local or remote, on a worker; "" = as the settings say';

function taskOptions(command: Command): Command {
  return command
    .option('-d, --description <text>', 'what is to be done')
    .addOption(
      new Option(
        '--description-file <file>',
        'the description from a file (- = standard input)',
      ).conflicts('description'),
    )
    .option('-e, --epic <id>', 'the epic it belongs to')
    .option('-P, --parent <id>', 'make it a sub-task of this task')
    .option('-p, --priority <n>', 'higher first; or critical, high, normal, low', priorityValue)
    .option('--blocked-by <ids>', 'tasks that must land first (a,b)', collectIds)
    .option('--type <type>', 'feature, bug, refactor, test, docs, research, fix or other')
    .option('--label <label>', 'a label; may be repeated', collect)
    .option('--accept <text>', 'an acceptance criterion; may be repeated', collect)
    .option('--agent <kind>', 'the agent for this task')
    .option('--fallback <agents>', 'who takes over when it fails (codex,claude:opus; or none)')
    .option('--best-of <n>', 'make so many candidates side by side; one lands', wholeNumber)
    .option('--choose <rule>', 'which one: first-green, smallest-change or person')
    .option('--gate <command>', 'gate command for this task')
    .addOption(new Option('--test-command <command>', 'the same as --gate').conflicts('gate'))
    .option('--test-mode <mode>', 'strict or disabled')
    .option('--test-scope <scope>', 'diff, all or skip')
    .option('--max-attempts <n>', 'how often an agent may try', wholeNumber)
    .option('--plan', 'an agent plans it first, and you approve the plan')
    .option('--no-plan', 'no plan first, whatever the settings say')
    .option('--runs-on <place>', runsOnHelp);
}

function defineEpicCommands(program: Command, host: ProgramHost): void {
  const epic = define(program, 'epic', 'epics: add, list, show, edit, close', [
    'epic add "Speak French" --description "All messages, with tests"',
    'epic show epic-7h2k9d3f',
  ]);
  epic.helpCommand(false);

  const add = define(epic, 'add <title>', 'add an epic', ['epic add "Speak French"']);
  add
    .option('-d, --description <text>', 'what the epic is about')
    .option('--runs-on <place>', runsOnHelp)
    .action(async (title: string, options: EpicOptions) => {
      await host.run(add, async (context) => (await load()).epicAdd(context, title, options));
    });

  const list = define(epic, 'list', 'list the epics', ['epic list --json']);
  list.action(async () => {
    await host.run(list, async (context) => (await load()).epicList(context));
  });

  const show = define(epic, 'show <id>', 'show an epic and its tasks', ['epic show epic-7h2k9d3f']);
  show.action(async (id: string) => {
    await host.run(show, async (context) => (await load()).epicShow(context, id));
  });

  const edit = define(epic, 'edit <id>', 'change title, description or where its agents run', [
    'epic edit epic-7h2k9d3f --title "Speak French and German"',
  ]);
  edit
    .option('--title <text>', 'new title')
    .option('-d, --description <text>', 'new description')
    .option('--runs-on <place>', runsOnHelp)
    .action(async (id: string, options: EpicOptions) => {
      await host.run(edit, async (context) => (await load()).epicEdit(context, id, options));
    });

  const close = define(epic, 'close <id>', 'close an epic', ['epic close epic-7h2k9d3f']);
  close.action(async (id: string) => {
    await host.run(close, async (context) => (await load()).epicClose(context, id));
  });
}
