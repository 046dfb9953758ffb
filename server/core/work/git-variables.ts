// Variables by which git tells a command or a hook what it is part of.

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

/** A backend outlives a hook of git that starts it, and is no part of that hook's command. */
export function withoutGitCommand<T>(environment: Readonly<Record<string, T>>): Record<string, T> {
  const kept = Object.entries(environment).filter(([name]) => !isOfGitCommand(name));
  return Object.fromEntries(kept);
}
