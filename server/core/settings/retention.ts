// Settings for retention: how long history is kept. Rows of the settings table.

const reader = 'main (retention)';

const ageKind = { type: 'age' } as const;

export const retentionSettingTable = {
  'retention.events': {
    value: ageKind,
    fallback: '90d',
    inFile: true,
    doc: 'How long to keep events of closed epics and of finished tasks without an epic (`forever` = keep all). Metrics still count removed events.',
    readBy: reader,
  },
  'retention.past': {
    value: ageKind,
    fallback: '90d',
    inFile: true,
    doc: 'How far back `drover at` can go. Events are kept at least this long.',
    readBy: reader,
  },
  'retention.logs': {
    value: ageKind,
    fallback: '30d',
    inFile: true,
    doc: 'How long to keep agent logs of closed epics and of finished tasks without an epic.',
    readBy: reader,
  },
  'retention.snapshots': {
    value: ageKind,
    fallback: '30d',
    inFile: true,
    doc: 'How long to keep snapshots of closed epics and of finished tasks without an epic.',
    readBy: reader,
  },
  'retention.verdicts': {
    value: ageKind,
    fallback: '30d',
    inFile: true,
    doc: 'How long to keep gate results. A tree without a stored result is tested again.',
    readBy: reader,
  },
  'retention.webhooks': {
    value: ageKind,
    fallback: '30d',
    inFile: true,
    doc: 'How long to list webhook deliveries after they were sent or failed.',
    readBy: reader,
  },
  'retention.notes': {
    value: ageKind,
    fallback: '30d',
    inFile: true,
    doc: 'How long to keep a note that no prompt contains.',
    readBy: reader,
  },
  'retention.steps': {
    value: ageKind,
    fallback: '7d',
    inFile: true,
    doc: 'How long to keep the stored steps of successful workflows.',
    readBy: reader,
  },
} as const;

export type RetentionSettingKey = keyof typeof retentionSettingTable;

/** In milliseconds; Infinity = forever. */
export interface RetentionSettings {
  readonly eventsMs: number;
  readonly pastMs: number;
  readonly logsMs: number;
  readonly snapshotsMs: number;
  readonly verdictsMs: number;
  readonly webhooksMs: number;
  readonly notesMs: number;
  readonly stepsMs: number;
}

export function readRetentionSettings(get: <T>(key: RetentionSettingKey) => T): RetentionSettings {
  return {
    eventsMs: get('retention.events'),
    pastMs: get('retention.past'),
    logsMs: get('retention.logs'),
    snapshotsMs: get('retention.snapshots'),
    verdictsMs: get('retention.verdicts'),
    webhooksMs: get('retention.webhooks'),
    notesMs: get('retention.notes'),
    stepsMs: get('retention.steps'),
  };
}

const hourMs = 3_600_000;
const unitMs: Readonly<Record<string, number>> = {
  h: hourMs,
  d: 24 * hourMs,
  w: 7 * 24 * hourMs,
};

export const ageExpected = 'an age from 1h to 9999d, as "90d", "12w" or "48h", or "forever"';

/** Parses `90d`, `12w`, `48h` or `forever` to milliseconds. Returns null if it is not an age. */
export function parseAge(text: string): number | null {
  if (text === 'forever') return Infinity;
  const match = /^([1-9][0-9]{0,3})([hdw])$/.exec(text);
  return match === null ? null : Number(match[1]) * (unitMs[match[2] ?? ''] ?? 0);
}
