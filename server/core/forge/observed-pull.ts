// All that is known of a pull request at one moment, and was done about it before.

import type {
  BranchRules,
  Check,
  GateAge,
  MergeMode,
  Merging,
  PullCore,
  ReviewThread,
} from './pull-facts.ts';
import type { StackPlace } from './stack.ts';

/** "Not read" is a fact of its own: it never means "none". */
export type Read<T> =
  | {
      readonly kind: 'read';
      readonly value: T;
      /**
       * The part that could not be read, as a clause; absent if all was read. While a part is
       * missing, nothing is merged without a person, for it could forbid the merge.
       */
      readonly missing?: string;
    }
  | { readonly kind: 'unread'; readonly why: string };

export interface PullFacts {
  readonly pull: PullCore;
  /** Null if it is not in a stack. */
  readonly place: StackPlace | null;
  /** The commit that Drover pushed last. */
  readonly pushed: string;
  /** The relation of the head to it. */
  readonly head: 'ours' | 'on_top' | 'rewritten';
  readonly checks: Read<readonly Check[]>;
  /** The checks of the base's tip; read only if a check is red. */
  readonly baseChecks: Read<readonly Check[]>;
  readonly rules: Read<BranchRules>;
  readonly threads: Read<readonly ReviewThread[]>;
  /** Users of whom it is known that they may write to the repository. */
  readonly writers: ReadonlySet<string>;
  readonly done: readonly DoneReaction[];
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
  /** The request for this head; null if there is none yet. */
  readonly asked: {
    readonly state: 'pending' | 'done' | 'failed';
    readonly answer: string | null;
  } | null;
  /** The base on which the gate of this head was green, compared with the newest one. */
  readonly gate: GateAge;
  /** The newest commit of the base. */
  readonly base: string | null;
  /** When the head was pushed. */
  readonly pushedAtMs: number;
  /** The commit of the queue's last group with this head, and its checks. */
  readonly group: { readonly head: string; readonly checks: Read<readonly Check[]> } | null;
}
