// The target of a command: the row it was called on, the ids it was given, or the selection. Pure.

import type { EpicView } from '../../server/protocol/views.ts';
import type { LogPlace } from '../../webview/messages/messages.ts';

export interface Target {
  readonly ids: readonly string[];
  readonly attempt: number | null;
  /** True if the command was called on an item, not from the palette or by a key. */
  readonly isExplicit: boolean;
}

export const noTarget: Target = { ids: [], attempt: null, isExplicit: false };

/**
 * VS Code passes the context of the row that was clicked (`data-vscode-context`); Drover's own
 * buttons pass an id or an object. A row that is part of the selection represents the whole
 * selection.
 */
export function readTarget(args: readonly unknown[], selection: readonly string[]): Target {
  const [first] = args;
  const ids = idsOf(first);
  const attempt = attemptOf(first);
  if (ids.length === 0) return { ids: selection, attempt: null, isExplicit: false };
  const [only] = ids;
  const isSelected = ids.length === 1 && only !== undefined && selection.includes(only);
  return { ids: isSelected ? selection : ids, attempt, isExplicit: true };
}

function idsOf(argument: unknown): readonly string[] {
  if (typeof argument === 'string') return [argument];
  if (typeof argument !== 'object' || argument === null) return [];
  const { taskId, epicId, id, task, epic, ids } = argument as Readonly<Record<string, unknown>>;
  if (Array.isArray(ids)) return ids.filter((each) => typeof each === 'string');
  const found = [taskId, epicId, id, task, epic].find((each) => typeof each === 'string');
  return typeof found === 'string' ? [found] : [];
}

function attemptOf(argument: unknown): number | null {
  if (typeof argument !== 'object' || argument === null || !('attempt' in argument)) return null;
  const { attempt } = argument;
  return typeof attempt === 'number' && Number.isInteger(attempt) ? attempt : null;
}

/** The first of the named epics that has landed as a whole. */
export function landedEpic(epics: readonly EpicView[], ids: readonly string[]): EpicView | null {
  return (
    epics.find(({ id, landing_state: state }) => ids.includes(id) && state === 'landed') ?? null
  );
}

/** The places for a new task: adding one to a landed epic reopens the epic. */
export function taskPlaces(epics: readonly EpicView[]): {
  readonly open: readonly EpicView[];
  readonly landed: readonly EpicView[];
} {
  const places = epics.filter(({ status }) => status === 'open');
  return {
    open: places.filter(({ landing_state: state }) => state !== 'landed'),
    landed: places.filter(({ landing_state: state }) => state === 'landed'),
  };
}

/** The position in an attempt's log, or null if the call names none. */
export function parseLogPlace(args: readonly unknown[]): LogPlace | null {
  const place = fieldsOf(fieldsOf(args[0])['place']);
  const { offset, words } = place;
  const isPlace = typeof offset === 'number' && Number.isSafeInteger(offset) && offset >= 0;
  return isPlace && typeof words === 'string' ? { offset, words } : null;
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
