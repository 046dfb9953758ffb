// State of one repository that all parts of the git layer share: its location, how git runs in it,
// and its few locks.

import type { Result } from '../core/failure.ts';
import type { Trash } from '../files/trash.ts';
import type { Conversation, GitCommand, GitOutput } from './git-command.ts';
import type { Sha } from './sha.ts';
import type { Signature } from './slot-port.ts';

export interface RunOptions extends Omit<GitCommand, 'args' | 'cwd' | 'urgent'> {
  /** Path of the worktree to run in; the repository's root if unset. */
  readonly at?: string;
  /** If false, another process's lock is reported at once. */
  readonly waitForLocks?: boolean;
}

export interface CommitObject {
  readonly tree: Sha;
  readonly parents: readonly Sha[];
}

export interface GitObject {
  readonly kind: string;
  readonly content: Buffer;
}

/**
 * Objects of the repository, read through one persistent git process, and cached facts about them.
 */
export interface KnownObjects {
  /** Returns null if the repository does not have the object. */
  read(sha: Sha): Promise<Result<GitObject | null, GitOutput>>;
  known(sha: Sha): CommitObject | null;
  /** Returns null if the commit does not exist or git could not answer. */
  commit(sha: Sha): Promise<CommitObject | null>;
  remember(sha: Sha, commit: CommitObject): void;
  answer(question: string): boolean | undefined;
  rememberAnswer(question: string, answer: boolean): void;
}

/**
 * A secret found in content: its kind, for a sentence, and a text that identifies the same secret.
 */
export interface SecretFound {
  readonly what: string;
  readonly id: string;
}

export type SecretSearch = (content: Buffer, path: string) => Promise<readonly SecretFound[]>;

export interface RepositoryContext {
  readonly commonDir: string;
  /** Root of the main checkout. */
  readonly root: string;
  /** True for a bare repository with worktrees; the root is then one of those. */
  readonly isBare: boolean;
  /** False if refs are stored in tables (`reftable`), so that reading one needs a process. */
  readonly refsAreFiles: boolean;
  /** Whether git also logs moves of Drover's refs, because `core.logAllRefUpdates` is `always`. */
  readonly ownRefsAreLogged: boolean;
  /** Bytes of an object id: 32 if the repository uses SHA-256. */
  readonly idBytes: 20 | 32;
  /** An older lock in a slot was left by a killed process. */
  readonly staleLockMs: number;
  readonly objects: KnownObjects;
  /** The git process that moves refs without a log. */
  readonly refMoves: Conversation;
  /** The sparse cone last set up in each slot, by path. */
  readonly cones: Map<string, string>;
  readonly trash: Trash;
  /** Environment of processes that talk to other machines, which keeps them from prompting. */
  readonly networkVariables: Readonly<Record<string, string>>;
  /** Arguments that make a checkout use several git processes. */
  readonly checkoutSettings: readonly string[];
  /** Decides by name, unless a person allows the path. */
  isHeldName(path: string): boolean;
  /** Null = do not search contents. */
  readonly secretsIn: SecretSearch | null;
  /** Environment variables for a commit, from the current configuration. */
  identity(signature?: Signature | null): Promise<Record<string, string>>;
  git(args: readonly string[], options?: RunOptions): Promise<GitOutput>;
  /**
   * Runs one body at a time for the whole repository: adding, removing and pruning worktrees, and
   * writing the configuration.
   */
  exclusively<T>(body: () => Promise<T>): Promise<T>;
  /** Runs one body at a time per key. */
  inTurn<T>(key: string, body: () => Promise<T>): Promise<T>;
}
