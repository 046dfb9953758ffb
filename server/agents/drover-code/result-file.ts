// The result file of a headless run, which together with the exit code determines how the run
// ended.

import { closeSync, fstatSync, openSync, readFileSync, rmSync } from 'node:fs';
import { replaceFile } from '../../files/write-whole.ts';
import type { Mask } from '../kit/log/masking.ts';

export interface HeadlessResult {
  readonly ok: boolean;
  readonly error: string;
  readonly commitSha: string | null;
  readonly turnsUsed: number | null;
  readonly tokensInput: number | null;
  readonly tokensOutput: number | null;
}

export type ReadResult =
  | { readonly kind: 'result'; readonly result: HeadlessResult }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly reason: string };

const schemaVersion = 1;
const bytesMax = 1024 * 1024;

/**
 * Unknown fields are ignored. Missing fields count as empty, because the program omits empty ones.
 */
export function parseResult(text: string): ReadResult {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { kind: 'unreadable', reason: 'it is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { kind: 'unreadable', reason: 'it is not an object' };
  }
  const fields = value as Readonly<Record<string, unknown>>;
  if (fields['schema_version'] !== schemaVersion) {
    const found = JSON.stringify(fields['schema_version'])?.slice(0, 40) ?? 'missing';
    return { kind: 'unreadable', reason: `its schema_version is ${found}, not ${schemaVersion}` };
  }
  if (typeof fields['ok'] !== 'boolean') {
    return { kind: 'unreadable', reason: 'it does not state whether the run succeeded' };
  }
  const number = (name: string): number | null => {
    const found = fields[name];
    return typeof found === 'number' ? found : null;
  };
  const words = (name: string): string | null => {
    const found = fields[name];
    return typeof found === 'string' ? found : null;
  };
  return {
    kind: 'result',
    result: {
      ok: fields['ok'],
      error: words('error') ?? '',
      commitSha: words('commit_sha'),
      turnsUsed: number('turns_used'),
      tokensInput: number('tokens_input'),
      tokensOutput: number('tokens_output'),
    },
  };
}

/** The file stays for a backend that reads it again after a crash, but its secrets are masked. */
export function takeResult(path: string, mask: Mask): ReadResult {
  let text: string;
  try {
    const file = openSync(path, 'r');
    try {
      if (fstatSync(file).size > bytesMax) return { kind: 'unreadable', reason: 'it is too large' };
      text = readFileSync(file, 'utf8');
    } finally {
      closeSync(file);
    }
  } catch {
    return { kind: 'missing' };
  }
  const masked = mask(text);
  if (masked !== text) {
    replaceFile(path, masked);
  }
  return parseResult(masked);
}

/** An earlier run's result must not be used for the next one. */
export function removeResult(path: string): void {
  rmSync(path, { force: true });
}
