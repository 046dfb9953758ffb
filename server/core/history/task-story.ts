// Builds the history of one task from the feed: its waits, its attempts, and how it ended. Pure.

import { isOneOf } from '../one-of.ts';
import { taskStatuses, type TaskStatus } from '../plan/state.ts';
import { type FeedEvent, numberIn, textIn, textsIn } from './feed-event.ts';

/**
 * What a task is doing, or why it waits. `blocked`: for other tasks or an external cause; `queued`:
 * for a free slot; `retry`: for the delay before the next attempt; `quota`: for the agent's
 * account; `review` and `question`: for a person.
 */
export type PeriodKind =
  | 'blocked'
  | 'queued'
  | 'retry'
  | 'setup'
  | 'agent'
  | 'landing'
  | 'quota'
  | 'review'
  | 'question'
  | 'conflict'
  | 'paused';

export interface Period {
  readonly kind: PeriodKind;
  /** Unix milliseconds. */
  readonly startMs: number;
  /** Null while it lasts. */
  endMs: number | null;
  /** The attempt that it belongs to; null if it is outside of any attempt. */
  readonly attempt: number | null;
  /** Ids of the blockers, or the text of the review or question. */
  on: readonly string[];
}

/** A period in which the agent of an attempt was running. */
export interface AgentTurn {
  /** The run that it belonged to. An attempt that waited for quota can continue in a later run. */
  readonly runId: string | null;
  readonly startMs: number;
  /** Null while it is running. */
  endMs: number | null;
  /** `done`, or another way it ended; null if it has not ended, or if unknown. */
  outcome: string | null;
}

export interface AttemptStory {
  readonly number: number;
  readonly agent: string | null;
  /** The run that claimed it first. */
  readonly runId: string | null;
  /** The run that claimed it last. */
  lastRunId: string | null;
  readonly turns: AgentTurn[];
  readonly startMs: number;
  /** When its agent first started; null if it never did. */
  agentStartMs: number | null;
  agentEndMs: number | null;
  endMs: number | null;
  /** The state that the task moved to; null while the attempt runs. */
  outcome: TaskStatus | null;
  /**
   * The attempt waits for quota. The next claim continues it, unless it is abandoned for a new one.
   */
  isParked: boolean;
  failureKind: string | null;
  error: string | null;
}

export interface TaskStory {
  readonly id: string;
  title: string;
  epicId: string | null;
  parentId: string | null;
  status: TaskStatus;
  readonly periods: Period[];
  readonly attempts: AttemptStory[];
  landedSha: string | null;
  landedOn: string | null;
  landedMs: number | null;
}

export function newStory(event: FeedEvent, id: string): TaskStory {
  return {
    id,
    title: textIn(event, 'title') ?? id,
    epicId: event.epic_id,
    parentId: textIn(event, 'parent'),
    status: 'ready',
    periods: [],
    attempts: [],
    landedSha: null,
    landedOn: null,
    landedMs: null,
  };
}

/** Applies the task's next event to its story. */
export function tell(story: TaskStory, event: FeedEvent): void {
  story.epicId = event.epic_id ?? story.epicId;
  const status = textIn(event, 'status');
  if (isOneOf(taskStatuses, status)) {
    story.title = textIn(event, 'title') ?? story.title;
    enter(story, event, status);
    return;
  }
  switch (event.type) {
    case 'worktree.ready':
      return agentStarted(story, event);
    case 'agent.ended':
      return agentEnded(story, event);
    case 'task.committed':
      return changePeriod(story, event, 'landing');
    case 'question.asked':
      story.periods.push({
        kind: 'question',
        startMs: event.at_ms,
        endMs: null,
        attempt: story.attempts.at(-1)?.number ?? null,
        on: [textIn(event, 'text') ?? ''],
      });
      return;
    case 'question.answered':
    case 'question.withdrawn':
      return closePeriods(story, event.at_ms, (period) => period.kind === 'question');
    default:
  }
}

function enter(story: TaskStory, event: FeedEvent, status: TaskStatus): void {
  const by = textIn(event, 'by');
  const last = story.periods.at(-1);
  if (last?.kind === 'blocked' && last.endMs === null && by !== null) last.on = [by];
  story.status = status;
  if (status === 'in_progress' && event.type === 'task.started') return started(story, event);
  closePeriods(story, event.at_ms, () => true);
  if (status === 'claimed') claimed(story, event);
  else if (status !== 'in_progress') attemptEnded(story, event, status);
  const kind = periodOf(event, status);
  if (kind !== null) open(story, event, kind, waitedFor(event, kind));
  if (status !== 'completed') return;
  story.landedMs = event.at_ms;
  story.landedSha = textIn(event, 'sha');
  story.landedOn = textIn(event, 'branch');
}

