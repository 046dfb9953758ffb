// The key that identifies an ssh host. ssh refuses an unknown key. The user compares the
// fingerprint and accepts it, and Drover stores it in a separate file, which ssh reads in addition
// to the user's files and never writes. A changed key is never accepted.

import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from '../../core/failure.ts';
import { writeWhole } from '../../files/write-whole.ts';
import { toSingleLine } from '../client/request.ts';
import type { HostKey } from './port.ts';
import type { ProgramEnd } from './run-program.ts';

/**
 * Before the user's own options, because the first value of an option counts. Whatever the user's
 * configuration accepts automatically, these connections accept and store no keys.
 */
export const strictArgs: readonly string[] = [
  '-o',
  'StrictHostKeyChecking=yes',
  '-o',
  'UpdateHostKeys=no',
];

/** The lists that ssh reads for all users, if it does not report them. */
const systemLists = '/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2';

/** Runs ssh with these arguments before the user's own ones, and the command after them. */
export type RunSsh = (args: readonly string[], command: readonly string[]) => Promise<ProgramEnd>;

/** Options that make ssh also read Drover's file. Empty if no key was accepted yet. */
export async function ownKeyArgs(file: string, run: RunSsh): Promise<readonly string[]> {
  if (readText(file) === '') return [];
  const configured = await run(['-G'], []);
  const found = /^globalknownhostsfile (.+)$/m.exec(configured.stdout)?.[1];
  return ['-o', `GlobalKnownHostsFile=${argument(file)} ${found ?? systemLists}`];
}

/** Recognizes ssh's message about a refused key. */
export function isKeyRefusal({ code, stderr }: ProgramEnd): boolean {
  return code !== 0 && /Host key verification failed/.test(stderr);
}

/** Offers none of the user's credentials to an unknown host, and runs nothing there. */
const withoutLogin: readonly string[] = [
  '-o',
  'PreferredAuthentications=none',
  '-o',
  'ControlPath=none',
  '-o',
  'LogLevel=INFO',
];

interface ShownKey extends HostKey {
  /** A line for a known-hosts file. */
  readonly line: string;
}

/** Returns null if the host presents a known key or does not respond. */
export async function refusedKey(
  host: string,
  ownArgs: readonly string[],
  run: RunSsh,
): Promise<Result<ShownKey | null, string>> {
  const strict = await run([...strictArgs, ...ownArgs, ...withoutLogin], ['true']);
  if (!isKeyRefusal(strict)) return ok(null);
  const line = await shownLine(run);
  const [, type, key] = line.split(' ');
  if (type === undefined || key === undefined) {
    const way = 'ssh refuses the key of a host on the way to it. Connect once by hand.';
    return err(`${host} cannot be reached: ${way} ssh says: ${toSingleLine(strict.stderr)}`);
  }
  const changed = /host key for .* has changed/i.test(strict.stderr);
  const place = /^Offending .* key in (.+):(\d+)\s*$/m.exec(strict.stderr);
  return ok({
    host,
    kind: kindOf(type),
    fingerprint: fingerprintOf(key),
    isChanged: changed,
    knownAt: place === null ? null : `${place[1]}, line ${place[2]}`,
    line,
  });
}

/** The key that the host presents, written by ssh itself to a temporary file. */
async function shownLine(run: RunSsh): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-host-key-'));
  const file = join(folder, 'shown');
  // In this option, ssh expands sequences that start with a percent sign.
  const unexpanded = file.replaceAll('%', '%%');
  const lists = [`UserKnownHostsFile=${argument(unexpanded)}`, 'GlobalKnownHostsFile=/dev/null'];
  const plain = ['StrictHostKeyChecking=accept-new', 'HashKnownHosts=no', 'CheckHostIP=no'];
  const options = [...plain, ...lists, 'UpdateHostKeys=no'].flatMap((option) => ['-o', option]);
  try {
    await run([...options, ...withoutLogin], ['true']);
    return readText(file).split('\n')[0] ?? '';
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export function keepKey(file: string, { line }: ShownKey): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const before = readText(file);
  const end = before === '' || before.endsWith('\n') ? '' : '\n';
  writeWhole(file, `${before}${end}${line}\n`);
}

/** For people. */
export function keySentence({ host, kind, fingerprint, isChanged, knownAt }: HostKey): string {
  if (isChanged) {
    const old = knownAt === null ? '' : ` The known one is in ${knownAt}.`;
    return `The key of host ${host} has changed: it shows ${kind} ${fingerprint}.${old} Another machine may answer in its place, so a changed key cannot be accepted here. If you know why it changed, remove the known one there.`;
  }
  const there = `ssh-keygen -l -f /etc/ssh/ssh_host_${kind.toLowerCase()}_key.pub`;
  return `The key of host ${host} is not known: it shows ${kind} ${fingerprint}. Compare that with what "${there}" prints on the host.`;
}

/** The key's kind by its name in ssh. */
function kindOf(type: string): string {
  const plain = type.replace(/^sk-/, '').replace(/@openssh\.com$/, '');
  if (plain.startsWith('ecdsa-')) return 'ECDSA';
  return plain.replace(/^ssh-/, '').toUpperCase();
}

function fingerprintOf(key: string): string {
  const hash = createHash('sha256').update(Buffer.from(key, 'base64')).digest('base64');
  return `SHA256:${hash.replace(/=+$/, '')}`;
}

/** One word of an option's list. */
function argument(path: string): string {
  return `"${path.replace(/[\\"]/g, '\\$&')}"`;
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
