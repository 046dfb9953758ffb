// How long tasks waited, and why. Pure.

import { waitKinds } from './report.ts';
import type { StoryTeller } from './stories.ts';
import type { TaskStory } from './task-story.ts';
import { clippedMs, type Window } from './windows.ts';

/** Seconds that tasks waited while a run was active, by cause. */
export function sumWaits(
  stories: Pick<StoryTeller, 'tasks'>,
  windows: readonly Window[],
): Readonly<Record<string, number>> {
  const waits: Record<string, number> = {};
  for (const task of stories.tasks.values()) {
    if (!isTop(task)) continue;
    for (const period of task.periods) {
      if (!waitKinds.has(period.kind)) continue;
      waits[period.kind] = (waits[period.kind] ?? 0) + clippedMs(period, windows) / 1_000;
    }
  }
  return waits;
}

/** A sub-task is part of its parent's attempt. */
export function isTop(task: TaskStory): boolean {
  return task.parentId === null;
}
