// The table of docs/settings.md, from the settings themselves.

import {
  settingKeys,
  settingTable,
  type SettingDefinition,
  type SettingKey,
} from '../../server/core/settings/settings.ts';
import { tableMarks } from './agents-table.ts';

function settingsTable(): string {
  const header = ['in `.drover.toml`', 'environment', 'option', 'without it', 'what it is'];
  const rows = settingKeys.map((key: SettingKey) => {
    const { env, flag, fallback, inFile, doc }: SettingDefinition = settingTable[key];
    const code = (text: string | undefined): string => (text === undefined ? '' : `\`${text}\``);
    const without = fallback === null ? '' : code(JSON.stringify(fallback));
    const name = key === 'agent.kind' ? 'agent' : key;
    return [code(inFile ? name : undefined), code(env), code(flag), without, doc];
  });
  const lines = [header, header.map(() => '---'), ...rows];
  return lines.map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}

/** The text with its table generated again. */
export function withSettings(text: string): string {
  const [begin, end] = tableMarks;
  const from = text.indexOf(begin);
  const to = text.indexOf(end);
  if (from === -1 || to < from) throw new Error(`no place for the table: ${begin} … ${end}`);
  return `${text.slice(0, from + begin.length)}\n\n${settingsTable()}\n\n${text.slice(to)}`;
}
