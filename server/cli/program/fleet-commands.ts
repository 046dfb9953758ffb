// The commands for a fleet of machines that work on one project.

import type { Command } from 'commander';
import { calls, collect, define, duration, wholeNumber, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/fleet.ts');
const loadOrders = async () => await import('../commands/fleet-orders.ts');

export function defineFleetCommands(program: Command, host: ProgramHost): void {
  const worker = define(
    program,
    'worker',
    'Run tasks of a fleet on this machine, until SIGTERM or Ctrl-C',
    [
      'worker --agents 4',
      'worker --label gpu --label os=linux --name atlas',
      'worker --drain-timeout 10m --json',
    ],
  );
  worker
    .option('--agents <n>', 'Maximum number of agents on this machine (0 = none)', wholeNumber)
    .option('--label <label>', 'Capability of this machine (repeatable)', collect)
    .option('--name <name>', 'Name of this machine')
    .option(
      '--drain-timeout <duration>',
      'How long to wait for running tasks before releasing them',
      duration,
    )
    .addHelpText(
      'after',
      `
DBOS_SYSTEM_DATABASE_URL names the PostgreSQL that the machines share.
The first signal drains the worker: it starts no new tasks and waits for running
ones. The second signal releases them to other machines; no attempt is used up.
Exit codes: 0 no tasks were released, 2 tasks were released, 3 refused.`,
    )
    .action(calls(host, worker, async () => (await load()).worker));

  const machines = define(program, 'machines', 'List the machines of the fleet', [
    'machines',
    'machines --json',
  ]);
  machines
    .option('--all', 'Include machines not seen for more than a week')
    .action(calls(host, machines, async () => (await load()).machines));
  machines.helpCommand(false);
  const drain = define(
    machines,
    'drain <name>',
    'Have a machine stop taking new work, then leave the fleet',
    ['machines drain atlas', 'machines drain atlas --wait', 'machines drain atlas --now'],
  );
  drain
    .option('--wait', 'Wait until nothing runs there any more')
    .option('--now', 'Stop its agents and release its tasks to other machines; no attempt is used')
    .action(calls(host, drain, async () => (await loadOrders()).drainMachine));
  defineFleetDatabase(program, host);
}

function defineFleetDatabase(program: Command, host: ProgramHost): void {
  const fleet = define(program, 'fleet', "Set up the fleet's database, or release a branch", [
    'fleet prepare',
    'fleet grant drover_worker',
    'fleet release main',
  ]);
  fleet.helpCommand(false);
  const prepare = define(fleet, 'prepare', 'Create or upgrade the tables', ['fleet prepare']);
  prepare.action(calls(host, prepare, async () => (await load()).fleetPrepare));
  const grant = define(fleet, 'grant <role>', 'Grant a role the permissions that a worker needs', [
    'fleet grant drover_worker',
    'fleet grant drover_worker --sql',
  ]);
  grant
    .option('--sql', 'Print the SQL without running it')
    .action(calls(host, grant, async () => (await load()).fleetGrant));
  const release = define(
    fleet,
    'release <branch>',
    'Have the machine that lands on a branch release it to another machine',
    ['fleet release main', 'fleet release drover/epic/epic-2m8x'],
  );
  release.action(calls(host, release, async () => (await loadOrders()).releaseLine));
}
