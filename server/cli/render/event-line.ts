// Formats one event of the feed as one plain line.

import { actorWords } from '../../core/history/feed-event.ts';
import type { EventView } from '../../protocol/api.ts';
import { plainLine } from '../plain-text.ts';
import { clockText } from './figures.ts';

/** The most important value comes first. The rest of an event's data is for programs. */
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
const actorLengthMax = 80;
/** Long, because the text may end with a command for the reader. */
const changeLengthMax = 1_000;

export function eventLine(event: EventView): string {
  const subject = event.task_id ?? event.epic_id ?? event.run_id ?? textOf(event.data['machine']);
  const ended = event.type === 'run.finished' ? endCounts(event.data) : '';
  const added = event.type === 'agent.added' ? addedText(event.data) : null;
  const by = shortened(plainLine(actorWords(event.data) ?? ''), actorLengthMax);
  const detail = [added ?? detailOf(event), ended, by].filter((part) => part !== '').join(' · ');
  const head = `${clockText(event.at_ms)}  ${plainLine(event.type).padEnd(18)}`;
  return `${head} ${plainLine(subject)}${detail === '' ? '' : `  ${detail}`}`.trimEnd();
}

/** `follow-up task-x: Title`: a task that an agent added, with the id for commands. */
export function addedText(data: EventView['data']): string {
  const kind = data['kind'] === 'follow_up' ? 'follow-up' : 'sub-task';
  return shortened(`${kind} ${textOf(data['task'])}: ${textOf(data['title'])}`);
}

function detailOf({ type, data }: EventView): string {
  const lengthMax = type === 'repository.changed' ? changeLengthMax : detailLengthMax;
  const parts: string[] = [];
  const attempt = data['attempt'];
  if (typeof attempt === 'number') parts.push(`attempt ${attempt}`);
  for (const key of tellingKeys) {
    const text = textOf(data[key]);
    if (text === '') continue;
    parts.push(key === 'sha' ? text.slice(0, 10) : text);
  }
  const from = textOf(data['from_machine']);
  if (from !== '') parts.push(`from ${from}`);
  return shortened(parts.join(' · '), lengthMax);
}

function shortened(detail: string, lengthMax = detailLengthMax): string {
  return detail.length > lengthMax ? `${detail.slice(0, lengthMax - 1)}…` : detail;
}

/** How a run ended, without counts that are zero. */
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
