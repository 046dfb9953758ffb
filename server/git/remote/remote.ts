// Git processes that talk to the shared remote: limited in time and number, without prompts, and
// retried a few times while the remote is unreachable.

import { setTimeout as delay } from 'node:timers/promises';
import { err, ok } from '../../core/failure.ts';
import type { RepositoryContext } from '../context.ts';
import { settings } from '../git-command.ts';
import { isPassingRace, isStale } from '../failures.ts';
import { dropHalfMade } from '../refs/half-made-worktrees.ts';
import type { GitFailure, GitResult, RemoteHealth } from '../port.ts';
import { Semaphore } from '../../core/work/semaphore.ts';
import { droverBranchPrefix, droverHeadRoot, headRoot } from '../../core/work/ref-names.ts';
import { RemoteCalls } from './remote-calls.ts';
import { remoteFailure } from './remote-failures.ts';
import type { GitOutput } from '../git-command.ts';

export interface RemoteOptions {
  /** Name of a git remote. */
  readonly remote: string;
  /** The prefix of Drover's branches on the remote. Defaults to the local prefix. */
  readonly branchPrefix?: string | undefined;
  /** Per process. */
  readonly timeoutMs: number;
  /** Pauses between tries while the remote is unreachable. Their number limits the tries. */
  readonly pausesMs: readonly number[];
}

export interface Remote {
  readonly name: string;
  readonly pausesMs: readonly number[];
  readonly context: RepositoryContext;
  readonly health: RemoteHealth;
  /** Runs any other process that talks to the remote, once. */
  run(args: readonly string[], input: string): Promise<GitOutput>;
  /** Retried while the remote is unreachable. */
  fetch(refspecs: readonly string[], options: readonly string[]): Promise<GitResult<void>>;
  /** Returns false if `run` or `push` cannot have had any effect. */
  wasSent(output: GitOutput): boolean;
  /** Tries once, whatever the result. */
  push(
    refspecs: readonly string[],
    options: readonly string[],
    urgent: boolean,
  ): Promise<GitOutput>;
  /** Lists the remote's refs with `ls-remote`. Retried while the remote is unreachable. */
  list(options: readonly string[], patterns: readonly string[]): Promise<GitResult<string>>;
}

/**
 * Maximum number of parallel pushes. Small pushes of landings must not wait for one large branch.
 */
const pushesMax = 2;

const fetchSettings = settings({
  // An interrupted fetch leaves either the whole pack or nothing, never a commit without its files.
  'fetch.unpackLimit': '1',
  'fetch.writeCommitGraph': 'false',
});
const pushSettings = settings({
  'push.followTags': 'false',
  'push.gpgSign': 'false',
  'push.recurseSubmodules': 'no',
});
/** A slower try got no response at all, and the next one would take as long. */
const quickMs = 3_000;
export function openRemote(context: RepositoryContext, options: RemoteOptions): Remote {
  const { remote, timeoutMs, pausesMs } = options;
  const { there, here } = branchNames(options.branchPrefix ?? droverBranchPrefix);
  const pushes = new Semaphore(pushesMax);
  const calls = new RemoteCalls(context, remote, timeoutMs);
  // One at a time, because fetches write refs, and so that a hanging remote does not occupy all git
  // processes. Pauses are outside of this turn.
  const again = async (
    ask: () => Promise<GitOutput>,
    doing: string,
  ): Promise<GitResult<GitOutput>> => {
    for (let tries = 0; ; tries += 1) {
      const startMs = Date.now();
      // A caller that waited for a request without a response need not repeat it.
      const answer = async (): Promise<GitOutput> => calls.awayAnswerSince(startMs) ?? ask();
      const output = await context.inTurn('fetch', answer);
      if (output.code === 0) return ok(output);
      // This is not the remote's fault: git reads the HEAD of every worktree before it fetches.
      if (await dropHalfMade(context)) continue;
      const failure = remoteFailure(output, remote, doing);
      const pauseMs = pausesMs[tries];
      const isSlow = failure.isAway === true && Date.now() - startMs > quickMs;
      if (pauseMs === undefined || isSlow || !mayPass(output, failure)) return err(failure);
      await delay(pauseMs);
    }
  };
  return {
    name: remote,
    pausesMs,
    context,
    health: calls,
    wasSent: (output) => calls.wasSent(output),
    run: (args, input) => pushes.run(() => calls.run(args, input)),
    fetch: async (refspecs, extra) => {
      const args = [
        ...fetchSettings,
        'fetch',
        ...fetchArguments,
        ...extra,
        remote,
        ...there(refspecs),
      ];
      const done = await again(() => calls.run(args), `fetch from ${remote}`);
      return done.ok ? ok(undefined) : done;
    },
    push: (refspecs, extra, urgent) =>
      pushes.run(
        () =>
          calls.run([
            ...pushSettings,
            'push',
            ...pushArguments,
            ...there(extra),
            remote,
            ...there(refspecs),
          ]),
        urgent,
      ),
    list: async (extra, patterns) => {
      const done = await again(() => calls.list(extra, there(patterns)), `look at ${remote}`);
      return done.ok ? ok(here(done.value.stdout.toString('utf8'))) : done;
    },
  };
}

/**
 * Drover's branches have the same names everywhere except on a remote with another prefix. Both
 * directions are here, so that no other code needs to know.
 */
function branchNames(prefix: string): {
  readonly there: (args: readonly string[]) => readonly string[];
  readonly here: (listing: string) => string;
} {
  if (prefix === droverBranchPrefix) return { there: (args) => args, here: (listing) => listing };
  const root = `${headRoot}${prefix}`;
  return {
    there: (args) => args.map((arg) => arg.replaceAll(droverHeadRoot, root)),
    here: (listing) => listing.replaceAll(`\t${root}`, `\t${droverHeadRoot}`),
  };
}

const fetchArguments = [
  '-q',
  '--no-tags',
  '--no-write-fetch-head',
  '--no-auto-maintenance',
  '--no-recurse-submodules',
  '--no-show-forced-updates',
  // Fetches only the requested refs, so that refs from the user's own fetches stay unchanged.
  '--refmap=',
];
const pushArguments = ['--porcelain', '--no-verify', '--atomic', '--no-signed'];

/**
 * Temporary: another process of this machine was writing one of our refs, or the remote is
 * unreachable.
 */
function mayPass(output: GitOutput, failure: GitFailure): boolean {
  return failure.retryable || isStale(output.stderr) || isPassingRace(output.stderr);
}

/** Parses `<sha>\t<ref>` lines. */
export function parseListing(text: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [sha, ref] = line.split('\t');
    if (sha && ref) found.set(ref, sha);
  }
  return found;
}
