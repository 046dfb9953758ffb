// One process per conversation, because Claude Code itself has no lock and the last written branch
// would win.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { replaceFile } from '../../../files/write-whole.ts';
import type { AgentProcess } from '../../port.ts';
import { processStartTime } from '../process/process-list.ts';
import { isAlive } from '../process/process-table.ts';

export interface SessionLock {
  /** Makes the agent itself the holder, because it may outlive this process. */
  handTo(agent: AgentProcess): void;
  release(): void;
}

/** Returns the lock, or the live process that has it. A dead holder does not count. */
export function lockSession(path: string): SessionLock | AgentProcess {
  mkdirSync(dirname(path), { recursive: true });
  const us: AgentProcess = {
    pid: process.pid,
    startTime: processStartTime(process.pid) ?? '',
  };
  for (;;) {
    try {
      writeFileSync(path, JSON.stringify(us), { flag: 'wx', mode: 0o600 });
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = readHolder(path);
    if (holder !== null && isAlive(holder)) return holder;
    rmSync(path, { force: true });
  }
  return {
    handTo: (agent) => {
      replaceFile(path, JSON.stringify(agent));
    },
    release: () => rmSync(path, { force: true }),
  };
}

function readHolder(path: string): AgentProcess | null {
  try {
    const { pid, startTime } = JSON.parse(readFileSync(path, 'utf8')) as Partial<AgentProcess>;
    return pid === undefined || startTime === undefined ? null : { pid, startTime };
  } catch {
    return null;
  }
}
