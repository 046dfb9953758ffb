// Linux: everything about processes is in `/proc`.

import { readFileSync, readlinkSync } from 'node:fs';
import { withoutMarkup } from '../core/format.ts';
import type { Platform } from './port.ts';
import { posix } from './posix.ts';
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
  notification: (title, text) => {
    const options = ['--app-name=Drover', '--hint=string:sound-name:message-new-instant', '--'];
    // Many desktops read the text as markup.
    return { program: 'notify-send', args: [...options, title, withoutMarkup(text)] };
  },
};

function readBootName(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8);
    const namespace = readlinkSync('/proc/self/ns/pid').replaceAll(/\D/g, '');
    return `${boot}-${namespace}`;
  } catch {
    return 'unknown';
  }
}
