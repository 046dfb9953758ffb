// The settings of telemetry: where traces go. Part of the one table of settings.

const reader = 'main (telemetry)';

export const telemetrySettingTable = {
  'otel.enabled': {
    value: { type: 'boolean' },
    fallback: false,
    env: 'DROVER_OTEL_ENABLED',
    inFile: false,
    doc: 'Send traces and counters of runs.',
    readBy: reader,
  },
  'otel.endpoint': {
    value: { type: 'text' },
    fallback: 'localhost:4317',
    env: 'DROVER_OTEL_ENDPOINT',
    inFile: false,
    doc: 'Where they go.',
    readBy: reader,
  },
} as const;

export type TelemetrySettingKey = keyof typeof telemetrySettingTable;

export interface TelemetrySettings {
  readonly enabled: boolean;
  readonly endpoint: string;
}

export function telemetrySettingsOf(get: <T>(key: TelemetrySettingKey) => T): TelemetrySettings {
  return { enabled: get('otel.enabled'), endpoint: get('otel.endpoint') };
}
