// The commands about the past: reports, traces and metrics.

import { InvalidArgumentError, type Command } from 'commander';
import type { AtOptions, AtView } from '../commands/history.ts';
import { parseMoment } from '../moments.ts';
import { calls, define, type ProgramHost, wholeNumber } from './options.ts';

const load = async () => await import('../commands/history.ts');

export function defineHistoryCommands(program: Command, host: ProgramHost): void {
  const report = define(program, 'report <id>', 'Report the time and cost of a run or an epic', [
    'report epic-7h2k9d3f',
    'report run-4k9d2m1x --html -o report.html',
  ]);
  report
    .option('--html', 'Write an HTML page instead of Markdown')
    .option('-o, --output <file>', 'Write to this file instead of stdout')
    .action(calls(host, report, async () => (await load()).report));

  defineSearch(program, host);

  const trace = define(program, 'trace', 'Export OpenTelemetry traces', [
    'trace export run-4k9d2m1x --otlp-json',
  ]);
  const exported = define(trace, 'export <id>', 'Export the trace of a run, an epic or a task', [
    'trace export run-4k9d2m1x --otlp-json -o trace.json',
    'trace export task-2m8x4q1z',
  ]);
  exported
    .option('--otlp-json', 'Write OTLP JSON (the default and only format)')
    .option('-o, --output <file>', 'Write to this file instead of stdout')
    .action(calls(host, exported, async () => (await load()).exportTrace));

  const metrics = define(program, 'metrics', 'Print metrics in the Prometheus text format', [
    'metrics > /var/lib/node_exporter/drover.prom',
  ]);
  metrics
    .option('--totals', "In a fleet: print the fleet's totals even if another machine exports them")
    .action(calls(host, metrics, async () => (await load()).metrics));

  const at = define(
    program,
    'at <when> <what> [id]',
    'Show status, board or why at an earlier time',
    [
      'at 14:05 status',
      'at 2027-01-15T14:05 board --epic epic-7h2k9d3f',
      'at 1207 why task-2m8x4q1z',
    ],
  );
  at.registeredArguments[0]?.argParser(whenText);
  at.registeredArguments[1]?.choices(['status', 'board', 'why']);
  at.option('-e, --epic <id>', 'Only this epic')
    .addHelpText(
      'after',
      `
<when> is the number of an event ("drover events" shows them), or a local time:
14:05, 14:05:30, 2027-01-15T14:05, or with a zone 2027-01-15T14:05Z.
<what> is status, board (status as a tree) or why.`,
    )
    .action(async (when: string, what: AtView, id: string | undefined, options: AtOptions) => {
      if (what === 'why' && id === undefined)
        at.error('error: name the task: drover at <when> why <id>');
      if (what !== 'why' && id !== undefined)
        at.error(`error: "drover at <when> ${what}" takes no id`);
      await host.run(at, async (context) =>
        (await load()).at(context, { when, what, ...(id !== undefined && { id }) }, options),
      );
    });
}

function defineSearch(program: Command, host: ProgramHost): void {
  const search = define(
    program,
    'search <words...>',
    'Search what agents said and did, newest attempts first',
    ['search auth.ts', 'search timeout "GET /cart" --limit 5'],
  );
  search
    .option('-n, --limit <n>', 'Print at most this many matches (default 50)', wholeNumber)
    .addHelpText(
      'after',
      `
A match is the first line of an attempt's log that contains all words, in any case.
"drover log <id> --attempt <n>" shows the log.`,
    )
    .action(calls(host, search, async () => (await load()).search));
}

function whenText(when: string): string {
  if (parseMoment(when, 0) !== null) return when;
  throw new InvalidArgumentError('Use the number of an event, 14:05 or 2027-01-15T14:05.');
}
