// Completion scripts, generated from the command tree, so that they always match it.

import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

export async function completionScript(
  context: CommandContext,
  program: Command,
  shell: string,
): Promise<number> {
  const paths = pathsOf(program, '');
  const script = shell === 'bash' ? bash(paths) : shell === 'zsh' ? zsh(paths) : fish(paths);
  context.surroundings.stdout.write(script);
  return exitCodes.done;
}

interface Path {
  /** The preceding words; empty for the program itself. */
  readonly words: string;
  readonly commands: readonly { readonly name: string; readonly sentence: string }[];
  readonly options: readonly { readonly flag: string; readonly sentence: string }[];
}

function pathsOf(command: Command, words: string): Path[] {
  const help = command.createHelp();
  const below = help.visibleCommands(command);
  const own: Path = {
    words,
    commands: below.flatMap((each) =>
      [each.name(), ...each.aliases()].map((name) => ({ name, sentence: each.description() })),
    ),
    options: help
      .visibleOptions(command)
      .flatMap(({ short, long, description: sentence }) =>
        [short, long].flatMap((flag) => (flag === undefined ? [] : [{ flag, sentence }])),
      ),
  };
  const deeper = below.flatMap((each) =>
    [each.name(), ...each.aliases()].flatMap((name) =>
      pathsOf(each, words === '' ? name : `${words} ${name}`),
    ),
  );
  return [own, ...deeper];
}

function wordsOf(path: Path): string {
  return [...path.commands.map((each) => each.name), ...path.options.map((each) => each.flag)].join(
    ' ',
  );
}

/** Offers the words that follow the longest known path among the typed words. */
function bash(paths: readonly Path[]): string {
  const cases = paths.map((path) => `    "${path.words}") words="${wordsOf(path)}" ;;`);
  return `# bash completion of drover
_drover() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" words="" index word
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    [[ "$word" == -* ]] && continue
    case "\${path:+$path }$word" in
      ${paths
        .filter((path) => path.words !== '')
        .map((path) => `"${path.words}"`)
        .join('|')}) path="\${path:+$path }$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  if [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  else
    COMPREPLY=($(compgen -W "$words" -X '-*' -- "$current"))
    [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -o filenames -F _drover drover
`;
}

function zsh(paths: readonly Path[]): string {
  return `#compdef drover
autoload -U +X bashcompinit && bashcompinit
${bash(paths)}`;
}

function fish(paths: readonly Path[]): string {
  const lines = ['# fish completion of drover', 'complete -c drover -f'];
  for (const path of paths) {
    const words = path.words.split(' ').filter((word) => word !== '');
    const condition =
      words.length === 0
        ? '__fish_use_subcommand'
        : words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ');
    for (const { name, sentence } of path.commands) {
      lines.push(`complete -c drover -n '${condition}' -a '${name}' -d ${quoted(sentence)}`);
    }
    for (const { flag, sentence } of path.options) {
      const kind = flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`;
      lines.push(`complete -c drover -n '${condition}' ${kind} -d ${quoted(sentence)}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
