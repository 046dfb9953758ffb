// Commands that bring plans in and take them out.

import { Option, type Command } from 'commander';
import type { ExportOptions, ImportOptions } from '../commands/data.ts';
import type { SyncOptions } from '../commands/sync.ts';
import { define, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/data.ts');

export function defineDataCommands(program: Command, host: ProgramHost): void {
  program.commandsGroup('Exchange:');
  const bring = define(program, 'import <file>', 'import epics and tasks, all or nothing', [
    'import plan.jsonl',
    'import plan.jsonl --dry-run',
    'import plan.jsonl --continue',
  ]);
  bring
    .alias('import-jsonl')
    .addOption(
      new Option('--format <format>', 'what the file is')
        .choices(['auto', 'session', 'jsonl', 'beads'])
        .default('auto'),
    )
    .option('--dry-run', 'check only, write nothing')
    .option('--update', 'take over what differs from the project')
    .option('--rename', 'give new ids to what differs from the project')
    .option('--skip-invalid', 'leave out bad records instead of refusing the file')
    .option('--continue', 'then run')
    .action(async (file: string, options: ImportOptions) => {
      await host.run(bring, async (context) => (await load()).importFile(context, file, options));
    });

  const sync = define(program, 'sync', 'keep another tool and the plan equal: beads', [
    'sync beads .',
  ]);
  sync.helpCommand(false);
  const beads = define(
    sync,
    'beads <folder>',
    'take over what changed in .beads/issues.jsonl, then write what changed here',
    ['sync beads .', 'sync beads . --watch'],
  );
  beads
    .option('--watch', 'continue until Ctrl-C, and sync when either side changes')
    .action(async (folder: string, options: SyncOptions) => {
      await host.run(beads, async (context) =>
        (await import('../commands/sync.ts')).syncBeads(context, folder, options),
      );
    });

  const take = define(program, 'export', 'export epics and tasks', [
    'export --output plan.drover',
    'export -f beads -o .beads/beads.jsonl',
  ]);
  take
    .addOption(
      new Option(
        '-f, --format <format>',
        'what to write; yaml is for people, import does not read it',
      )
        .choices(['session', 'json', 'yaml', 'beads', 'jsonl'])
        .default('session'),
    )
    .option('-o, --output <file>', 'to this file instead of standard output')
    .action(async (options: ExportOptions) => {
      await host.run(take, async (context) => (await load()).exportProject(context, options));
    });
}
