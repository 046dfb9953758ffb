// Commands for a fleet: several machines that work on one project.

import type { Command } from 'commander';
import type { WorkerCommandOptions } from '../commands/fleet.ts';
import { collect, define, duration, wholeNumber, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/fleet.ts');

export function defineFleetCommands(program: Command, host: ProgramHost): void {
  program.commandsGroup('Fleet:');
  const worker = define(
    program,
    'worker',
    'work on the tasks of a fleet on this machine, until SIGTERM or Ctrl-C',
    [
      'worker --agents 4',
      'worker --label gpu --label os=linux --name atlas',
      'worker --drain-timeout 10m --json',
    ],
  );
  worker
    .option('--agents <n>', 'how many agents work here at once; 0 = none', wholeNumber)
    .option('--label <label>', 'what this machine offers, several times', collect)
    .option('--name <name>', 'what people call this machine')
    .option(
      '--drain-timeout <duration>',
      'how long a drain waits before it gives back what is at work',
      duration,
    )
    .addHelpText(
      'after',
      `
DBOS_SYSTEM_DATABASE_URL names the PostgreSQL that the machines share.
The first signal drains: nothing new starts, what is at work is waited for.
A second one gives it back for the other machines; no attempt is used.
Exit codes: 0 nothing was left here, 2 tasks were given back, 3 refused.`,
    )
    .action(async (options: WorkerCommandOptions) => {
      await host.run(worker, async (context) => (await load()).worker(context, options));
    });

  const machines = define(program, 'machines', 'the machines of the fleet, and how they are', [
    'machines',
    'machines --json',
  ]);
  machines
    .option('--all', 'also those that are gone for longer than a week')
    .action(async (options: { all?: boolean }) => {
      await host.run(machines, async (context) => (await load()).machines(context, options));
    });
  defineFleetDatabase(program, host);
}

function defineFleetDatabase(program: Command, host: ProgramHost): void {
  const fleet = define(program, 'fleet', "set up the fleet's database, as its owner", [
    'fleet prepare',
    'fleet grant drover_worker',
  ]);
  fleet.helpCommand(false);
  const prepare = define(fleet, 'prepare', 'create the tables, or bring them to this release', [
    'fleet prepare',
  ]);
  prepare.action(async () => {
    await host.run(prepare, async (context) => (await load()).fleetPrepare(context));
  });
  const grant = define(fleet, 'grant <role>', 'give a role what a worker needs, and no more', [
    'fleet grant drover_worker',
    'fleet grant drover_worker --sql',
  ]);
  grant
    .option('--sql', 'print the statements for the database owner; run nothing')
    .action(async (role: string, options: { sql?: boolean }) => {
      await host.run(grant, async (context) => (await load()).fleetGrant(context, role, options));
    });
}
