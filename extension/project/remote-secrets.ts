// Keys of provisioners (the key of a cloud account, or the token of a worker that a person runs):
// kept in VS Code's secret storage for each project, and passed to runs as variables.

import type * as vscode from 'vscode';
import { isVariableName } from './secrets.ts';

const prefix = 'drover.remoteKeys.';

/** Stored values override the environment. */
export async function remoteVariables(
  secrets: Pick<vscode.SecretStorage, 'get'>,
  root: string,
): Promise<Readonly<Record<string, string>>> {
  const stored = await secrets.get(prefix + root);
  if (stored === undefined) return {};
  const parsed: unknown = JSON.parse(stored);
  const entries = Object.entries((parsed ?? {}) as Readonly<Record<string, unknown>>);
  const good = entries.filter(
    (entry): entry is [string, string] => isVariableName(entry[0]) && typeof entry[1] === 'string',
  );
  return Object.fromEntries(good);
}

/** An empty key is deleted. */
export async function storeRemoteKey(
  secrets: vscode.SecretStorage,
  root: string,
  { variable, key }: { readonly variable: string; readonly key: string },
): Promise<void> {
  const { [variable]: _before, ...others } = await remoteVariables(secrets, root);
  const now = key === '' ? others : { ...others, [variable]: key };
  if (Object.keys(now).length === 0) await secrets.delete(prefix + root);
  else await secrets.store(prefix + root, JSON.stringify(now));
}
