// Reads a record of the numbered feed. A record of an older version may lack any key.

export interface FeedEvent {
  readonly seq: number;
  readonly type: string;
  /** Unix milliseconds. */
  readonly at_ms: number;
  readonly task_id: string | null;
  readonly epic_id: string | null;
  readonly run_id: string | null;
  readonly data: Readonly<Record<string, unknown>>;
}

export function textIn(event: FeedEvent, key: string): string | null {
  const value = event.data[key];
  return typeof value === 'string' ? value : null;
}

export function numberIn(event: FeedEvent, key: string): number | null {
  const value = event.data[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function textsIn(event: FeedEvent, key: string): readonly string[] {
  const value = event.data[key];
  return Array.isArray(value)
    ? value.filter((item): item is string => typeof item === 'string')
    : [];
}

/** `by ada (My phone)`: the user who caused the event. Returns null if the engine did. */
export function actorWords(data: FeedEvent['data']): string | null {
  const { person, device } = Object(data['actor']) as { person?: unknown; device?: unknown };
  if (typeof person !== 'string') return null;
  return typeof device === 'string' ? `by ${person} (${device})` : `by ${person}`;
}
