// The environment and the settings of all our git processes.

import { devNull } from 'node:os';
import { join } from 'node:path';
import { isOfGitCommand } from '../../core/work/git-variables.ts';
import { absoluteEntries } from '../../files/program-path.ts';
import { settings } from '../git-command.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Variables that git and the programs of a trusted configuration (filters, signing) need. A star
 * matches any suffix.
 */
const shortList: readonly string[] =
  `PATH HOME USER LOGNAME SHELL LANG LC_* TZ TERM TMPDIR TEMP TMP XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME
  XDG_RUNTIME_DIR GNUPGHOME GPG_TTY GIT_* LD_LIBRARY_PATH DYLD_LIBRARY_PATH ELECTRON_RUN_AS_NODE SYSTEMROOT SYSTEMDRIVE
  COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES`.split(/\s+/);

/** The folder with the user's git configuration. */
export function homeFolder(source: Variables): string {
  return source['HOME'] ?? source['USERPROFILE'] ?? '';
}

/** The part of an environment that should contain no secrets. Names on Windows ignore case. */
export function shortened(source: Variables): Variables {
  const isKept = (name: string): boolean =>
    shortList.some((kept) =>
      kept.endsWith('*')
        ? name.toUpperCase().startsWith(kept.slice(0, -1))
        : name.toUpperCase() === kept,
    );
  return Object.fromEntries(Object.entries(source).filter(([name]) => isKept(name)));
}

/**
 * Copies an environment without variables that would redirect git to another repository, index or
 * object store (a backend started from a hook inherits such variables), and sets the language,
 * because git's output is parsed.
 */
export function gitEnvironment(source: Variables): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(source)) {
    if (value === undefined || isOfGitCommand(name)) continue;
    environment[name] = name.toUpperCase() === 'PATH' ? absoluteEntries(value) : value;
  }
  environment['LC_ALL'] = 'C';
  environment['LANGUAGE'] = '';
  environment['GIT_TERMINAL_PROMPT'] = '0';
  environment['GIT_OPTIONAL_LOCKS'] = '0';
  // Drover caches commits, which a replacement must not change.
  environment['GIT_NO_REPLACE_OBJECTS'] = '1';
  // An existing file, even an empty one, makes git print advice.
  environment['GIT_GRAFT_FILE'] = join(devNull, 'none');
  environment['GIT_EDITOR'] = ':';
  environment['GIT_PAGER'] = 'cat';
  return environment;
}

/** Exits if the other side is gone, so that a broken connection does not outlive its git. */
const aliveOptions = '-o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3';
const quietSsh = `ssh -o BatchMode=yes ${aliveOptions}`;

/**
 * For processes that talk to other machines: nothing prompts for a password, in a terminal or a
 * window. An ssh program that the user chose is kept, with options that end a silent connection.
 * `configured` contains keys as `git config` lists them.
 */
export function networkVariables(
  source: Variables,
  configured: ReadonlyMap<string, string>,
): Record<string, string> {
  const ssh = sshCommand(source, configured);
  return {
    GIT_TERMINAL_PROMPT: '0',
    // If empty, neither `core.askPass` nor `SSH_ASKPASS` is started.
    GIT_ASKPASS: '',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    ...(ssh === null ? {} : { GIT_SSH_COMMAND: ssh }),
  };
}

/**
 * In git's own order: GIT_SSH_COMMAND, core.sshCommand, GIT_SSH. Returns null for a program that is
 * not OpenSSH by its name (git decides in the same way which options it understands); such a
 * program ends with git's time limit. Options that the user set win, because ssh uses the first of
 * two and ours come last.
 */
function sshCommand(source: Variables, configured: ReadonlyMap<string, string>): string | null {
  const command = source['GIT_SSH_COMMAND'] || configured.get('core.sshcommand');
  if (command) return isOpenSsh(firstWord(command)) ? `${command} ${aliveOptions}` : null;
  const program = source['GIT_SSH'];
  if (!program) return quietSsh;
  const quoted = `'${program.replaceAll("'", String.raw`'\''`)}'`;
  return isOpenSsh(program) ? `${quoted} ${aliveOptions}` : null;
}

function firstWord(command: string): string {
  const [, single, double, plain] = /^\s*(?:'([^']*)'|"([^"]*)"|(\S+))/.exec(command) ?? [];
  return single ?? double ?? plain ?? '';
}

function isOpenSsh(program: string): boolean {
  return /^ssh(?:\.exe)?$/i.test(program.split(/[/\\]/).at(-1) ?? '');
}

/**
 * Settings for every process. Automatic maintenance repacks and prunes concurrently with other
 * writers, which has left branches with missing objects. A file-system monitor would start one
 * daemon per worktree.
 */
export const ownSettings: readonly string[] = settings({
  'gc.auto': '0',
  'maintenance.auto': 'false',
  // The `ext` protocol runs a command. Git refuses it unless the configuration allows it.
  'protocol.ext.allow': 'never',
  'core.quotePath': 'false',
  'core.fsmonitor': 'false',
  'core.safecrlf': 'false',
  'submodule.recurse': 'false',
});

/**
 * Git's writes must be on the disk before the process ends: objects before a ref names them, and
 * the ref itself, which is renamed into place and must not be an empty file after a power failure.
 */
export const flushed: readonly string[] = settings({
  'core.fsync': 'committed,derived-metadata,reference',
  'core.fsyncMethod': 'batch',
});

/**
 * Disables the user's hooks and signing unless requested, because moving refs and writing an index
 * also run hooks.
 */
export const withoutHooks: readonly string[] = settings({
  'core.hooksPath': '/dev/null',
  'commit.gpgSign': 'false',
});
