// What the subjects of the git layer share about one repository: where it is, how git is run in it, and its few locks.

import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Durability } from './process/durability.ts';
import { isPassingRace, lockFileOf } from './process/failures.ts';
import type { IgnoreRules } from './files/ignore-rules.ts';
import type { CommitObjects } from './files/loose-objects.ts';
import type { PackedRefs } from './files/packed-refs.ts';
import type { GitCommand, GitOutput, GitProcesses } from './process/process.ts';
import type { Sha, Signature } from './port.ts';
import { toldPlace } from './files/told-place.ts';
import type { Trash } from './files/trash.ts';
import type { TrustedConfig } from './process/trusted-config.ts';

export interface RunOptions {
  /** Folder of a worktree in git's books; without it the command runs in the root. Git is told its repository. */
  readonly at?: string;
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
  readonly truncate?: boolean;
  readonly signal?: AbortSignal;
  readonly userHooks?: boolean;
  /** It speaks with another machine, so it may need what the user's credential programs need. */
  readonly network?: boolean;
  /** False: a lock held by somebody else is reported at once. */
  readonly waitForLocks?: boolean;
  readonly timeoutMs?: number;
}

/** The cone that was last set up in a slot, by its path. */
export interface KnownCones {
  get(path: string): string | undefined;
  set(path: string, cone: string): void;
  forget(path: string): void;
}

/** The last snapshot under a ref, and a text that is the same for the same state. */
export interface KnownStates {
  get(ref: string): { readonly commit: Sha; readonly key: string } | undefined;
  set(ref: string, state: { readonly commit: Sha; readonly key: string }): void;
}

/** A secret in a content: what it is, for a sentence, and a text that is the same for the same secret. */
export interface SecretFound {
  readonly what: string;
  readonly id: string;
}

export type SecretSearch = (content: Buffer, path: string) => Promise<readonly SecretFound[]>;

export interface RepositoryContext {
  readonly commonDir: string;
  /** Root of the main checkout. */
  readonly root: string;
  /** A bare repository with worktrees around it: the root is one of those. */
  readonly isBare: boolean;
  /** False where refs are kept in tables (`reftable`): then every look at a ref needs a process. */
  readonly refsAreFiles: boolean;
  /** Age from which a lock in a slot counts as left behind by a killed process. */
  readonly staleLockMs: number;
  readonly durability: Durability;
  readonly packedRefs: PackedRefs;
  readonly commits: CommitObjects;
  readonly cones: KnownCones;
  /** The end of each chain of snapshots, as this process has written it. */
  readonly snapshotStates: KnownStates;
  readonly ignores: IgnoreRules;
  readonly trash: Trash;
  /** Added to the environment of processes that speak with other machines: they never ask anybody anything. */
  readonly networkVariables: Readonly<Record<string, string>>;
  /** Arguments that make a checkout use several processes of git's own. */
  readonly checkoutSettings: readonly string[];
  /** By its name, unless a person allows this one. */
  isHeldName(path: string): boolean;
  /** Null: contents are not looked into. */
  readonly secretsIn: SecretSearch | null;
  identity(signature?: Signature | null): Record<string, string>;
  git(args: readonly string[], options?: RunOptions): Promise<GitOutput>;
  /** One at a time over the whole repository: adding, removing and pruning worktrees, and writing the configuration. */
  exclusively<T>(body: () => Promise<T>): Promise<T>;
  /** One at a time for each key. */
  inTurn<T>(key: string, body: () => Promise<T>): Promise<T>;
}

export interface RunnerParts {
  readonly processes: GitProcesses;
  readonly root: string;
  readonly commonDir: string;
  /** Keeps git to the programs of the configuration as it was when the repository was opened. */
  readonly trusted: TrustedConfig;
  readonly lockPatienceMs: number;
  readonly onStart: () => void;
}

const firstPauseMs = 20;
const longestPauseMs = 400;

/** Runs git in a repository and waits, within bounds, for locks that somebody else holds. */
export function repositoryRunner(parts: RunnerParts): RepositoryContext['git'] {
  return async (args, options = {}) => {
    const place = toldPlace(parts, options.at);
    if (place === null) return notInOurBooks(options.at ?? '');
    const overrules = await parts.trusted.overrules(place.gitDir);
    const command = commandFor(parts.root, [...overrules, ...args], options, place.variables);
    let waitedMs = 0;
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, longestPauseMs)) {
      parts.onStart();
      const output = await parts.processes.run(command);
      const mayPass =
        output.code !== 0 &&
        output.problem === null &&
        (lockFileOf(output.stderr) !== null || isPassingRace(output.stderr));
      if (!mayPass || options.waitForLocks === false || waitedMs >= parts.lockPatienceMs) {
        return output;
      }
      await delay(pauseMs);
      waitedMs += pauseMs;
    }
  };
}

function notInOurBooks(at: string): GitOutput {
  const stderr = `fatal: ${at} is in no book of this repository's worktrees`;
  return { code: 128, stdout: Buffer.alloc(0), stderr, problem: null };
}

function commandFor(
  root: string,
  args: readonly string[],
  options: RunOptions,
  told: Readonly<Record<string, string>>,
): GitCommand {
  const cwd = options.at ?? root;
  // A checkout whose `.git` was deleted must not be taken for a part of a repository that lies around it.
  const ceiling = options.at ? { GIT_CEILING_DIRECTORIES: dirname(options.at) } : {};
  return {
    args,
    cwd,
    // Merges and refs: one at a time for the whole repository, and everybody waits for what they bring.
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
