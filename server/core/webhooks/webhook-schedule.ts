// Decides when to retry a delivery, and what its response means.

const secondMs = 1_000;
const minuteMs = 60 * secondMs;
const hourMs = 60 * minuteMs;

/**
 * Delays before the further tries. A receiver may be down for three days before Drover gives up.
 */
const retryDelaysMs: readonly number[] = [
  5 * secondMs,
  5 * minuteMs,
  30 * minuteMs,
  2 * hourMs,
  5 * hourMs,
  10 * hourMs,
  14 * hourMs,
  20 * hourMs,
  24 * hourMs,
];

/** Limit for `Retry-After`; a longer value is shortened to it. */
const retryAfterMaxMs = 24 * hourMs;

/** Delays vary randomly by this share, so that deliveries are not all retried at once. */
const jitter = 0.1;

export type PostOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly retryAfterMs: number | null;
    }
  /** The receiver sent no response. */
  | { readonly kind: 'failed'; readonly reason: string };

export type Verdict =
  | { readonly kind: 'sent' }
  | { readonly kind: 'again'; readonly waitMs: number }
  /** Drover stops trying. `isGone`: the receiver permanently refuses webhooks. */
  | { readonly kind: 'given_up'; readonly isGone: boolean };

/** `tries`: the number of tries, including this one. `chance`: a random number from 0 to 1. */
export function judgePost(outcome: PostOutcome, tries: number, chance: number): Verdict {
  if (outcome.kind === 'answered') {
    if (outcome.status >= 200 && outcome.status < 300) return { kind: 'sent' };
    if (outcome.status === 410) return { kind: 'given_up', isGone: true };
  }
  const delay = retryDelaysMs[tries - 1];
  if (delay === undefined) return { kind: 'given_up', isGone: false };
  const asked = outcome.kind === 'answered' ? Math.max(0, outcome.retryAfterMs ?? 0) : 0;
  const varied = delay * (1 - jitter + 2 * jitter * chance);
  return { kind: 'again', waitMs: Math.max(varied, Math.min(asked, retryAfterMaxMs)) };
}

/**
 * Pauses an endpoint after several failures. Deliveries that are skipped during the pause use up no
 * try.
 */
export function endpointPauseMs(failuresInARow: number): number {
  return Math.min(5 * secondMs * 2 ** Math.min(failuresInARow - 1, 10), 5 * minuteMs);
}

/** True if the problem is the receiver and not only this delivery. */
export function isTroubleOfEndpoint(outcome: PostOutcome): boolean {
  return outcome.kind === 'failed' || outcome.status === 429 || outcome.status >= 500;
}

export function outcomeWords(outcome: PostOutcome): string {
  return outcome.kind === 'answered' ? `HTTP ${outcome.status}` : outcome.reason;
}
