// Why an attempt failed. A failure is a value: a kind, whether a retry can help, and a sentence for
// a person.

import { ownRefusalKinds } from './refusal-kinds.ts';

export const failureKinds = [
  'agent_failed', // the program exited with an error
  'agent_missing', // the program could not be found or started
  'agent_auth', // not signed in, wrong key
  'agent_billing', // the account has no credit
  'account_limit', // the account's limit is reached and another agent takes over: uses no attempt
  'agent_limit', // the attempt's limit of turns or money is used up
  'budget_used', // the task's budget is used up or was cut off: only a person can resume it
  'agent_overloaded', // the provider is overloaded or unreachable; a later try may work
  'agent_stalled', // the agent shows no activity for too long
  'timeout', // the attempt's wall time is over
  'setup_failed', // the project's setup command failed: not the agent's fault
  'no_changes', // the agent succeeded, but made no expected commit
  'gate_failed', // the gate failed on the merged tree
  'conflict', // the work conflicts with earlier landings
  'line_held', // an outside change stopped the line: uses no attempt, needs a person
  'push_refused', // the fleet's git server refuses the push: uses no attempt, needs a person
  'commit_failed', // git could not commit the finished work: uses no attempt
  'git_failed', // git unexpectedly refused an operation
  'disk_full', // a disk of this machine is full: uses no attempt
  'worker_failed', // no remote worker was available, or it was lost before its result was fetched
  'interrupted', // the owner died or the run was stopped: uses no attempt
] as const;

export type FailureKind = (typeof failureKinds)[number];

export interface Failure {
  readonly kind: FailureKind;
  /** True if another attempt with the same agent can succeed. */
  readonly retryable: boolean;
  /** One sentence for a person: the problem and, if possible, the remedy. */
  readonly message: string;
  /** Longer evidence, such as the end of a log, for the next attempt's prompt. */
  readonly detail?: string;
}

const retryableKinds: ReadonlySet<FailureKind> = new Set([
  'agent_failed',
  'agent_limit',
  'agent_overloaded',
  'agent_stalled',
  'timeout',
  'no_changes',
  'gate_failed',
  'conflict',
  'line_held',
  'commit_failed',
  'git_failed',
  'disk_full',
  'worker_failed',
  'interrupted',
]);

/** Builds a failure. Its kind determines `retryable`. */
export function failure(kind: FailureKind, message: string, detail?: string): Failure {
  const base = { kind, retryable: retryableKinds.has(kind), message };
  return detail === undefined ? base : { ...base, detail };
}

/** A value, or the failure that prevented it. */
export type Result<T, E = Failure> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** Includes the kinds of failed attempts, because a run may fail to start for the same reasons. */
export type RefusalKind = (typeof ownRefusalKinds)[number] | FailureKind;

export const refusalKinds: ReadonlySet<string> = new Set([...ownRefusalKinds, ...failureKinds]);

/** Another version may send a kind that this version does not know. */
export function toRefusalKind(word: unknown): RefusalKind {
  return typeof word === 'string' && refusalKinds.has(word) ? (word as RefusalKind) : 'refused';
}

/** An error that code distinguishes by kind; its message is only for people. */
export abstract class ErrorOfKind<Kind extends string> extends Error {
  abstract override name: string;
  readonly kind: Kind;

  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A refused request that changed nothing (exit code 3 of the command). */
export class Refusal extends ErrorOfKind<RefusalKind> {
  override name = 'Refusal';
}
