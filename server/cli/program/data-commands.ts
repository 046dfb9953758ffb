// The commands that import and export plans.

import { Option, type Command } from 'commander';
import { calls, define, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/data.ts');

export function defineDataCommands(program: Command, host: ProgramHost): void {
  const bring = define(program, 'import <file>', 'Import epics and tasks, all or nothing', [
    'import plan.jsonl',
    'import plan.jsonl --dry-run',
    'import plan.jsonl --continue',
  ]);
  bring
    .alias('import-jsonl')
    .addOption(
      new Option('-f, --format <format>', 'Format of the file')
        .choices(['auto', 'session', 'jsonl', 'beads'])
        .default('auto'),
    )
    .option('--dry-run', 'Check the file without importing it')
    .option('--update', 'Overwrite tasks and epics that differ')
    .option('--rename', 'Import tasks and epics that differ under new ids')
    .option('--skip-invalid', 'Skip invalid records instead of refusing the file')
    .option('--continue', 'Run afterwards')
    .action(calls(host, bring, async () => (await load()).importFile));

  const github = define(
    bring,
    'github <issues...>',
    'Import GitHub issues: numbers, label:<name>, milestone:<title>, or search terms',
    ['import github 12', 'import github label:drover', 'import github milestone:1.0 --dry-run'],
  );
  bring.helpCommand(false);
  github
    .option('--repo <owner/name>', 'Repository (default: the repository of the remote "origin")')
    .option('--dry-run', 'Show the plan without importing it')
    .option('-y, --yes', 'Import without asking')
    .action(
      calls(host, github, async () => (await import('../commands/import-issues.ts')).importIssues),
    );

  const sync = define(program, 'sync', 'Keep the plan in sync with another tool (beads)', [
    'sync beads .',
  ]);
  sync.helpCommand(false);
  const beads = define(
    sync,
    'beads <folder>',
    'Import changes of .beads/issues.jsonl, then export changes to it',
    ['sync beads .', 'sync beads . --watch'],
  );
  beads
    .option('--watch', 'Keep running, and sync whenever either side changes')
    .action(calls(host, beads, async () => (await import('../commands/sync.ts')).syncBeads));

  const take = define(program, 'export', 'Export epics and tasks', [
    'export --output plan.drover',
    'export -f beads -o .beads/beads.jsonl',
  ]);
  take
    .addOption(
      new Option(
        '-f, --format <format>',
        'Format to write (yaml is for reading; import does not accept it)',
      )
        .choices(['session', 'json', 'yaml', 'beads', 'jsonl'])
        .default('session'),
    )
    .option('-o, --output <file>', 'Write to this file instead of stdout')
    .action(calls(host, take, async () => (await load()).exportProject));
}
