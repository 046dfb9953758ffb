// `drover status` for people.

import type { StatusSnapshot } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { countsLine } from './summary.ts';

export interface StatusTextOptions {
  readonly width: number;
  readonly color: boolean;
  readonly nowMs: number;
  readonly tree: boolean;
}

export function statusText(snapshot: StatusSnapshot, _options: StatusTextOptions): string {
  const tasks = snapshot.tasks.map(
    (task) => `${task.id}  ${task.status}  ${plainLine(task.title)}`,
  );
  return [countsLine(snapshot.counts), ...tasks].join('\n');
}
