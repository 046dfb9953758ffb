// Linux: `/proc` contains everything about processes.

import { readFileSync, readlinkSync } from 'node:fs';
import { userInfo } from 'node:os';
import { withoutMarkup } from '../core/format.ts';
import type { Platform } from './port.ts';
import { posix } from './posix.ts';
import { systemdService } from './launch-files.ts';
import { readStat } from './proc-stat.ts';

let knownBootName: string | null = null;

export const linux: Platform = {
  ...posix,
  name: 'linux',
  hasProcFiles: true,
  hasBubblewrap: true,
  copyTreeOptions: ['-a', '--reflink=auto'],
  bootName: () => (knownBootName ??= readBootName()),
  processFacts: readStat,
  policyPath: '/etc/drover/policy.toml',
  awakeStart: {
    program: 'systemd-inhibit',
    args: [
      '--what=sleep:idle',
      '--who=Drover',
      '--why=Agents are running',
      '--no-ask-password',
      'cat',
    ],
  },
  openLink: (url) => ({ program: 'xdg-open', args: [url], input: '' }),
  connectionUser: (from, to) => {
    try {
      return connectionUser(from, to);
    } catch {
      return null;
    }
  },
  userService: (request) => systemdService(request, userInfo().username),
  notification: (title, text) => {
    const options = ['--app-name=Drover', '--hint=string:sound-name:message-new-instant', '--'];
    // Many desktops interpret the text as markup.
    return { program: 'notify-send', args: [...options, title, withoutMarkup(text)] };
  },
};

/** In these files, addresses are hexadecimal, and column 7 is the user. */
function connectionUser(from: number, to: number): number | null {
  const hex = (port: number): string => port.toString(16).toUpperCase().padStart(4, '0');
  const [ownEnd, otherEnd] = [`:${hex(from)}`, `:${hex(to)}`];
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    const lines = readFileSync(file, 'utf8').split('\n').slice(1);
    for (const line of lines) {
      const [, local = '', remote = '', , , , , user] = line.trim().split(/\s+/u);
      if (local.endsWith(ownEnd) && remote.endsWith(otherEnd)) return Number(user);
    }
  }
  return null;
}

function readBootName(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
    return `${boot}-${namespace}`;
  } catch {
    return 'unknown';
  }
}
