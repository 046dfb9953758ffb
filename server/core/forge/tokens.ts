// The variables in which GitHub's own command finds a token, and those that name a file or a
// program which has one.

const ofGithub = ['GH_TOKEN', 'GITHUB_TOKEN'] as const;
const ofOwnServers = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'] as const;
const fileOfGithub = 'GH_TOKEN_FILE';
const fileOfOwnServers = 'GH_ENTERPRISE_TOKEN_FILE';
/** Called with the host as its only argument; prints the token for it, or nothing. */
const tokenProgram = 'GH_TOKEN_PROGRAM';
/** The own server that they belong to; without it, that of the repository. */
const ownHost = 'GH_HOST';

type Environment = Readonly<Record<string, string | undefined>>;

export type TokenSource =
  | { readonly kind: 'value'; readonly token: string }
  | { readonly kind: 'file' | 'program'; readonly variable: string; readonly path: string };

/** Only what another process needs to sign in. */
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
 * A token is sent to no other host than its own, whatever a repository's remote names. Returns null
 * if no variable has one for this host.
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
