// Secrets, which only VS Code's secret storage keeps: the key that agents sign in with, and the
// database of a project's fleet. Runs and backends get them as variables.

import type * as vscode from 'vscode';

const keyPrefix = 'drover.apiKey.';
/** The name marks the value as secret, so the backend keeps it out of logs and events. */
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

/** The variable with its key, or nothing if no key is stored. */
export async function secretVariables(
  secrets: vscode.SecretStorage,
  variable: string,
): Promise<Readonly<Record<string, string>>> {
  if (!isVariableName(variable)) return {};
  const key = await secrets.get(keyPrefix + variable);
  return key === undefined || key === '' ? {} : { [variable]: key };
}

const fleetPrefix = 'drover.fleetDatabase.';
const fleetVariable = 'DBOS_SYSTEM_DATABASE_URL';

export function isFleetDatabase(url: string): boolean {
  return /^postgres(ql)?:\/\/\S+$/.test(url);
}

/** Each project has its own; an empty one is deleted. */
export async function storeFleetDatabase(
  secrets: vscode.SecretStorage,
  root: string,
  url: string,
): Promise<void> {
  if (url === '') await secrets.delete(fleetPrefix + root);
  else await secrets.store(fleetPrefix + root, url);
}

/** Stored values override the environment. */
export async function fleetVariables(
  secrets: Pick<vscode.SecretStorage, 'get'>,
  root: string,
): Promise<Readonly<Record<string, string>>> {
  const url = await secrets.get(fleetPrefix + root);
  return url === undefined || url === '' ? {} : { [fleetVariable]: url };
}
