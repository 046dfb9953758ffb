// Refuses `drover nonsense --help` and `drover run --nonsense --help` like the same lines without
// --help, so that the parser can suggest the closest known word.

import type { Command, Option } from 'commander';

/** The line to parse, without --help if it names an unknown command or flag. */
export function withoutHelpOfNothing(program: Command, args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const words = end === -1 ? args : args.slice(0, end);
  if (!words.some(isHelp) || isKnown(program, words)) return [...args];
  return args.filter((word, at) => !isHelp(word) || (end !== -1 && at > end));
}

function isHelp(word: string): boolean {
  return word === '--help' || word === '-h';
}

function isKnown(program: Command, words: readonly string[]): boolean {
  let command = program;
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (isHelp(word) || word === '-') continue;
    if (!word.startsWith('-')) {
      if (command.commands.length === 0) continue;
      if (command === program && word === 'help') return true;
      const next = command.commands.find(
        (one) => one.name() === word || one.aliases().includes(word),
      );
      if (next === undefined) return command.registeredArguments.length > 0;
      command = next;
      continue;
    }
    const option = command.options.find((one) => isOption(one, word));
    // A command that passes options to another program accepts unknown ones.
    if (option === undefined) return takesAnyOption(command);
    if (option.required && (word === option.long || word === option.short)) at += 1;
  }
  return true;
}

/** Matches `--epic`, `--epic=x`, `-e`, and `-ex` if the option takes a value. */
function isOption({ long = '', short = '', required, optional }: Option, word: string): boolean {
  if (word === long || word === short) return true;
  if (long !== '' && word.startsWith(`${long}=`)) return true;
  return (required || optional) && short !== '' && !word.startsWith('--') && word.startsWith(short);
}

function takesAnyOption(command: Command): boolean {
  return '_allowUnknownOption' in command && command._allowUnknownOption === true;
}
