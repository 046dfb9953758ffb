// The facts in a stream's header about an attempt: its steps with durations, elapsed time, tokens,
// cost. Pure: the current time is a parameter.

import {
  stepNames,
  type AttemptView,
  type StepName,
} from '../../../server/protocol/panel-views.ts';
import type { Usage } from '../../../server/protocol/agent-events.ts';
import type { TaskView } from '../../../server/protocol/views.ts';

export interface StepFacts {
  readonly name: StepName;
  readonly state: 'waiting' | 'skipped' | 'running' | 'done' | 'failed' | 'stopped';
  readonly durationMs: number | null;
}

/** All six steps in order; the durations of a repeated step (a second gate) are added up. */
export function stepFacts(attempt: AttemptView | null, nowMs: number): StepFacts[] {
  const lastBegun = stepNames.findLastIndex((name) =>
    attempt?.steps.some((step) => step.name === name),
  );
  return stepNames.map((name, index) => {
    const times = attempt?.steps.filter((step) => step.name === name) ?? [];
    const last = times.at(-1);
    if (last === undefined) {
      return { name, state: index < lastBegun ? 'skipped' : 'waiting', durationMs: null };
    }
    // A step does not outlive its attempt, whichever process died during it.
    const endMs = attempt?.ended_at_ms ?? nowMs;
    const durationMs = times.reduce(
      (sum, step) => sum + Math.max(0, (step.ended_at_ms ?? endMs) - step.started_at_ms),
      0,
    );
    const isOver = attempt !== null && attempt.ended_at_ms !== null;
    const state =
      isOver && last.outcome === 'running'
        ? attempt.state === 'paused'
          ? 'stopped'
          : 'failed'
        : last.outcome;
    return { name, state, durationMs };
  });
}

export function elapsedMs(attempt: AttemptView | null, nowMs: number): number | null {
  if (attempt === null) return null;
  return Math.max(0, (attempt.ended_at_ms ?? nowMs) - attempt.started_at_ms);
}

/** The attempt's usage: the agent's own report if it is newer than the stored sum. */
export function usageFacts(
  attempt: AttemptView | null,
  heard: Usage | null,
): { readonly tokens: number; readonly costUsd: number } {
  const stored = (attempt?.input_tokens ?? 0) + (attempt?.output_tokens ?? 0);
  const said = heard === null ? 0 : heard.inputTokens + heard.cacheReadTokens + heard.outputTokens;
  return {
    tokens: Math.max(stored, said),
    costUsd: Math.max(attempt?.cost ?? 0, heard?.costUsd ?? 0),
  };
}

export function isRunning(task: TaskView | null): boolean {
  return task !== null && (task.phase !== null || task.status === 'in_progress');
}

function two(number: number): string {
  return String(number).padStart(2, '0');
}

export function tokensText(tokens: number): string {
  if (tokens < 1000) return `${tokens} tokens`;
  if (tokens < 1_000_000) return `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}k tokens`;
  return `${(tokens / 1_000_000).toFixed(1)}M tokens`;
}

export function clockText(atMs: number): string {
  const date = new Date(atMs);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
