// The key that agents sign in with, kept by VS Code's secret storage and nowhere else; runs are given it as a variable.

import type * as vscode from 'vscode';

const keyPrefix = 'drover.apiKey.';
/** Its name says that it is secret: by that the backend keeps its value out of logs and events. */
const variablePattern = /^(?=.*(KEY|TOKEN|SECRET|PASSWORD))[A-Z][A-Z0-9_]{1,63}$/;

export function isVariableName(text: string): boolean {
  return variablePattern.test(text);
}

export async function storeKey(
  secrets: vscode.SecretStorage,
  variable: string,
  key: string,
): Promise<void> {
  await secrets.store(keyPrefix + variable, key);
}

export async function removeKey(secrets: vscode.SecretStorage, variable: string): Promise<void> {
  await secrets.delete(keyPrefix + variable);
}

/** The variable with its key, or nothing when none was stored. */
export async function secretVariables(
  secrets: vscode.SecretStorage,
  variable: string,
): Promise<Readonly<Record<string, string>>> {
  if (!isVariableName(variable)) return {};
  const key = await secrets.get(keyPrefix + variable);
  return key === undefined || key === '' ? {} : { [variable]: key };
}
