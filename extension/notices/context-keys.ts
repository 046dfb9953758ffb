// Sets the context keys of the manifest's conditions; an unchanged value is not set again.

import * as vscode from 'vscode';
import type { ContextKey } from '../ids.ts';

const told = new Map<ContextKey, unknown>();

export function setContext(key: ContextKey, value: string | number | boolean): void {
  void contextSet(key, value);
}

export function contextValue(key: ContextKey): unknown {
  return told.get(key);
}

/** Resolves once the value is in effect. */
export async function contextSet(key: ContextKey, value: string | number | boolean): Promise<void> {
  if (told.get(key) === value) return;
  told.set(key, value);
  await vscode.commands.executeCommand('setContext', key, value);
}
