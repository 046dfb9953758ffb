// The options and results of slots, their setup and the work in them.

import type { HeldCause } from '../core/plan/verdict.ts';
import type { Sha } from './sha.ts';

export interface CommitLeftoversRequest {
  readonly path: string;
  /** The branch for the result, `drover/<task>/<attempt>`. */
  readonly branch: string;
  readonly base: Sha;
  readonly subject: string;
  readonly trailers: readonly string[];
  /** Larger files (bytes) are held back. */
  readonly maxFileSize: number;
  /** Patterns of paths whose changes are reported. Absent = none. */
  readonly protect?: readonly string[];
  /** If true, new names that some systems cannot check out are held. */
  readonly portableNames?: boolean;
  /** Patterns of links that may lead out of the project. Absent = all. */
  readonly linksAllowed?: readonly string[];
  readonly runHooks: boolean;
  /** The author of the agent's commits; null = the repository's identity. */
  readonly signature: Signature | null;
}

export interface CommitLeftoversOutcome {
  /** The branch's tip after the commit. */
  readonly commit: Sha;
  readonly tree: Sha | null;
  /** False if the tip is the base itself, because nothing changed. */
  readonly changed: boolean;
  /**
   * Paths that are not committed because of their name, size or content. They stay in the worktree.
   */
  readonly held: readonly string[];
  /** For paths held because of their content: the reason. */
  readonly heldFor?: Readonly<Record<string, string>>;
  /** For paths held because of their names: the reason. */
  readonly unportable?: Readonly<Record<string, string>>;
  /** For the other held paths: the reason. */
  readonly heldCauses?: Readonly<Record<string, HeldCause>>;
  /** Secret files among the held paths that the agent committed itself. */
  readonly committedSecrets?: readonly string[];
  /** Changed paths that match `protect`, whether or not they were committed before. */
  readonly protected: readonly string[];
  /**
   * The tree is unchanged, but the agent put work into a stash or on another branch. Its snapshots
   * contain it.
   */
  readonly aside?: boolean;
  /** Absent if the attempt wrote no ignored files. */
  readonly ignored?: IgnoredResults;
}

/** Ignored files that an attempt created or changed, except those in known caches. */
export interface IgnoredResults {
  /** If they are not kept, the ignored files and folders as listed by git. */
  readonly files: readonly string[];
  /** The snapshot that keeps them. */
  readonly ref: string | null;
  readonly commit: Sha | null;
  /** Describes the files if they are too many to keep. Null if all are kept. */
  readonly unkept: string | null;
}

export interface WithIgnoredRequest {
  readonly commit: Sha;
  /** The snapshot with the files. */
  readonly snapshot: Sha;
  readonly paths: readonly string[];
  /** Larger files (bytes) do not land. */
  readonly maxFileSize: number;
  readonly subject: string;
  readonly trailers: readonly string[];
}

/**
 * A change in the git folder that all worktrees share, made while an agent without a sandbox ran,
 * by that agent, another one or the user. `restore`: the command that reverts it.
 */
export type SharedChange =
  | {
      readonly kind: 'setting';
      readonly key: string;
      readonly before: readonly string[];
      readonly now: readonly string[];
      readonly restore: string;
    }
  | { readonly kind: 'hooks'; readonly names: readonly string[] }
  | { readonly kind: 'exclude' }
  | {
      readonly kind: 'stash';
      readonly message: string;
      /** Keeps the stash reachable. */
      readonly ref: string;
      readonly restore: string;
    };

export interface SlotRequest {
  readonly path: string;
  /** Branch to create or reset in the slot; null = detached HEAD (gate). */
  readonly branch: string | null;
  readonly sha: Sha;
  /** If true, the branch has work: check it out unchanged and do not reset it to `sha`. */
  readonly keepBranch: boolean;
  /** If true, ignored files are removed too. */
  readonly dropIgnored: boolean;
  /** Cone patterns of a sparse checkout; null = check out everything. */
  readonly sparse: readonly string[] | null;
  /** A gate's folder contains no work. */
  readonly use: 'task' | 'gate';
}

export interface SlotOutcome {
  /** True if the worktree was just created (a cold start). */
  readonly created: boolean;
  /** Ref of the snapshots with the work that was found in the slot; null if none. */
  readonly keptRef: string | null;
}

/** Paths below a slot, each with a value that reveals later changes; empty for a folder. */
export type Traces = ReadonlyMap<string, string>;

export interface SetupRequest {
  readonly path: string;
  /** The setup command. Null if none is configured. */
  readonly command: string | null;
  /** Files from the settings, in addition to the known manifests and lock files of the tree. */
  readonly inputs: readonly string[];
  /** Paths that do not belong to the setup: copies from the checkout, and caches to keep. */
  readonly leave: readonly string[];
  /** If true, removes every untracked file that the setup did not create (for a gate's folder). */
  readonly only: boolean;
  /**
   * `use`: if a sealed copy of the state exists, it replaces the setup; a gate's setup result is
   * sealed for tasks whose commit contains the gate's. `base`: the slot has a commit of the line
   * without any work of an agent, so its state is sealed after the setup. Absent = neither.
   */
  readonly seal?: 'use' | 'base';
}

export interface SetupLook {
  readonly fingerprint: string;
  /** The slot is in its setup state, so the command need not run. */
  readonly stands: boolean;
  /** Tracked files that differ from HEAD before the setup runs. */
  readonly changed: readonly string[];
  /** Existing files that the setup did not create. */
  readonly before: Traces;
  /** The slot matches its commit, so the setup's result can be sealed. */
  readonly sealable?: boolean;
}

export interface WithoutHeldRequest {
  readonly base: Sha;
  readonly commit: Sha;
  /** Held paths in addition to those with a held name. */
  readonly held: readonly string[];
  /** In bytes. A file that was larger only earlier may land in its final state. */
  readonly maxFileSize?: number;
  readonly subject: string;
  readonly trailers: readonly string[];
}

export type Signature = { readonly name: string; readonly email: string };
