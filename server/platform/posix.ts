// The common part of Linux and macOS.

import { dirname, join } from 'node:path';
import type { Platform, SocketPlace } from './port.ts';

/** A socket path is limited to about 104 bytes, so a deep temporary folder is not used. */
const socketBytesMax = 100;

export const posix = {
  hasProcessGroups: true,
  hasShell: true,
  hasFileModes: true,
  hasCheapStartTimes: true,
  essentialVariables: [],
  programEndings: () => [''],
  shellStart: (command) => ({ program: '/bin/sh', args: ['-c', command] }),
  socketPath,
  agentSocketPath: (place) => join(dirname(socketPath(place)), `a-${place.name}`, 's'),
} satisfies Partial<Platform>;

function socketPath({ name, userNumber, temporaryFolder, env }: SocketPlace): string {
  const runtime = env['XDG_RUNTIME_DIR'];
  const base =
    runtime !== undefined && runtime !== ''
      ? join(runtime, 'drover')
      : join(temporaryFolder, `drover-${userNumber}`);
  const path = join(base, `${name}.sock`);
  return Buffer.byteLength(path) <= socketBytesMax
    ? path
    : join('/tmp', `drover-${userNumber}`, `${name}.sock`);
}
