// A command whose usage errors are one sentence each: the mistake and the correct form.

import { Command, type ErrorOptions, type HelpContext } from 'commander';
import { remedyForGoWord } from './words-of-go.ts';

export class DroverCommand extends Command {
  override createCommand(name?: string): DroverCommand {
    return new DroverCommand(name);
  }

  override error(message: string, options?: ErrorOptions): never {
    const what = message
      .replace(/^error: /u, '')
      .replace(/\.?\n(\(Did you mean [^\n]*\?\))$/u, ' $1')
      .replace(/\.$/u, '');
    const sentence = `error: ${what}; ${this.#remedyFor(options?.code, what)}.`;
    return super.error(sentence, options);
  }

  /** A call without a sub-command prints the help, and one line with the error. */
  override help(context?: HelpContext | ((text: string) => string)): never {
    if (typeof context !== 'object' || context.error !== true) {
      return super.help(context as HelpContext);
    }
    const [word, name] = this.args;
    // Commander treats `help` of an unknown command like a missing command.
    if (word === 'help' && name !== undefined) return this.parse([name], { from: 'user' }) as never;
    this.outputHelp({ error: true });
    return this.error('a command is missing', { code: 'commander.help' });
  }

  #remedyFor(code: string | undefined, what: string): string {
    const path = pathOf(this);
    const known = remedyForGoWord(path.split(' ').slice(1).join(' '), what);
    if (known !== null) return known;
    switch (code) {
      case 'commander.missingArgument':
        return `write: ${path} ${this.#operands(what)}`;
      case 'commander.excessArguments':
        return `write: ${`${path} ${this.#operands()}`.trim()} (put a text of several words in quotes)`;
      case 'commander.help':
      case 'commander.unknownCommand': {
        const names = this.commands.map((command) => command.name());
        // At the top level, the sentence cannot list all commands.
        return this.parent === null
          ? `see ${path} --help`
          : `${path} knows ${names.join(', ')}, see ${path} --help`;
      }
      default:
        return `see ${path} --help`;
    }
  }

  /** Requires an operand that this form of the command needs although it is otherwise optional. */
  #operands(missing = ''): string {
    return this.registeredArguments
      .map((argument) => {
        const name = argument.name();
        return argument.required || missing.includes(`'${name}'`) ? `<${name}>` : `[${name}]`;
      })
      .join(' ');
  }
}

/** The command as it is typed: `drover epic add`. */
function pathOf(command: Command): string {
  const name = command.name();
  return command.parent === null ? name : `${pathOf(command.parent)} ${name}`;
}
