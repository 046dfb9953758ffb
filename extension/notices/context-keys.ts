// Sets the context keys of the manifest's conditions; an unchanged value is not set again.

import * as vscode from 'vscode';
import type { ContextKey } from '../ids.ts';

const told = new Map<ContextKey, unknown>();

export function setContext(key: ContextKey, value: string | number | boolean): void {
  if (told.get(key) === value) return;
  told.set(key, value);
  void vscode.commands.executeCommand('setContext', key, value);
}
