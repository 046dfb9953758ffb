// What an attempt's end means. Facts decide: how the agent's program ended, what changed, what was held back, the gate.
// Words in free text are never read as a verdict.

import { failure, type Failure } from './failure.ts';
import {
  expectsCommit,
  hasGate,
  type ReviewKind,
  type TestMode,
  type TestScope,
  type Verdict,
} from './task.ts';

/** How the agent's program ended; shaped as the outcome of the agent port. */
export type AgentEnd =
  | { readonly kind: 'done'; readonly summary: string; readonly blockedReason?: string }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'limited'; readonly untilMs: number | null; readonly message: string }
  | { readonly kind: 'stopped' };

export interface VerdictFacts {
  readonly agent: AgentEnd;
  /** Commits or leftovers against the base. */
  readonly changed: boolean;
  /** Files that were not committed because of their name or size. */
  readonly held: readonly string[];
  /** `none`: no gate covers the task; `not_run`: it has not been asked yet. */
  readonly gate: 'green' | 'red' | 'none' | 'not_run';
  readonly task: {
    readonly type: string;
    readonly testMode: TestMode;
    readonly testScope: TestScope;
  };
  /** Attempts used up before this one. */
  readonly attempts: number;
  readonly maxAttempts: number;
}

export type NextStep =
  | { readonly kind: 'gate' }
  | { readonly kind: 'land' }
  | { readonly kind: 'complete_without_commit' }
  | {
      readonly kind: 'needs_review';
      readonly review: Extract<ReviewKind, 'no_changes' | 'held_files'>;
    }
  | { readonly kind: 'retry'; readonly failure: Failure }
  | { readonly kind: 'fail'; readonly failure: Failure }
  | { readonly kind: 'blocked'; readonly reason: string }
  | { readonly kind: 'wait'; readonly untilMs: number | null; readonly message: string }
  /** The run was stopped or a person asked for it: costs no attempt. */
  | { readonly kind: 'give_back' };

export interface Judgement {
  readonly verdict: Verdict;
  /** One short line for a person. */
  readonly reason: string;
  readonly next: NextStep;
}

const maxReasonLength = 200;

export function judge(facts: VerdictFacts): Judgement {
  const { agent } = facts;
  switch (agent.kind) {
    case 'stopped':
      return { verdict: 'unknown', reason: 'stopped', next: { kind: 'give_back' } };
    case 'limited': {
      const { untilMs, message } = agent;
      const next: NextStep = { kind: 'wait', untilMs, message };
      return { verdict: 'unknown', reason: firstLine(message), next };
    }
    case 'failed':
      return failed(agent.failure, facts);
    case 'done':
      return done(agent, facts);
  }
}

function done(agent: Extract<AgentEnd, { kind: 'done' }>, facts: VerdictFacts): Judgement {
  const blocked = agent.blockedReason?.trim() ?? '';
  if (blocked !== '') {
    return {
      verdict: 'blocked',
      reason: firstLine(blocked),
      next: { kind: 'blocked', reason: blocked },
    };
  }
  // Held files come first: landing the rest would leave half of the work behind.
  if (facts.held.length > 0) {
    const files = facts.held.slice(0, 5).join(', ');
    const more = facts.held.length > 5 ? ` and ${facts.held.length - 5} more` : '';
    return {
      verdict: 'unknown',
      reason: firstLine(`held back: ${files}${more}`),
      next: { kind: 'needs_review', review: 'held_files' },
    };
  }
  const summary = firstLine(agent.summary);
  if (!facts.changed) {
    return expectsCommit(facts.task)
      ? {
          verdict: 'unknown',
          reason: 'the agent ended well but changed nothing',
          next: { kind: 'needs_review', review: 'no_changes' },
        }
      : { verdict: 'pass', reason: summary, next: { kind: 'complete_without_commit' } };
  }
  if (facts.gate === 'red') {
    return failed(failure('gate_failed', 'the gate is red on the merged tree'), facts);
  }
  const waitsForGate = facts.gate === 'not_run' && hasGate(facts.task, facts.changed);
  if (waitsForGate) return { verdict: 'unknown', reason: summary, next: { kind: 'gate' } };
  return { verdict: 'pass', reason: summary, next: { kind: 'land' } };
}

function failed(cause: Failure, facts: VerdictFacts): Judgement {
  const reason = firstLine(cause.message);
  if (cause.kind === 'interrupted')
    return { verdict: 'unknown', reason, next: { kind: 'give_back' } };
  // The setup is the project's and not the agent's: trying again with the same commands cures nothing.
  if (cause.kind === 'setup_failed') {
    return { verdict: 'blocked', reason, next: { kind: 'blocked', reason: cause.message } };
  }
  const left = facts.attempts + 1 < facts.maxAttempts;
  const next: NextStep =
    cause.retryable && left ? { kind: 'retry', failure: cause } : { kind: 'fail', failure: cause };
  return { verdict: 'fail', reason, next };
}

/** The first line that says something, short; this is what `verdict_reason` holds. */
export function firstLine(text: string): string {
  const line = text.split(/[\r\n]+/).find((candidate) => candidate.trim() !== '') ?? '';
  const clean = line.trim();
  return clean.length > maxReasonLength ? `${clean.slice(0, maxReasonLength - 1)}…` : clean;
}

const verdictWords: readonly string[] = ['pass', 'fail', 'blocked', 'unknown'] satisfies Verdict[];

/** A structured answer that an agent was asked for, checked; what does not fit stays unknown. */
export function readVerdictAnswer(answer: unknown): {
  readonly verdict: Verdict;
  readonly reason: string | null;
} {
  if (typeof answer !== 'object' || answer === null) return { verdict: 'unknown', reason: null };
  const { verdict, verdict_reason: reason } = answer as Readonly<Record<string, unknown>>;
  const isVerdict = typeof verdict === 'string' && verdictWords.includes(verdict);
  return {
    verdict: isVerdict ? (verdict as Verdict) : 'unknown',
    reason: typeof reason === 'string' && reason.trim() !== '' ? firstLine(reason) : null,
  };
}
