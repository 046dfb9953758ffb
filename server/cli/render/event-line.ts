// One event of the feed as one plain line.

import type { EventView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { clockText } from './figures.ts';

/** The most important value first; the rest of an event's data is for programs. */
const tellingKeys = [
  'message',
  'reason',
  'error',
  'title',
  'text',
  'note',
  'phase',
  'agent',
  'branch',
  'sha',
  'files',
  'tasks',
] as const;

const detailLengthMax = 160;

export function eventLine(event: EventView): string {
  const subject = event.task_id ?? event.epic_id ?? event.run_id ?? '';
  const ended = event.type === 'run.finished' ? endCounts(event.data) : '';
  const detail = [detailOf(event.data), ended].filter((part) => part !== '').join(' · ');
  const head = `${clockText(event.at_ms)}  ${plainLine(event.type).padEnd(18)}`;
  return `${head} ${plainLine(subject)}${detail === '' ? '' : `  ${detail}`}`.trimEnd();
}

function detailOf(data: EventView['data']): string {
  const parts: string[] = [];
  const attempt = data['attempt'];
  if (typeof attempt === 'number') parts.push(`attempt ${attempt}`);
  for (const key of tellingKeys) {
    const text = textOf(data[key]);
    if (text === '') continue;
    parts.push(key === 'sha' ? text.slice(0, 10) : text);
  }
  const detail = parts.join(' · ');
  return detail.length > detailLengthMax ? `${detail.slice(0, detailLengthMax - 1)}…` : detail;
}

/** How a run has ended; what there is none of is left out. */
function endCounts(data: EventView['data']): string {
  const parts = ['completed', 'failed', 'left', 'cancelled'].flatMap((key) => {
    const count = data[key];
    return typeof count === 'number' && count > 0 ? [`${count} ${key}`] : [];
  });
  return parts.join(', ');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return plainLine(value);
  if (Array.isArray(value))
    return value
      .map(textOf)
      .filter((item) => item !== '')
      .join(', ');
  return '';
}
