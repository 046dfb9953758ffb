// Commands that tell what has happened: reports, the past, traces and metrics.

import type { Command } from 'commander';
import type { ReportOptions } from '../commands/history.ts';
import { define, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/history.ts');

export function defineHistoryCommands(program: Command, host: ProgramHost): void {
  program.commandsGroup('Look:');
  const report = define(
    program,
    'report <id>',
    'what a run or an epic did with its time and money',
    ['report epic-7h2k9d3f', 'report run-4k9d2m1x --html -o report.html'],
  );
  report
    .option('--html', 'one HTML page instead of Markdown')
    .option('-o, --output <file>', 'to this file instead of standard output')
    .action(async (id: string, options: ReportOptions) => {
      await host.run(report, async (context) => (await load()).report(context, id, options));
    });
}
