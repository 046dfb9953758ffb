// Environment variables in which GitHub's CLI finds a token, and variables that name a file or a
// program that has one.

const ofGithub = ['GH_TOKEN', 'GITHUB_TOKEN'] as const;
const ofOwnServers = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'] as const;
const fileOfGithub = 'GH_TOKEN_FILE';
const fileOfOwnServers = 'GH_ENTERPRISE_TOKEN_FILE';
/**
 * A program that is called with the host as its only argument and prints the host's token, or
 * nothing.
 */
const tokenProgram = 'GH_TOKEN_PROGRAM';
/** The self-hosted server that the tokens belong to. If unset, it is the repository's host. */
const ownHost = 'GH_HOST';

type Environment = Readonly<Record<string, string | undefined>>;

export type TokenSource =
  | { readonly kind: 'value'; readonly token: string }
  | { readonly kind: 'file' | 'program'; readonly variable: string; readonly path: string };

/** Returns only the variables that another process needs to sign in. */
export function tokensIn(env: Environment): Readonly<Record<string, string>> {
  const tokens: Record<string, string> = {};
  const files = [fileOfGithub, fileOfOwnServers, tokenProgram];
  for (const name of [...ofGithub, ...ofOwnServers, ...files, ownHost]) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') tokens[name] = value;
  }
  return tokens;
}

/**
 * Finds the variable with a token for this host; null if there is none. A token is only sent to its
 * own host, whichever host the repository's remote names.
 */
export function findTokenSource(host: string, env: Environment): TokenSource | null {
  const given = tokensIn(env);
  const isGithub = host === 'github.com';
  if (isGithub || (given[ownHost] ?? host) === host) {
    const names = isGithub ? ofGithub : ofOwnServers;
    const token = names.map((name) => given[name]).find((value) => value !== undefined);
    if (token !== undefined) return { kind: 'value', token };
    const variable = isGithub ? fileOfGithub : fileOfOwnServers;
    const path = given[variable];
    if (path !== undefined) return { kind: 'file', variable, path };
  }
  const program = given[tokenProgram];
  return program === undefined ? null : { kind: 'program', variable: tokenProgram, path: program };
}
