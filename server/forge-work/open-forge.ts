// The repository on the forge that a project's remote names, and how to reach it.

import { Refusal } from '../core/failure.ts';
import { type Repository, repositoryOfRemote, repositoryOfSlug } from '../core/forge/issue.ts';
import { ForgeClient } from '../forge/client.ts';
import { GitRemote } from '../forge/git-remote.ts';
import { findToken } from '../forge/sign-in.ts';
import { runToEnd } from '../platform/run-to-end.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface OpenedForge {
  readonly repository: Repository;
  readonly client: ForgeClient;
  /** The branches of the remote that names it. */
  readonly remote: GitRemote;
}

export const forgeRemote = 'origin';

interface OpenOptions {
  readonly slug?: string | null;
  readonly reserve?: number;
  /** Reused if it has the same token for the same host. */
  readonly known?: ForgeClient | null;
}

/** Refuses if the project has no remote on a forge. */
export async function openForge(
  root: string,
  env: Environment,
  nowMs: () => number,
  { slug = null, reserve = 0, known = null }: OpenOptions = {},
): Promise<OpenedForge> {
  const url = await remoteUrl(root, env);
  const repository = repositoryOf(slug, url);
  const { host } = repository;
  const token = await findToken(host, env);
  const remoteHost = url === null ? null : (repositoryOfRemote(url)?.host ?? null);
  const access = { url: url ?? '', token: remoteHost === host ? token : null };
  const baseUrl = baseUrlOf(host, url);
  const isSame = known?.isFor(baseUrl, token) === true;
  return {
    repository,
    client: isSame ? known : new ForgeClient({ baseUrl, token, nowMs, reserve }),
    remote: new GitRemote({ root, remote: forgeRemote, env, access }),
  };
}

function repositoryOf(slug: string | null, remote: string | null): Repository {
  const own = remote === null ? null : repositoryOfRemote(remote);
  if (slug === null) {
    if (own !== null) return own;
    const text = 'The remote "origin" names no repository on GitHub. Name one: --repo owner/name.';
    throw new Refusal('forge', text);
  }
  const named = repositoryOfSlug(slug, own?.host ?? 'github.com');
  if (named !== null) return named;
  throw new Refusal('forge', `"${slug}" is not the name of a repository. Write it as owner/name.`);
}

/**
 * The base URL of GitHub's REST API: a separate host for github.com, a path on self-hosted servers.
 */
function baseUrlOf(host: string, remote: string | null): string {
  if (host === 'github.com') return 'https://api.github.com/';
  // A server on this machine may have no certificate.
  const local = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?\//u.exec(remote ?? '')?.[0];
  return `${local ?? `https://${host}/`}api/v3/`;
}

async function remoteUrl(root: string, env: Environment): Promise<string | null> {
  const { code, stdout } = await runToEnd({
    program: 'git',
    args: ['-C', root, 'remote', 'get-url', forgeRemote],
    env,
    input: null,
    timeoutMs: 10_000,
    signal: null,
    maxOutputBytes: 64 * 1024,
  });
  return code === 0 ? stdout.toString('utf8').trim() : null;
}
