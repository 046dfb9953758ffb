// The variables in which GitHub's own command finds a token.

const ofGithub = ['GH_TOKEN', 'GITHUB_TOKEN'] as const;
const ofOwnServers = ['GH_ENTERPRISE_TOKEN', 'GITHUB_ENTERPRISE_TOKEN'] as const;
/** The own server that they belong to; without it, that of the repository. */
const ownHost = 'GH_HOST';

type Environment = Readonly<Record<string, string | undefined>>;

/** Only the variables that another process needs to sign in. */
export function tokensIn(env: Environment): Readonly<Record<string, string>> {
  const tokens: Record<string, string> = {};
  for (const name of [...ofGithub, ...ofOwnServers, ownHost]) {
    const value = env[name]?.trim() ?? '';
    if (value !== '') tokens[name] = value;
  }
  return tokens;
}

/**
 * A token is sent to no other host than its own, whatever a repository's remote names. Returns null
 * if no variable has one for this host.
 */
export function tokenFromEnvironment(host: string, env: Environment): string | null {
  const tokens = tokensIn(env);
  const names = host === 'github.com' ? ofGithub : ofOwnServers;
  if (names === ofOwnServers && (tokens[ownHost] ?? host) !== host) return null;
  return names.map((name) => tokens[name]).find((token) => token !== undefined) ?? null;
}
