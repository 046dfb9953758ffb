// Why an attempt did not end well. A failure is a value: a kind, whether a retry can help, and a
// sentence for a person.

import { ownRefusalKinds } from './refusal-kinds.ts';

export const failureKinds = [
  'agent_failed', // the program exited with an error
  'agent_missing', // the program could not be found or started
  'agent_auth', // not signed in, wrong key
  'agent_billing', // no credit
  'account_limit', // the account is at its limit and another agent takes over: uses no attempt
  'agent_limit', // turns or money given to this attempt are used up
  'budget_used', // the task's budget is used up, or a person stopped it there: only a person can continue it
  'agent_overloaded', // the provider is overloaded or unreachable; a later try may work
  'agent_stalled', // no sign of life for too long
  'timeout', // the wall time of the attempt is over
  'setup_failed', // the project's setup command failed: not the agent's fault
  'no_changes', // ended well, but without an expected commit
  'gate_failed', // the gate is red on the merged tree
  'conflict', // the work cannot be merged with earlier landings
  'line_held', // a change that Drover did not make stopped the line; uses no attempt, continues when a person has decided
  'push_refused', // the fleet's git server refuses the work: uses no attempt, continues when a person has changed a rule
  'commit_failed', // git could not commit the finished work: uses no attempt, restarts no agent
  'git_failed', // git refused something it should not have
  'disk_full', // a disk of this machine had no space: uses no attempt
  'worker_failed', // no remote worker could be had, or it was lost before its result was fetched
  'interrupted', // the owner died or the run was stopped; costs no attempt
] as const;

export type FailureKind = (typeof failureKinds)[number];

export interface Failure {
  readonly kind: FailureKind;
  /** True when another attempt of the same agent can end better. */
  readonly retryable: boolean;
  /** One sentence for a person: the event, and the remedy if one exists. */
  readonly message: string;
  /** Longer evidence (the end of a log), fed into the next attempt's prompt. */
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

/** Builds a failure whose `retryable` follows from its kind. */
export function failure(kind: FailureKind, message: string, detail?: string): Failure {
  const base = { kind, retryable: retryableKinds.has(kind), message };
  return detail === undefined ? base : { ...base, detail };
}

/** A value, or the failure instead of it. */
export type Result<T, E = Failure> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: E };

export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

export function err<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** A run that cannot start may report the failure kind of an attempt. */
export type RefusalKind = (typeof ownRefusalKinds)[number] | FailureKind;

export const refusalKinds: ReadonlySet<string> = new Set([...ownRefusalKinds, ...failureKinds]);

/** Another version may send a kind that this one does not know. */
export function toRefusalKind(word: unknown): RefusalKind {
  return typeof word === 'string' && refusalKinds.has(word) ? (word as RefusalKind) : 'refused';
}

/** An error that code distinguishes by its kind; its message is for people. */
export abstract class ErrorOfKind<Kind extends string> extends Error {
  abstract override name: string;
  readonly kind: Kind;

  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** A person's request that is refused, with nothing changed (exit code 3 of the command). */
export class Refusal extends ErrorOfKind<RefusalKind> {
  override name = 'Refusal';
}
