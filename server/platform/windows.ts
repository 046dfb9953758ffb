// Windows: no process groups, no shell of POSIX, sockets are named pipes.

import { spawnSync } from 'node:child_process';
import type { Platform } from './port.ts';

export const windows: Platform = {
  name: 'win32',
  hasProcessGroups: false,
  hasShell: false,
  hasProcFiles: false,
  hasBubblewrap: false,
  hasFileModes: false,
  hasCheapStartTimes: false,
  essentialVariables: [
    'Path',
    'PATHEXT',
    'SystemRoot',
    'SystemDrive',
    'ComSpec',
    'USERPROFILE',
    'APPDATA',
    'LOCALAPPDATA',
    'TEMP',
    'TMP',
  ],
  copyTreeOptions: ['-a'],
  programEndings: (env) => (env['PATHEXT'] ?? '.EXE;.CMD').split(';').filter((one) => one !== ''),
  shellStart: (command) => ({ program: 'cmd.exe', args: ['/d', '/s', '/c', command] }),
  socketPath: ({ user, name }) => `\\\\.\\pipe\\drover-${user}-${name}`,
  agentSocketPath: () => null,
  bootName: () => '',
  processFacts: (pid) => {
    const script = `(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`;
    const { status, stdout } = spawnSync('powershell.exe', ['-NoProfile', '-Command', script], {
      encoding: 'utf8',
      windowsHide: true,
    });
    const startTime = stdout?.trim() ?? '';
    return status === 0 && startTime !== '' ? { startTime, isZombie: false } : null;
  },
  notification: () => null,
};
