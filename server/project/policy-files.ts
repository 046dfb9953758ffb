// Reads this machine's policies: the system's file, which only root can write, and a second one
// named by a variable, which can only add rules.

import { statSync, type Stats } from 'node:fs';
import { userInfo } from 'node:os';
import { Refusal } from '../core/failure.ts';
import {
  type PolicyAct,
  type PolicyFile,
  readPolicy,
  whyNotAllowed,
} from '../core/settings/policy.ts';
import { thisPlatform } from '../platform/this-platform.ts';
import { readPlainFile } from '../config/plain-file.ts';
import { whyRefused } from '../config/read-settings-file.ts';

const bytesMax = 64 * 1024;

/**
 * Read again for each decision, so that a change takes effect at once. Missing files are skipped.
 */
export async function readPolicies(
  second: string | undefined = process.env['DROVER_POLICY'],
  system: string = thisPlatform.policyPath,
): Promise<readonly PolicyFile[]> {
  const read = [readPolicyFile(system, true)];
  if (second !== undefined && second !== '') read.push(readPolicyFile(second, false));
  const found = await Promise.all(read);
  const files = found.filter((each) => each !== null);
  if (found.length > 1 && found[1] === null)
    files.push(unusable(second ?? '', 'is named by DROVER_POLICY and does not exist'));
  return files;
}

async function readPolicyFile(file: string, isSystem: boolean): Promise<PolicyFile | null> {
  const content = await readPlainFile(file, { bytesMax, links: isSystem ? 'refuse' : 'follow' });
  if (content.kind === 'missing') return null;
  if (content.kind === 'refused') return unusable(file, whyRefused(content.reason));
  if (isSystem && isOpen(statSync(file)))
    return unusable(file, 'can be changed by others than root; give it to root with mode 644');
  const { getStaticTOMLValue, parseTOML } = await import('toml-eslint-parser');
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(content.bytes);
    value = getStaticTOMLValue(parseTOML(text, { tomlVersion: '1.0' }));
  } catch (error) {
    return unusable(file, `is no TOML (${(error as Error).message})`);
  }
  const policy = readPolicy(file, value);
  return policy.ok ? { kind: 'policy', policy: policy.value } : unusable(file, policy.error);
}

function unusable(file: string, reason: string): PolicyFile {
  return { kind: 'unusable', file, reason };
}

/** On a system without file modes, the folder belongs to the administrator. */
function isOpen({ uid, mode }: Stats): boolean {
  return thisPlatform.hasFileModes && (uid !== 0 || (mode & 0o022) !== 0);
}

/** A container may run as a user without a name. */
export function personName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? '');
  }
}

/** Refuses a decision by this process's user that a policy reserves for others. */
export async function refuseByPolicy(act: PolicyAct): Promise<void> {
  const reason = whyNotAllowed(await readPolicies(), act, personName());
  if (reason !== null) throw new Refusal('policy', reason);
}
