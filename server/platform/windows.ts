// Windows: no process groups, no POSIX shell, and sockets are named pipes.

import { spawnSync } from 'node:child_process';
import type { Platform } from './port.ts';

/** ES_CONTINUOUS and ES_SYSTEM_REQUIRED apply as long as the thread that set them lives. */
const staysAwake = [
  `$api = Add-Type -PassThru -Name Power -Namespace Drover -MemberDefinition '[DllImport("kernel32.dll")] public static extern uint SetThreadExecutionState(uint flags);'`,
  '[void]$api::SetThreadExecutionState([uint32]"0x80000001")',
  '[void][Console]::In.ReadToEnd()',
].join('; ');

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
  // No variable can change this path, because users can change variables.
  policyPath: 'C:\\ProgramData\\drover\\policy.toml',
  awakeStart: { program: 'powershell.exe', args: ['-NoProfile', '-Command', staysAwake] },
  openLink: (url) => ({
    program: 'powershell.exe',
    args: ['-NoProfile', '-Command', 'Start-Process ([Console]::In.ReadLine())'],
    input: `${url}\n`,
  }),
  connectionUser: () => null,
  userService: () => null,
  notification: () => null,
};
