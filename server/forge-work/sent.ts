// The dependencies of sending, and its possible results.

import type { Tx } from '../store/port.ts';
import type { Engine } from '../workflows/kit/engine-ports.ts';
import type { ProjectForge } from './forge-access.ts';

export interface SendDeps {
  readonly engine: Engine;
  readonly project: ProjectForge;
}

/** A reply in a thread, sent after the requested work was pushed. */
export interface ReplyPlan {
  readonly nativeId: string;
  readonly number: number;
  readonly threadId: string;
  readonly taskId: string;
  readonly sha: string;
}

export type Sent =
  | { readonly kind: 'done'; readonly answer?: string; readonly write?: (tx: Tx) => Promise<void> }
  | { readonly kind: 'later'; readonly why: string; readonly untilMs?: number }
  /** A person must decide. */
  | { readonly kind: 'returned'; readonly why: string }
  /** The observer determines how the branch was changed. */
  | { readonly kind: 'overtaken'; readonly why: string };
