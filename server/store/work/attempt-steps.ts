// Derives the steps of an attempt, with their times, from feed events. Pure.

import type { StepName, StepView } from '../../protocol/panel-views.ts';

export interface StepEvent {
  readonly type: string;
  readonly atMs: number;
  /** True for the attempt's task, false for one of its sub-tasks. */
  readonly isOwn: boolean;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Events that mark displayed steps. The feed contains more. */
export const stepEventTypes = [
  'task.claimed',
  'task.resumed',
  'task.started',
  'task.phase',
  'worktree.ready',
  'agent.ended',
  'task.committed',
  'task.needs_review',
  'task.approved',
  'task.completed',
  'task.retry',
  'task.failed',
  'task.conflict',
  'task.returned',
  'task.waiting',
  'task.paused',
  'task.cancelled',
  'task.blocked',
  'task.sent_back',
  'task.reset',
] as const;

interface OpenStep {
  readonly name: StepName;
  readonly startedAtMs: number;
}

/**
 * The steps of one attempt. `isGated`: it has a gate. `gatePassedMs`: when that was green, if
 * known.
 */
export class AttemptSteps {
  readonly #steps: StepView[] = [];
  readonly #isGated: boolean;
  #open: OpenStep | null = null;

  constructor(isGated: boolean) {
    this.#isGated = isGated;
  }

  /** `endedAtMs`: when the attempt ended, even if the feed does not contain that event. */
  list(endedAtMs: number | null): readonly StepView[] {
    if (this.#open !== null && endedAtMs !== null) this.#end(endedAtMs, 'failed');
    if (this.#open === null) return this.#steps;
    const { name, startedAtMs } = this.#open;
    const running = { name, started_at_ms: startedAtMs, ended_at_ms: null, outcome: 'running' };
    return [...this.#steps, running as StepView];
  }

  take(event: StepEvent, gatePassedMs: number | null): void {
    const { type, atMs, data, isOwn } = event;
    switch (type) {
      case 'task.claimed':
      case 'task.resumed':
        if (isOwn && data['attempt'] !== undefined) this.#begin('worktree', atMs, 'failed');
        return;
      case 'task.phase':
        if (data['phase'] === 'setup') this.#begin('setup', atMs);
        // A sub-task's work is committed, and the agent continues with the next one.
        if (data['phase'] === 'committed') this.#begin('agent', atMs);
        return;
      case 'worktree.ready':
        return this.#begin('agent', atMs);
      case 'agent.ended':
        if (data['outcome'] === 'done') return this.#begin('commit', atMs);
        return this.#end(atMs, data['outcome'] === 'stopped' ? 'stopped' : 'failed');
      case 'task.paused':
      case 'task.cancelled':
        if (isOwn) this.#end(atMs, 'stopped');
        return;
      case 'task.started':
        // An interrupted attempt whose work was already committed only has to land.
        if (isOwn && data['committed'] !== undefined) this.#submitted(atMs);
        return;
      case 'task.committed':
      case 'task.approved':
        return this.#submitted(atMs);
      case 'task.needs_review':
        return this.#end(atMs, this.#open?.name === 'commit' ? 'done' : 'failed');
      case 'task.completed':
        if (isOwn) this.#completed(atMs, gatePassedMs);
        return;
      default:
        if (isOwn) this.#ended(atMs, data['kind'] === 'conflict');
    }
  }

  #submitted(atMs: number): void {
    this.#begin(this.#isGated ? 'gate' : 'land', atMs);
  }

  #completed(atMs: number, gatePassedMs: number | null): void {
    if (this.#open?.name === 'gate') {
      const passedMs = gatePassedMs ?? atMs;
      this.#begin('land', Math.max(this.#open.startedAtMs, Math.min(passedMs, atMs)));
    }
    this.#end(atMs, 'done');
  }

  /**
   * A conflict is detected during the merge, which counts as the landing even if a gate was to
   * follow.
   */
  #ended(atMs: number, isConflict: boolean): void {
    if (isConflict && this.#open?.name === 'gate') this.#open = { ...this.#open, name: 'land' };
    this.#end(atMs, 'failed');
  }

  #begin(name: StepName, atMs: number, before: 'done' | 'failed' = 'done'): void {
    this.#end(atMs, before);
    this.#open = { name, startedAtMs: atMs };
  }

  #end(atMs: number, outcome: 'done' | 'failed' | 'stopped'): void {
    if (this.#open === null) return;
    const { name, startedAtMs } = this.#open;
    this.#open = null;
    this.#steps.push({ name, started_at_ms: startedAtMs, ended_at_ms: atMs, outcome });
  }
}
