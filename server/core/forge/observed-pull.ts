// The observed state of a pull request and Drover's earlier reactions to it.

import type { PullSwitches } from './pull-switches.ts';
import type {
  BranchRules,
  Check,
  GateAge,
  MergeMode,
  Merging,
  PullCore,
  ReviewThread,
} from './pull-facts.ts';
import type { Rerun } from './rerun.ts';
import type { StackPlace } from './stack.ts';

/** `unread` is a separate fact and never means "none". */
export type Read<T> =
  | {
      readonly kind: 'read';
      readonly value: T;
      /**
       * Names the part that could not be read, as a clause; absent if everything was read. While a
       * part is missing, only a person may merge, because that part could forbid it.
       */
      readonly missing?: string;
    }
  | { readonly kind: 'unread'; readonly why: string };

export interface PullFacts {
  readonly pull: PullCore;
  /** Null if the pull request is not in a stack. */
  readonly place: StackPlace | null;
  /** The commit that Drover pushed last. */
  readonly pushed: string;
  /** How the head relates to the pushed commit. */
  readonly head: 'ours' | 'on_top' | 'rewritten';
  readonly checks: Read<readonly Check[]>;
  /** Checks of the base's tip. Read only if a check of the pull request failed. */
  readonly baseChecks: Read<readonly Check[]>;
  readonly rules: Read<BranchRules>;
  readonly threads: Read<readonly ReviewThread[]>;
  /** Users who are known to have write access to the repository. */
  readonly writers: ReadonlySet<string>;
  readonly done: readonly DoneReaction[];
  /** Requests to run jobs of this head again. */
  readonly reruns: readonly Rerun[];
  readonly switches: Pick<PullSwitches, 'fix'>;
  readonly merge: MergeFacts;
  readonly nowMs: number;
  readonly quietMs: number;
}

export interface DoneReaction {
  readonly key: string;
  readonly subject: string;
  readonly state: 'delivered' | 'shown';
  readonly atMs: number;
}

export interface MergeFacts {
  readonly mode: MergeMode;
  readonly merging: Read<Merging>;
  /** The merge request for this head; null if none was sent. */
  readonly asked: {
    readonly state: 'pending' | 'done' | 'failed';
    readonly answer: string | null;
  } | null;
  /** The age of the base on which this head passed the gate. */
  readonly gate: GateAge;
  /** The latest commit of the base. */
  readonly base: string | null;
  /** When the head was pushed. */
  readonly pushedAtMs: number;
  /** The commit of the last merge queue group with this head, and its checks. */
  readonly group: { readonly head: string; readonly checks: Read<readonly Check[]> } | null;
}