function periodOf(event: FeedEvent, status: TaskStatus): PeriodKind | null {
  switch (status) {
    case 'ready':
      return numberIn(event, 'next_attempt_at') === null ? 'queued' : 'retry';
    case 'claimed':
      return 'setup';
    case 'in_progress':
      return 'agent';
    case 'blocked':
    case 'paused':
    case 'conflict':
      return status;
    case 'waiting':
      return 'quota';
    case 'needs_review':
      return 'review';
    case 'completed':
    case 'failed':
    case 'cancelled':
      return null;
  }
}

function waitedFor(event: FeedEvent, kind: PeriodKind): readonly string[] {
  if (kind === 'blocked') {
    const by = textIn(event, 'by');
    return by === null ? textsIn(event, 'blocked_by') : [by];
  }
  if (kind === 'review') return [textIn(event, 'kind') ?? textIn(event, 'review_kind') ?? ''];
  const reason = textIn(event, 'reason') ?? textIn(event, 'error');
  return reason === null ? [] : [reason];
}

function claimed(story: TaskStory, event: FeedEvent): void {
  const number = numberIn(event, 'attempt');
  // The task was imported as completed, or this is a sub-task's turn. Neither has an attempt.
  if (number === null) return;
  const last = story.attempts.at(-1);
  if (last?.number === number) {
    last.lastRunId = event.run_id ?? last.lastRunId;
    last.isParked = false;
    last.endMs = null;
    last.outcome = null;
    return;
  }
  story.attempts.push({
    number,
    agent: textIn(event, 'agent'),
    runId: event.run_id,
    lastRunId: event.run_id,
    turns: [],
    startMs: event.at_ms,
    agentStartMs: null,
    agentEndMs: null,
    endMs: null,
    outcome: null,
    isParked: false,
    failureKind: null,
    error: null,
  });
}

/** The worktree and the setup precede the agent. The `worktree.ready` event marks their end. */
function started(story: TaskStory, event: FeedEvent): void {
  if (isOpen(story, 'setup')) return;
  closePeriods(story, event.at_ms, () => true);
  open(story, event, 'agent', []);
}

function agentStarted(story: TaskStory, event: FeedEvent): void {
  const attempt = story.attempts.at(-1);
  if (attempt !== undefined) {
    attempt.agentStartMs ??= event.at_ms;
    beginTurn(attempt, event.at_ms);
  }
  changePeriod(story, event, 'agent');
}

function beginTurn(attempt: AttemptStory, startMs: number): void {
  if (attempt.turns.at(-1)?.endMs === null) return;
  attempt.turns.push({ runId: attempt.lastRunId, startMs, endMs: null, outcome: null });
}

function agentEnded(story: TaskStory, event: FeedEvent): void {
  const attempt = story.attempts.at(-1);
  if (attempt !== undefined) attempt.agentEndMs = event.at_ms;
  const turn = attempt?.turns.at(-1);
  if (turn !== undefined) {
    turn.endMs = event.at_ms;
    turn.outcome = textIn(event, 'outcome');
  }
  if (event.data['outcome'] === 'done') changePeriod(story, event, 'landing');
}

function attemptEnded(story: TaskStory, event: FeedEvent, status: TaskStatus): void {
  const attempt = story.attempts.at(-1);
  if (attempt === undefined) return;
  attempt.isParked = status === 'waiting' || (attempt.isParked && status === 'ready');
  // After a review or a wait for quota, the same attempt continues or lands.
  if (attempt.endMs !== null && attempt.outcome !== 'needs_review' && attempt.outcome !== 'waiting')
    return;
  attempt.endMs = event.at_ms;
  attempt.outcome = status;
  const turn = attempt.turns.at(-1);
  if (turn !== undefined) turn.endMs ??= event.at_ms;
  attempt.failureKind = textIn(event, 'kind') ?? attempt.failureKind;
  attempt.error = textIn(event, 'error') ?? textIn(event, 'reason') ?? attempt.error;
}

function isOpen(story: TaskStory, kind: PeriodKind): boolean {
  return story.periods.some((period) => period.endMs === null && period.kind === kind);
}

function changePeriod(story: TaskStory, event: FeedEvent, kind: PeriodKind): void {
  if (isOpen(story, kind)) return;
  closePeriods(story, event.at_ms, (period) => period.kind !== 'question');
  open(story, event, kind, []);
}

function open(story: TaskStory, event: FeedEvent, kind: PeriodKind, on: readonly string[]): void {
  const isOfAttempt = kind === 'setup' || kind === 'agent' || kind === 'landing';
  story.periods.push({
    kind,
    startMs: event.at_ms,
    endMs: null,
    attempt: isOfAttempt ? (story.attempts.at(-1)?.number ?? null) : null,
    on,
  });
}

function closePeriods(story: TaskStory, atMs: number, isMeant: (period: Period) => boolean): void {
  for (let at = story.periods.length - 1; at >= 0; at -= 1) {
    const period = story.periods[at] as Period;
    if (period.endMs === null && isMeant(period)) period.endMs = atMs;
  }
}
