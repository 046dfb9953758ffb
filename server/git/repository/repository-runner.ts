// Runs git in a repository whose location comes from Drover's records, and waits for other
// processes' locks.

import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { changedWords, isPassingRace, parseLockFile } from '../failures.ts';
import type { Conversation } from '../git-command.ts';
import type { GitProcesses } from '../process/process.ts';
import type { GitCommand } from '../git-command.ts';
import { removePipes } from './blocking-pipes.ts';
import { toldPlace } from '../refs/told-place.ts';
import type { TrustedConfig } from '../process/trusted-config.ts';
import type { RunOptions, RepositoryContext } from '../context.ts';
import type { GitOutput } from '../git-command.ts';

export interface RunnerDeps {
  readonly processes: GitProcesses;
  readonly root: string;
  readonly commonDir: string;
  /** Restricts git to the programs that the configuration named when the repository was opened. */
  readonly trusted: TrustedConfig;
  readonly lockPatienceMs: number;
  readonly onStart: () => void;
}

export const firstPauseMs = 20;

export const longestPauseMs = 400;

/** Runs git in a repository and waits, with a limit, for other processes' locks. */
export function repositoryRunner(deps: RunnerDeps): RepositoryContext['git'] {
  return async (args, options = {}) => {
    const place = toldPlace(deps, options.at);
    if (place === null) return notInOurBooks(options.at ?? '');
    const { args: overrules, withoutHooks, address } = await deps.trusted.overrules(place.gitDir);
    if (options.network === true && address !== null) return changedAddress(address);
    const settings = [...overrules, ...(options.userHooks === true ? [] : withoutHooks)];
    const command = buildCommand(deps.root, [...settings, ...args], options, place.variables);
    let waitedMs = 0;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      deps.onStart();
      const output = await untilEnd(place.gitDir, options.at, deps.processes.run(command));
      const mayPass =
        output.code !== 0 &&
        output.problem === null &&
        (parseLockFile(output.stderr) !== null || isPassingRace(output.stderr));
      if (!mayPass || options.waitForLocks === false || waitedMs >= deps.lockPatienceMs) {
        return output;
      }
      await delay(pauseMs);
      waitedMs += pauseMs;
    }
  };
}

/**
 * A persistent git process that answers questions. It runs outside of the user's folders, because a
 * command that moves a checkout waits for processes inside it.
 */
export function repositoryConversation(deps: RunnerDeps, args: readonly string[]): Conversation {
  return deps.processes.converse(async () => {
    const { args: overrules, withoutHooks } = await deps.trusted.overrules(deps.commonDir);
    deps.onStart();
    const told = { GIT_DIR: deps.commonDir };
    return buildCommand('/', [...overrules, ...withoutHooks, ...args], {}, told);
  });
}

/**
 * Git takes this long in a slot only because of a pipe, or because of so many files that the search
 * is cheap in comparison.
 */
const slowMs = 3_000;

async function untilEnd(
  gitDir: string,
  worktree: string | undefined,
  output: Promise<GitOutput>,
): Promise<GitOutput> {
  if (worktree === undefined) return output;
  // If the search fails, git's own time limit applies.
  const search = (): void => void removePipes(worktree, gitDir).catch(() => undefined);
  const timer = setInterval(search, slowMs);
  return output.finally(() => clearInterval(timer));
}

function changedAddress(key: string): GitOutput {
  const stderr = `fatal: ${key} ${changedWords}, so nothing is sent or fetched. If you changed it, restart Drover ("drover server stop", or the worker): it trusts what it finds at its start.`;
  return { code: 128, stdout: Buffer.alloc(0), stderr, problem: null };
}

export function notInOurBooks(at: string): GitOutput {
  const stderr = `fatal: ${at} is not registered as a worktree of this repository`;
  return { code: 128, stdout: Buffer.alloc(0), stderr, problem: null };
}

export function buildCommand(
  root: string,
  args: readonly string[],
  options: RunOptions,
  told: Readonly<Record<string, string>>,
): GitCommand {
  const cwd = options.at ?? root;
  // A checkout whose `.git` was deleted must not be treated as part of a surrounding repository.
  const ceiling = options.at ? { GIT_CEILING_DIRECTORIES: dirname(options.at) } : {};
  return {
    args,
    cwd,
    // Merges and refs run one at a time for the whole repository, and other calls wait for their
    // results.
    urgent: options.at === undefined,
    env: { ...ceiling, ...told, ...options.env },
    ...(options.network === undefined ? {} : { network: options.network }),
    ...(options.input === undefined ? {} : { input: options.input }),
    ...(options.signal === undefined ? {} : { signal: options.signal }),
    ...(options.userHooks === undefined ? {} : { userHooks: options.userHooks }),
    ...(options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs }),
    ...(options.truncate === undefined ? {} : { truncate: options.truncate }),
  };
}
