// Answers about runs, the feed and the past.

import type { WrongState } from '../core/work/wrong-state.ts';
import type { RunView, StatusSnapshot } from './views.ts';

export interface RunStarted {
  readonly run: RunView;
  /** True when a run was active already: the scope was added, or it covers this one. */
  readonly joined: boolean;
  readonly message: string;
  /** Warnings to show once, prominently (no gate configured, unknown keys …). */
  readonly warnings: readonly string[];
  /** The number of the last event before the run's own first one: read the feed from here. */
  readonly after: number;
}

/** A target branch after a person asked it to follow. */
export interface TargetFollowedView {
  readonly branch: string;
  /** Landed commits that still wait, and why. */
  readonly pending: number;
  readonly reason: string | null;
  readonly wrong: readonly WrongState[];
}

export interface Subscribed {
  /**
   * `replay`: the events after `after` follow. `snapshot`: too much has passed; here is the state
   * at `snapshot.seq`.
   */
  readonly kind: 'replay' | 'snapshot';
  readonly seq: number;
  readonly snapshot: StatusSnapshot | null;
}

/** The landings that an undo reverts, or has reverted. */
export interface UndoView {
  readonly id: string;
  /** Commits that are reverted, newest first. */
  readonly reverts: readonly string[];
  /**
   * Tasks that depend on the reverted work, directly or through others; their landed work stays.
   */
  readonly dependents: readonly string[];
  /** Tasks that are paused by it. */
  readonly tasks: readonly string[];
  /** Branch that it lands on. */
  readonly line: string;
  /** In a dry run, the tree that the branch would have. */
  readonly tree: string | null;
  /** Merged pull requests that are reverted by a pull request; empty if the revert lands here. */
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
  /** The commit that Drover pushed last. */
  readonly head: string;
  /** The reason that it waits, or how it ended. */
  readonly note: string | null;
  /** Facts that could not be read last time. */
  readonly unread: readonly { readonly fact: string; readonly why: string }[];
  /** The notes about it that agents or people received, oldest first. */
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
  /** Answers that are still to be sent to the forge. */
  readonly unsent: readonly { readonly kind: string; readonly answer: string | null }[];
  /** The threads of reviewers, and the last word of each, as they were last read. */
  readonly threads: readonly PullThreadView[];
}

export interface PullThreadView {
  readonly id: string;
  readonly kind: 'thread' | 'review' | 'approval';
  readonly is_open: boolean;
  /** Null if it is about the whole pull request. */
  readonly path: string | null;
  readonly line: number | null;
  /** Its page on the forge. */
  readonly url: string;
  /** Strangers may have written them: they are shown as text alone. */
  readonly comments: readonly {
    readonly author: string;
    readonly text: string;
    readonly at: number;
  }[];
  /** Replies from here that the forge does not have yet. */
  readonly replies: readonly {
    readonly text: string;
    /** Why it was not sent; null while it is to be sent. */
    readonly error: string | null;
  }[];
}
