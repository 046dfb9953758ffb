// The options and results of slots, their setup and the work in them.

import type { HeldCause } from '../core/plan/verdict.ts';
import type { Sha } from './sha.ts';

export interface CommitLeftoversRequest {
  readonly path: string;
  /** Branch that must hold the result, `drover/<task>/<attempt>`. */
  readonly branch: string;
  readonly base: Sha;
  readonly subject: string;
  readonly trailers: readonly string[];
  /** Bytes; larger files are held back. */
  readonly maxFileSize: number;
  /** Patterns of paths whose change is reported; without it, none. */
  readonly protect?: readonly string[];
  /** If true, new names that cannot be checked out on every system are held. */
  readonly portableNames?: boolean;
  /** Patterns of links that may lead out of the project; without it, all may. */
  readonly linksAllowed?: readonly string[];
  readonly runHooks: boolean;
  /** The author for the agent's commits; null = the repository's own identity. */
  readonly signature: Signature | null;
}

export interface CommitLeftoversOutcome {
  /** The branch's tip after the commit. */
  readonly commit: Sha;
  readonly tree: Sha | null;
  /** False when the tip is the base itself: nothing was changed. */
  readonly changed: boolean;
  /** Paths never committed because of name, size or content; they stay in the worktree. */
  readonly held: readonly string[];
  /** Why the content of some of them is held. */
  readonly heldFor?: Readonly<Record<string, string>>;
  /** Why the names of some of them are held. */
  readonly unportable?: Readonly<Record<string, string>>;
  /** Why the others are held. */
  readonly heldCauses?: Readonly<Record<string, HeldCause>>;
  /** Those of them that the agent has committed itself, and that are secret. */
  readonly committedSecrets?: readonly string[];
  /** Changed paths, committed or not before, that `protect` names. */
  readonly protected: readonly string[];
  /**
   * Nothing was changed, but the agent has put work aside (a stash, another branch): its snapshots
   * hold it.
   */
  readonly aside?: boolean;
  /** Absent if the attempt wrote no ignored files. */
  readonly ignored?: IgnoredResults;
}

/** Ignored files that an attempt created or changed, except those of known caches. */
export interface IgnoredResults {
  /** If they are not kept: the ignored files and folders that git lists. */
  readonly files: readonly string[];
  /** The snapshot that keeps them. */
  readonly ref: string | null;
  readonly commit: Sha | null;
  /** Describes the files if there are too many to keep. Null if all are kept. */
  readonly unkept: string | null;
}

export interface WithIgnoredRequest {
  readonly commit: Sha;
  /** The snapshot that holds the files. */
  readonly snapshot: Sha;
  readonly paths: readonly string[];
  /** Bytes; a larger file does not land. */
  readonly maxFileSize: number;
  readonly subject: string;
  readonly trailers: readonly string[];
}

/**
 * A change in the git folder that all worktrees share, made while an agent without a sandbox ran:
 * by that agent, by another one or by the user. `restore`: the command that restores the former
 * state.
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
  /** Branch to create or reset in the slot, or null for a detached HEAD (gate). */
  readonly branch: string | null;
  readonly sha: Sha;
  /**
   * If true, the branch exists with work on it: check it out unchanged, do not reset it to `sha`.
   */
  readonly keepBranch: boolean;
  /** Remove ignored files too. */
  readonly dropIgnored: boolean;
  /** Cone patterns for a sparse checkout, or null for everything. */
  readonly sparse: readonly string[] | null;
  /** A gate's folder contains no work. */
  readonly use: 'task' | 'gate';
}

export interface SlotOutcome {
  /** True when the worktree was made now (a cold start). */
  readonly created: boolean;
  /** Ref of the snapshots that keep the work found in the slot, or null. */
  readonly keptRef: string | null;
}

/**
 * Paths below a slot, each with a value that shows whether it has changed since; empty for a
 * folder.
 */
export type Traces = ReadonlyMap<string, string>;

export interface SetupRequest {
  readonly path: string;
  /** The setup command. Null if none is configured. */
  readonly command: string | null;
  /** Files that the settings name besides the known manifests and lock files of the tree. */
  readonly inputs: readonly string[];
  /** Paths that are not the setup's: copies from the checkout, caches that are kept. */
  readonly leave: readonly string[];
  /**
   * If true, removes every file that git does not track and that the setup did not make (a gate's
   * folder).
   */
  readonly only: boolean;
  /**
   * `use`: a sealed copy of the state replaces the setup, if there is one; a gate's setup result is
   * sealed for tasks whose commit contains the gate's. `base`: the slot has a commit of the line
   * and nothing of an agent, so that its state is sealed after the setup. Absent for neither.
   */
  readonly seal?: 'use' | 'base';
}

export interface SetupLook {
  readonly fingerprint: string;
  /** The slot is in its setup state: the command need not run. */
  readonly stands: boolean;
  /** Tracked files that differ from HEAD before the setup runs. */
  readonly changed: readonly string[];
  /** Files that were there before and are not the setup's. */
  readonly before: Traces;
  /** The slot contains only its commit, so that the result of the setup can be sealed. */
  readonly sealable?: boolean;
}

export interface WithoutHeldRequest {
  readonly base: Sha;
  readonly commit: Sha;
  /** Paths that are held besides those with a held name. */
  readonly held: readonly string[];
  /** Bytes: a file that only once was larger may land as it is at the end. */
  readonly maxFileSize?: number;
  readonly subject: string;
  readonly trailers: readonly string[];
}

export type Signature = { readonly name: string; readonly email: string };
