// Environment variables through which git describes the running git command to its hooks and child
// commands.

/**
 * Variables for git's programs, keys and configuration files, which stay. All other git variables
 * describe the command that the caller is part of. Git sets them for hooks, including the commit's
 * author.
 */
const keptGitVariables: ReadonlySet<string> = new Set([
  'GIT_EXEC_PATH',
  'GIT_TEMPLATE_DIR',
  'GIT_CONFIG_GLOBAL',
  'GIT_CONFIG_SYSTEM',
  'GIT_CONFIG_NOSYSTEM',
  'GIT_SSH',
  'GIT_SSH_COMMAND',
  'GIT_SSL_CAINFO',
  'GIT_SSL_NO_VERIFY',
]);

export function isOfGitCommand(name: string): boolean {
  const upper = name.toUpperCase();
  return upper.startsWith('GIT_') && !keptGitVariables.has(upper);
}

/** Git sets these for hooks, aliases and `rebase --exec` commands; users do not set them. */
const setForHooks: readonly string[] = [
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_REFLOG_ACTION',
];
const identity = /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$/;

/**
 * Removes variables of a surrounding git command. A backend outlives the git hook that starts it
 * and must not act as part of it. Outside of hooks, identity variables are kept, because some
 * development containers set the user's identity only there.
 */
export function withoutGitCommand<T>(environment: Readonly<Record<string, T>>): Record<string, T> {
  const isInHook = setForHooks.some((name) => environment[name] !== undefined);
  const kept = Object.entries(environment).filter(
    ([name]) => !isOfGitCommand(name) || (!isInHook && identity.test(name)),
  );
  return Object.fromEntries(kept);
}
