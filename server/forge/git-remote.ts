// The branches of a remote: read, fetched and pushed by git, with the token only in that process's
// environment.

import { err, failure, ok, type Result } from '../core/failure.ts';
import { withoutGitCommand } from '../core/work/git-variables.ts';
import { runToEnd, type ProgramEnd } from '../platform/run-to-end.ts';

export interface GitRemoteDeps {
  readonly root: string;
  /** Name of a git remote. */
  readonly remote: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The remote's URL and the token for its host, which is sent nowhere else. */
  readonly access: { readonly url: string; readonly token: string | null };
}

const networkTimeoutMs = 10 * 60_000;
const localTimeoutMs = 60_000;
const outputBytesMax = 1024 * 1024;

/** Pushes only by fast-forward. `stale`: the branch is not at the expected commit. */
export type PushEnd =
  | { readonly kind: 'pushed' }
  | { readonly kind: 'stale'; readonly there: string | null }
  | { readonly kind: 'refused'; readonly why: string };

export class GitRemote {
  readonly #deps: GitRemoteDeps;

  constructor(deps: GitRemoteDeps) {
    this.#deps = deps;
  }

  /** Resolves with null if the branch does not exist there. */
  async tip(branch: string): Promise<Result<string | null>> {
    const { remote } = this.#deps;
    const end = await this.#run(['ls-remote', '-q', remote, `refs/heads/${branch}`], true);
    if (end.code !== 0) return this.#failed(end, `read ${branch}`);
    const line = end.stdout.toString('utf8').split('\n', 1)[0] ?? '';
    return ok(/^[0-9a-f]{40,64}(?=\t)/u.exec(line)?.[0] ?? null);
  }

  /** Fetches a branch to one of Drover's refs. Resolves with its tip. */
  async fetch(branch: string): Promise<Result<string>> {
    const ref = `refs/drover/forge/${branch}`;
    const args = ['fetch', '-q', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'];
    const refspec = `+refs/heads/${branch}:${ref}`;
    const end = await this.#run([...args, '--refmap=', this.#deps.remote, refspec], true);
    if (end.code !== 0) return this.#failed(end, `fetch ${branch}`);
    const found = await this.#run(['rev-parse', '--verify', '-q', ref], false);
    if (found.code !== 0) return this.#failed(found, `read ${ref}`);
    return ok(found.stdout.toString('utf8').trim());
  }

  /** Asks the remote whether it would accept a push of this branch, without pushing. */
  async tryPush(branch: string): Promise<Result<null>> {
    const args = ['push', '--dry-run', '-q', '--no-verify', '--no-follow-tags'];
    const refspec = `HEAD:refs/heads/${branch}`;
    const end = await this.#run([...args, this.#deps.remote, refspec], true);
    return end.code === 0 ? ok(null) : this.#failed(end, 'push');
  }

  /** `expected` null: the branch must not exist there. */
  async push(branch: string, sha: string, expected: string | null): Promise<Result<PushEnd>> {
    const there = await this.tip(branch);
    if (!there.ok) return there;
    if (there.value === sha) return ok({ kind: 'pushed' });
    if (there.value !== expected) return ok({ kind: 'stale', there: there.value });
    if (expected !== null) {
      const ancestor = await this.#run(['merge-base', '--is-ancestor', expected, sha], false);
      if (ancestor.code !== 0) return ok({ kind: 'stale', there: expected });
    }
    return this.#pushTo(branch, sha, expected);
  }

  /** Deletes the branch. `stale`: it is not at this commit. */
  async remove(branch: string, expected: string): Promise<Result<PushEnd>> {
    const there = await this.tip(branch);
    if (!there.ok) return there;
    if (there.value === null) return ok({ kind: 'pushed' });
    if (there.value !== expected) return ok({ kind: 'stale', there: there.value });
    return this.#pushTo(branch, '', expected);
  }

  async #pushTo(branch: string, source: string, expected: string | null): Promise<Result<PushEnd>> {
    const lease = `--force-with-lease=refs/heads/${branch}:${expected ?? ''}`;
    const args = ['push', '-q', '--porcelain', '--no-verify', '--no-follow-tags', lease];
    const refspec = `${source}:refs/heads/${branch}`;
    const end = await this.#run([...args, this.#deps.remote, refspec], true);
    if (end.code === 0) return ok({ kind: 'pushed' });
    const words = `${end.stdout.toString('utf8')}\n${end.stderr.toString('utf8')}`;
    if (/\(stale info\)|\(fetch first\)|non-fast-forward/u.test(words)) {
      const now = await this.tip(branch);
      return now.ok ? ok({ kind: 'stale', there: now.value }) : now;
    }
    const reason = /\[remote rejected\] \(([^)]*)\)/u.exec(words)?.[1];
    if (reason !== undefined) return ok({ kind: 'refused', why: reason });
    return this.#failed(end, `push ${branch}`);
  }

  #run(args: readonly string[], isNetwork: boolean): Promise<ProgramEnd> {
    return runToEnd({
      program: 'git',
      args: ['-C', this.#deps.root, ...args],
      env: { ...withoutGitCommand(this.#deps.env), ...(isNetwork ? this.#access() : {}) },
      input: null,
      timeoutMs: isNetwork ? networkTimeoutMs : localTimeoutMs,
      signal: null,
      maxOutputBytes: outputBytesMax,
    });
  }

  /** Git reads these as configuration. Other users' processes cannot read them. */
  #access(): Record<string, string> {
    const { url, token } = this.#deps.access;
    const quiet = {
      GIT_TERMINAL_PROMPT: '0',
      GIT_ASKPASS: '',
      SSH_ASKPASS: '',
      GCM_INTERACTIVE: '0',
    };
    if (token === null || !/^https?:\/\//u.test(url)) return quiet;
    const secret = Buffer.from(`x-access-token:${token}`).toString('base64');
    return {
      ...quiet,
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: `http.${new URL(url).origin}/.extraHeader`,
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${secret}`,
      // A redirect would pass the header to another host.
      GIT_CONFIG_KEY_1: 'http.followRedirects',
      GIT_CONFIG_VALUE_1: 'false',
    };
  }

  #failed(end: ProgramEnd, doing: string): Result<never> {
    const lines = end.stderr.toString('utf8').trim().split('\n');
    const words = lines.find((line) => /^(?:fatal|error|remote):/u.test(line)) ?? lines[0] ?? '';
    const why = words === '' ? (end.problem ?? `exit code ${end.code}`) : words;
    return err(failure('git_failed', `git could not ${doing} on ${this.#deps.remote}: ${why}`));
  }
}
