// Results of requests about runs, the feed and the past.

import type { PullSwitches } from '../core/forge/pull-switches.ts';
import type { WrongState } from '../core/work/wrong-state.ts';
import type { RunView, StatusSnapshot } from './views.ts';

export interface RunStarted {
  readonly run: RunView;
  /** True if a run was already active: the scope was added to it, or it covered the scope. */
  readonly joined: boolean;
  readonly message: string;
  /** Warnings to show once, prominently (no gate configured, unknown keys and so on). */
  readonly warnings: readonly string[];
  /** The number of the last event before the run's first one. Read the feed from here. */
  readonly after: number;
}

/** A target branch after a person moved it to the landed work. */
export interface TargetFollowedView {
  readonly branch: string;
  /** Landed commits that still wait, and why. */
  readonly pending: number;
  readonly reason: string | null;
  readonly wrong: readonly WrongState[];
}

export interface Subscribed {
  /**
   * `replay`: the events after `after` follow. `snapshot`: too many events were missed, so this
   * contains the state at `snapshot.seq`.
   */
  readonly kind: 'replay' | 'snapshot';
  readonly seq: number;
  readonly snapshot: StatusSnapshot | null;
}

/** The landings that an undo reverts or has reverted. */
export interface UndoView {
  readonly id: string;
  /** Commits that are reverted, newest first. */
  readonly reverts: readonly string[];
  /** Tasks that depend on the reverted work, directly or indirectly. Their landed work stays. */
  readonly dependents: readonly string[];
  /** Tasks that it pauses. */
  readonly tasks: readonly string[];
  /** The branch that it lands on. */
  readonly line: string;
  /** In a dry run, the tree that the branch would have. */
  readonly tree: string | null;
  /** Merged pull requests that a new pull request reverts; empty if the revert lands here. */
  readonly pull_requests: readonly number[];
  /**
   * `running`: the gate takes time; events after `after` with this `workflow` report the end.
   * `sent`: the pull request with the revert is being opened.
   */
  readonly state: 'planned' | 'running' | 'undone' | 'sent';
  readonly workflow: string | null;
  readonly after: number;
}

/** The pull request of an epic. */
export interface PullView {
  readonly epic_id: string;
  readonly number: number;
  readonly url: string;
  readonly state: 'open' | 'merged' | 'closed' | 'stopped';
  readonly branch: string;
  readonly base: string;
  /** The commit that Drover last pushed. */
  readonly head: string;
  /** Explains why it waits, or how it ended. */
  readonly note: string | null;
  /** Facts that could not be read last time. */
  readonly unread: readonly { readonly fact: string; readonly why: string }[];
  /** The tasks and notes that agents or people received for it, oldest first. */
  readonly given: readonly {
    readonly about: string;
    readonly task: string | null;
    readonly at: number;
  }[];
  /** Its pull requests from the bottom, if the epic is a stack; otherwise empty. */
  readonly stack: readonly {
    readonly number: number;
    readonly url: string;
    readonly state: PullView['state'];
    readonly branch: string;
    readonly base: string;
    readonly note: string | null;
  }[];
  /** Replies that must still be sent to the forge. */
  readonly unsent: readonly { readonly kind: string; readonly answer: string | null }[];
  readonly switches: PullSwitches;
  /** The reviewers' threads, and each reviewer's latest overall review, as last read. */
  readonly threads: readonly PullThreadView[];
}

export interface PullThreadView {
  readonly id: string;
  readonly kind: 'thread' | 'review' | 'approval';
  readonly is_open: boolean;
  /** Null if it concerns the whole pull request. */
  readonly path: string | null;
  readonly line: number | null;
  /** Its page on the forge. */
  readonly url: string;
  /** Untrusted text, which is displayed only as plain text. */
  readonly comments: readonly {
    readonly author: string;
    readonly text: string;
    readonly at: number;
  }[];
  /** Local replies that the forge does not have yet. */
  readonly replies: readonly {
    readonly text: string;
    /** Explains why the request was not sent. Null while it waits. */
    readonly error: string | null;
  }[];
}
