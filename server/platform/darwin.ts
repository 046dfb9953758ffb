// macOS, and other systems with `ps` and without `/proc`.

import { spawnSync } from 'node:child_process';
import type { Platform, ProcessFacts } from './port.ts';
import { launchdService } from './launch-files.ts';
import { posix } from './posix.ts';

/** Environment of every `ps`, so that month names and times have one format. */
export const psEnvironment = { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } as const;

const appleScript = [
  'on run argv',
  'display notification (item 2 of argv) with title (item 1 of argv) sound name "default"',
  'end run',
];

export const darwin: Platform = {
  ...posix,
  name: 'darwin',
  hasProcFiles: false,
  hasBubblewrap: false,
  copyTreeOptions: ['-cpR'],
  bootName: () => '',
  processFacts: (pid) => {
    const { stdout } = spawnSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      env: psEnvironment,
      timeout: 2_000,
    });
    return parsePsFacts(stdout ?? '');
  },
  policyPath: '/etc/drover/policy.toml',
  awakeStart: { program: '/usr/bin/caffeinate', args: ['-i', '/bin/cat'] },
  openLink: (url) => ({
    program: '/usr/bin/osascript',
    args: ['-'],
    input: `open location ${JSON.stringify(url)}\n`,
  }),
  connectionUser: () => null,
  userService: (request) => launchdService(request, process.getuid?.() ?? 0),
  notification: (title, text) => ({
    program: '/usr/bin/osascript',
    args: [...appleScript.flatMap((line) => ['-e', line]), title, text],
  }),
};

/** Parses the columns `stat` and `lstart`: `Ss   Sat Nov 28 21:38:35 2026`. */
export function parsePsFacts(line: string): ProcessFacts | null {
  const [state = '', ...start] = line.trim().split(/\s+/);
  const seconds = Date.parse(`${start.join(' ')} UTC`) / 1000;
  if (state === '' || !Number.isFinite(seconds)) return null;
  return { startTime: String(seconds), isZombie: state.startsWith('Z') };
}
