// Variables through which git tells a command or a hook what it is part of.

/**
 * Git variables that name programs, keys and configuration files. All others are of the command
 * that the caller is part of: git sets them for hooks, the author of a commit among them.
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

/** Git sets these for a hook, an alias and a command of `rebase --exec`; people do not. */
const setForHooks: readonly string[] = [
  'GIT_DIR',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
  'GIT_REFLOG_ACTION',
];
const identity = /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$/;

/**
 * A backend outlives a git hook that starts it, and is not part of that hook's command. Outside of
 * a hook, the identity is the user's own: some development containers set it only there.
 */
export function withoutGitCommand<T>(environment: Readonly<Record<string, T>>): Record<string, T> {
  const isInHook = setForHooks.some((name) => environment[name] !== undefined);
  const kept = Object.entries(environment).filter(
    ([name]) => !isOfGitCommand(name) || (!isInHook && identity.test(name)),
  );
  return Object.fromEntries(kept);
}
