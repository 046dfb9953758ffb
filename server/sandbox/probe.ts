// Whether bubblewrap exists and confines programs, tested with the same arguments that programs
// get.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runToEnd } from '../platform/run-to-end.ts';
import { bwrapArguments, withCallFilter, writeCallFilter } from './walls.ts';
import { thisPlatform } from '../platform/this-platform.ts';

export type Proof =
  | { readonly holds: true; readonly version: string }
  | { readonly holds: false; readonly reason: string };

const timeoutMs = 5_000;

/**
 * Inside, a file beside the worktree cannot be read, nothing outside can be written, and no other
 * process of the machine is visible. The worktree itself can be written.
 */
const trial = `
test ! -e "$1/secret" || { echo 'a file outside can be read'; exit 1; }
(echo x > /usr/drover-probe) 2>/dev/null && { echo 'system folders can be written'; exit 1; }
(echo x > /proc/sys/kernel/core_pattern) 2>/dev/null && { echo 'the kernel can be set'; exit 1; }
test -e "/proc/$2/status" && ! grep -q '^NSpid:.*[[:space:]]' /proc/self/status && { echo 'other processes are seen'; exit 1; }
grep -q '^CapEff:[[:space:]]*0*$' /proc/self/status || { echo 'capabilities are kept'; exit 1; }
echo ok > inside || { echo 'the worktree cannot be written'; exit 1; }
echo drover-proved
`;

export async function proveBwrap(program: string | null): Promise<Proof> {
  if (!thisPlatform.hasBubblewrap) return no('bubblewrap exists on Linux only');
  if (program === null) {
    return no(
      'bubblewrap (bwrap) is not installed; install it, for example: sudo apt-get install bubblewrap',
    );
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-probe-')));
  try {
    writeFileSync(join(folder, 'secret'), 'secret\n');
    const cwd = join(folder, 'slot');
    const { mkdirSync } = await import('node:fs');
    mkdirSync(cwd);
    const filter = writeCallFilter(folder);
    const walls = bwrapArguments({
      cwd,
      mounts: [{ from: cwd, to: cwd, mode: 'write' }],
      network: 'open',
      variables: {},
      filter,
    });
    const inside = ['/bin/sh', '-c', trial, 'probe', folder, String(process.pid)];
    const said = await run(withCallFilter(filter, [program, ...walls, ...inside]));
    if (!said.text.includes('drover-proved')) {
      return no(`bubblewrap does not work here: ${firstLine(said.text) || 'it gave no reason'}`);
    }
    const version = await run([program, '--version']);
    return { holds: true, version: firstLine(version.text) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function no(reason: string): Proof {
  return { holds: false, reason };
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

export async function run([program = '', ...args]: readonly string[]): Promise<{
  readonly text: string;
}> {
  const env = { PATH: '/usr/bin:/bin' };
  const limits = { timeoutMs, signal: null, maxOutputBytes: 1024 * 1024 };
  const end = await runToEnd({ program, args, env, input: null, ...limits });
  const late = end.problem === 'timeout' ? `it did not end within ${timeoutMs / 1000} s` : '';
  return { text: `${end.stdout.toString('utf8')}${end.stderr.toString('utf8')}` || late };
}
