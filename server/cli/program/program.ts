// The command tree, as `drover --help` shows it.

import type { Command } from 'commander';
import { droverVersion } from '../../protocol/version.ts';
import { defineDataCommands } from './data-commands.ts';
import { defineFleetCommands } from './fleet-commands.ts';
import { defineHistoryCommands } from './history-commands.ts';
import { defineInspectCommands } from './inspect-commands.ts';
import { DroverCommand } from './drover-command.ts';
import { addGlobals, type ProgramHost } from './options.ts';
import { definePlanCommands } from './plan-commands.ts';
import { defineRunCommands } from './run-commands.ts';
import { defineSteerCommands } from './steer-commands.ts';
import { defineUpkeepCommands } from './upkeep-commands.ts';
import { defineRemoteCommands } from './remote-commands.ts';
import { defineWebhookCommands } from './webhook-commands.ts';

const columnsMax = 100;

type DefineCommands = (program: Command, host: ProgramHost) => void;

const groups: readonly (readonly [title: string, ...DefineCommands[]])[] = [
  ['Plan:', definePlanCommands],
  ['Run:', defineRunCommands],
  ['Inspect:', defineInspectCommands, defineHistoryCommands],
  ['Review and control:', defineSteerCommands],
  ['Exchange:', defineDataCommands],
  ['Fleet:', defineFleetCommands],
  ['Maintenance:', defineUpkeepCommands, defineRemoteCommands, defineWebhookCommands],
];

export function buildProgram(host: ProgramHost): Command {
  const program = new DroverCommand('drover');
  program
    .description('Run a plan of tasks with parallel coding agents, and land what passes.')
    .version(droverVersion, '--version', 'Show the version')
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => host.write(text),
      writeErr: (text) => host.writeError(text),
      getOutHelpWidth: () => helpWidth(),
      getErrHelpWidth: () => helpWidth(),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
      outputError: (text, write) => write(text.replace(/^error: /u, 'drover: ')),
    })
    .configureHelp({ subcommandTerm: termOf });
  for (const [title, ...definitions] of groups) {
    program.commandsGroup(title);
    for (const defineCommands of definitions) defineCommands(program, host);
  }
  program.helpCommand('help [command]', 'Show help for a command');
  addGlobals(program);
  program.addHelpText(
    'after',
    `
Exit codes: 0 done, 1 a task or the command failed, 2 tasks are left, 3 refused
(nothing was changed), 64 wrong use of the command line, 130 interrupted.

Start with:
  $ drover init
  $ drover add "Say hello" --description "A greeting in README.md"
  $ drover run`,
  );
  return program;
}

/** Omits `[options]`, because every command has some. */
function termOf(command: Command): string {
  const names = [command.name(), ...command.aliases()].join('|');
  const operands = command.registeredArguments.map((argument) => {
    const word = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${word}>` : `[${word}]`;
  });
  return [names, ...operands].join(' ');
}

function helpWidth(): number {
  return Math.min(process.stdout.columns ?? 80, columnsMax);
}
