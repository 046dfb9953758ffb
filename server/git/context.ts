// The shared state of the git layer's subjects about one repository: its place, how git is run in
// it, and its few locks.

import type { Result } from '../core/failure.ts';
import type { Trash } from '../files/trash.ts';
import type { Conversation, GitCommand, GitOutput } from './git-command.ts';
import type { Sha } from './sha.ts';
import type { Signature } from './slot-port.ts';

export interface RunOptions extends Omit<GitCommand, 'args' | 'cwd' | 'urgent'> {
  /**
   * Private git folder of a worktree; if unset, the command runs in the root. Drover passes git the
   * location of its repository.
   */
  readonly at?: string;
  /** If false, a lock of another process is reported immediately. */
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

/** Objects of the repository, read by one git process that stays, and the facts known of them. */
export interface KnownObjects {
  /** Returns null if the repository does not have it. */
  read(sha: Sha): Promise<Result<GitObject | null, GitOutput>>;
  known(sha: Sha): CommitObject | null;
  /** Returns null if the commit does not exist, or git could not be asked. */
  commit(sha: Sha): Promise<CommitObject | null>;
  remember(sha: Sha, commit: CommitObject): void;
  answer(question: string): boolean | undefined;
  rememberAnswer(question: string, answer: boolean): void;
}

/** A secret in a content: its kind, for a sentence, and a text that identifies the same secret. */
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
  /** False if refs are kept in tables (`reftable`): then reading a ref needs a process. */
  readonly refsAreFiles: boolean;
  /** Git logs the moves of Drover's own refs too: `core.logAllRefUpdates` is `always`. */
  readonly ownRefsAreLogged: boolean;
  /** Bytes of an object's id: 32 if the repository uses SHA-256. */
  readonly idBytes: 20 | 32;
  /** Age from which a lock in a slot counts as left behind by a killed process. */
  readonly staleLockMs: number;
  readonly objects: KnownObjects;
  /** The git process that moves refs which have no log. */
  readonly refMoves: Conversation;
  /** The cone that was last set up in a slot, by its path. */
  readonly cones: Map<string, string>;
  readonly trash: Trash;
  /**
   * Added to the environment of processes that talk to other machines, so that they never prompt.
   */
  readonly networkVariables: Readonly<Record<string, string>>;
  /** Arguments that make a checkout use several processes of git's own. */
  readonly checkoutSettings: readonly string[];
  /** Decides by its name, unless a person allows this one. */
  isHeldName(path: string): boolean;
  /** Null skips the contents. */
  readonly secretsIn: SecretSearch | null;
  /** Variables for a commit, by the configuration as it is now. */
  identity(signature?: Signature | null): Promise<Record<string, string>>;
  git(args: readonly string[], options?: RunOptions): Promise<GitOutput>;
  /**
   * One at a time over the whole repository: adding, removing and pruning worktrees, and writing
   * the configuration.
   */
  exclusively<T>(body: () => Promise<T>): Promise<T>;
  /** One at a time for each key. */
  inTurn<T>(key: string, body: () => Promise<T>): Promise<T>;
}
