// Reads issues from the forge that a project's remote names.

import { Refusal } from '../../core/failure.ts';
import {
  type IssuesFound,
  type IssuesRequest,
  type Repository,
  repositoryOfRemote,
  repositoryOfSlug,
} from '../../core/forge/issue.ts';
import { ForgeClient } from '../../forge/client.ts';
import { GithubIssues } from '../../forge/github-issues.ts';
import { tokenFor } from '../../forge/sign-in.ts';
import { runToEnd } from '../../platform/run-to-end.ts';

/** Refuses with the kind `forge` if they cannot be read: an unread list is not an empty one. */
export async function readIssues(request: IssuesRequest): Promise<IssuesFound> {
  const remote = await remoteUrl(request);
  const repository = repositoryOf(request.slug, remote);
  const { host } = repository;
  const token = await tokenFor(host, request.env);
  const client = new ForgeClient({ baseUrl: baseUrlOf(host, remote), token, nowMs: Date.now });
  const answer = await new GithubIssues(client, repository).issues(request.query);
  switch (answer.kind) {
    case 'facts':
      return { repository, issues: answer.value };
    case 'unreadable':
      throw new Refusal('forge', answer.why);
    case 'limited': {
      const minutes = Math.max(1, Math.ceil((answer.untilMs - Date.now()) / 60_000));
      const when = minutes === 1 ? 'a minute' : `${minutes} minutes`;
      throw new Refusal('forge', `${host} allows no more requests for now. Try again in ${when}.`);
    }
  }
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

/** GitHub's REST interface: a host of its own for github.com, a path on own servers. */
function baseUrlOf(host: string, remote: string | null): string {
  if (host === 'github.com') return 'https://api.github.com/';
  // A server on this machine may have no certificate.
  const local = /^http:\/\/(?:127\.0\.0\.1|localhost)(?::\d+)?\//u.exec(remote ?? '')?.[0];
  return `${local ?? `https://${host}/`}api/v3/`;
}

async function remoteUrl({ root, env }: IssuesRequest): Promise<string | null> {
  const { code, stdout } = await runToEnd({
    program: 'git',
    args: ['-C', root, 'remote', 'get-url', 'origin'],
    env,
    input: null,
    timeoutMs: 10_000,
    signal: null,
    maxOutputBytes: 64 * 1024,
  });
  return code === 0 ? stdout.toString('utf8').trim() : null;
}
