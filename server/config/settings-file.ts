// The content of a settings file.

import type { SettingEntry, SettingNote } from '../core/settings/settings-resolve.ts';

export interface SettingsFile {
  readonly entries: readonly SettingEntry[];
  readonly problems: readonly SettingNote[];
}

export function refused(name: string, line: number | null, message: string): SettingsFile {
  return { entries: [], problems: [{ origin: name, line, key: null, message }] };
}
