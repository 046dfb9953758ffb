// Reads VS Code's settings for a folder.

import * as vscode from 'vscode';
import { settingNames, settingValue, type ExtensionSettings } from './settings-table.ts';

export const settingsSection = 'drover';

export function readSettings(scope: vscode.Uri | null): ExtensionSettings {
  const section = vscode.workspace.getConfiguration(settingsSection, scope);
  const read = settingNames.map((name) => [name, settingValue(name, section.get(name))] as const);
  return Object.fromEntries(read) as unknown as ExtensionSettings;
}

/**
 * Writes the user's own setting, which VS Code allows for every scope. A workspace's settings file
 * can set only some of them.
 */
export async function writeUserSetting<K extends keyof ExtensionSettings>(
  name: K,
  value: ExtensionSettings[K],
): Promise<void> {
  const section = vscode.workspace.getConfiguration(settingsSection);
  await section.update(name, value, vscode.ConfigurationTarget.Global);
}

/**
 * As in VS Code's own lists, determines whether a single click opens a preview that the next click
 * replaces.
 */
export function opensBySingleClick(): boolean {
  const section = vscode.workspace.getConfiguration('workbench');
  return (
    section.get('list.openMode') !== 'doubleClick' && section.get('editor.enablePreview') !== false
  );
}

export function wantsLessMotion(): boolean {
  const section = vscode.workspace.getConfiguration('workbench');
  return section.get('reduceMotion') === 'on';
}
