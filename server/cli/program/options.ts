// Options that every command takes, values that are validated during parsing, and help with
// examples.

import { InvalidArgumentError, type Command } from 'commander';
import { priorityOfWord } from '../../core/plan/priority.ts';
import { parseDuration } from '../../core/settings/setting-values.ts';
import type { CommandContext, GlobalOptions } from '../context.ts';

export type Handler = (context: CommandContext) => Promise<number>;

/** The host's functions that the command tree needs. */
export interface ProgramHost {
  write(text: string): void;
  writeError(text: string): void;
  run(command: Command, handler: Handler): Promise<void>;
}

/**
 * An action whose function is loaded only when the command runs. It gets the command line's values
 * in order.
 */
export function calls(
  host: ProgramHost,
  command: Command,
  load: () => Promise<(context: CommandContext, ...given: never[]) => Promise<number>>,
): (...given: readonly unknown[]) => Promise<void> {
  return async (...given) => {
    // Commander appends the command itself.
    const named = given.slice(0, -1) as never[];
    await host.run(command, async (context) => (await load())(context, ...named));
  };
}

/**
 * Adds the options that may appear anywhere to every command of the tree. Each command has its own,
 * so that they never consume another option's value (`add -d "-C is broken"`).
 */
export function addGlobals(command: Command): void {
  command
    .optionsGroup('Global options:')
    .option('--json', 'Print JSON to stdout and messages to stderr')
    .option('-C <dir>', 'Run as if started in this directory')
    .option('--no-color', 'Turn off colors')
    .helpOption('-h, --help', 'Show help');
  for (const each of command.commands) addGlobals(each);
}

export function readGlobalOptions(command: Command): GlobalOptions {
  let json = false;
  let color = true;
  let directory: string | null = null;
  for (let at: Command | null = command; at !== null; at = at.parent) {
    const options = at.opts<{ json?: boolean; color?: boolean; C?: string }>();
    json ||= options.json === true;
    color &&= options.color !== false;
    directory ??= options.C ?? null;
  }
  return { json, color, directory };
}

/** Defines a command below `parent`, with its description and examples. */
export function define(
  parent: Command,
  usage: string,
  sentence: string,
  examples: readonly string[],
): Command {
  const command = parent.command(usage).description(sentence);
  const lines = examples.map((example) => `  $ drover ${example}`);
  command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
  return command;
}

export function wholeNumber(text: string): number {
  if (!/^[+-]?\d{1,15}$/u.test(text)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

/** Milliseconds. */
export function duration(text: string): number {
  const ms = parseDuration(text);
  if (ms === null)
    throw new InvalidArgumentError('It must be a duration, for example "90s" or "10m".');
  return ms;
}

export function priorityValue(text: string): number | string {
  if (priorityOfWord(text) !== null) return text.trim().toLowerCase();
  if (/^[+-]?\d{1,9}$/u.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number, or critical, high, normal or low.');
}

/** For options that may be repeated. */
export function collect(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

/** Parses repeated `key=value` options. The last value for a key wins. */
export function collectValue(
  text: string,
  before: Readonly<Record<string, string>> | undefined,
): Readonly<Record<string, string>> {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidArgumentError('It must be key=value.');
  const pair: [string, string] = [text.slice(0, at).trim(), text.slice(at + 1)];
  return Object.fromEntries([...Object.entries(before ?? {}), pair]);
}

/** Parses both `a,b` and repeated options. */
export function collectIds(text: string, before: readonly string[] | undefined): readonly string[] {
  const ids = text.split(',').map((id) => id.trim());
  return [...(before ?? []), ...ids.filter((id) => id !== '')];
}
