// The environment and the settings under which every git process of ours runs.

import { devNull } from 'node:os';
import { join } from 'node:path';
import { isOfGitCommand } from '../../core/work/git-variables.ts';
import { absoluteEntries } from '../../files/program-path.ts';
import { settings } from '../git-command.ts';

export type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Variables that git and the programs of a trusted configuration (filters, signing) need; a star
 * matches any suffix.
 */
const shortList: readonly string[] =
  `PATH HOME USER LOGNAME SHELL LANG LC_* TZ TERM TMPDIR TEMP TMP XDG_CONFIG_HOME XDG_CACHE_HOME XDG_DATA_HOME
  XDG_RUNTIME_DIR GNUPGHOME GPG_TTY GIT_* LD_LIBRARY_PATH DYLD_LIBRARY_PATH ELECTRON_RUN_AS_NODE SYSTEMROOT SYSTEMDRIVE
  COMSPEC PATHEXT USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES`.split(/\s+/);

/** The place of the user's own git configuration. */
export function homeOf(source: Variables): string {
  return source['HOME'] ?? source['USERPROFILE'] ?? '';
}

/**
 * The part of an environment in which no secret of the user's is expected. Names of Windows differ
 * in case.
 */
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
 * Copies an environment without variables that would point git at another repository, index or
 * object store (a backend that was started from a hook inherits such variables), and fixes the
 * language, since git's answers are parsed.
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
  // Drover caches commits, which must not change with a replacement.
  environment['GIT_NO_REPLACE_OBJECTS'] = '1';
  // Git gives advice if a file exists, even an empty one.
  environment['GIT_GRAFT_FILE'] = join(devNull, 'none');
  environment['GIT_EDITOR'] = ':';
  environment['GIT_PAGER'] = 'cat';
  return environment;
}

/** Exits when the other side is gone, so that a broken connection does not outlive its git. */
const aliveOptions = '-o ConnectTimeout=10 -o ServerAliveInterval=5 -o ServerAliveCountMax=3';
const quietSsh = `ssh -o BatchMode=yes ${aliveOptions}`;

/**
 * For processes that talk to other machines: nothing asks for a password, in a terminal or in a
 * window. An ssh program that the user has chosen stays, and gets the options of a connection that
 * ends when the other side is silent. `configured` holds keys as `git config` lists them.
 */
export function networkVariables(
  source: Variables,
  configured: ReadonlyMap<string, string>,
): Record<string, string> {
  const ssh = sshCommand(source, configured);
  return {
    GIT_TERMINAL_PROMPT: '0',
    // Empty: neither `core.askPass` nor `SSH_ASKPASS` is started.
    GIT_ASKPASS: '',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    ...(ssh === null ? {} : { GIT_SSH_COMMAND: ssh }),
  };
}

/**
 * In git's own order: GIT_SSH_COMMAND, core.sshCommand, GIT_SSH. Returns null for a program that is
 * not OpenSSH by its name (git decides in the same way which options it understands); it is ended
 * after the time limit of its git. Options that the user has set win: ssh takes the first of two,
 * and ours come last.
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
 * Settings for every process. Automatic maintenance repacks and prunes beside other writers, which
 * has left branches on missing objects; a file-system monitor would start one daemon for each
 * worktree.
 */
export const ownSettings: readonly string[] = settings({
  'gc.auto': '0',
  'maintenance.auto': 'false',
  // Names a command in place of an address; git itself refuses that unless the configuration allows
  // it.
  'protocol.ext.allow': 'never',
  'core.quotePath': 'false',
  'core.fsmonitor': 'false',
  'core.safecrlf': 'false',
  'submodule.recurse': 'false',
});

/**
 * Git's writes are on the disk before the process ends: objects before a ref names them, and the
 * ref, which changes hands by a rename and must not be an empty file after a power cut.
 */
export const flushed: readonly string[] = settings({
  'core.fsync': 'committed,derived-metadata,reference',
  'core.fsyncMethod': 'batch',
});

/**
 * No hook and no signature of the user, unless they are asked for: moving refs and writing an index
 * run hooks as well.
 */
export const withoutHooks: readonly string[] = settings({
  'core.hooksPath': '/dev/null',
  'commit.gpgSign': 'false',
});
