// Kills the running command's process group if the runtime itself is killed (kill -9, out of
// memory): a small shell waits at the other end of a pipe, which the system closes with the
// runtime.

import { spawn, type ChildProcess } from 'node:child_process';

/**
 * A line names the running group, or none. The end of input means that the runtime has exited. Not
 * every shell's `kill` accepts `--`.
 */
const script = 'g=; while read -r line; do g=$line; done; [ -z "$g" ] || kill -KILL "-$g"';

export class Leash {
  readonly #watcher: ChildProcess;

  constructor() {
    // A separate session, so that a signal to the runtime's group does not end the watcher.
    this.#watcher = spawn('/bin/sh', ['-c', script], {
      cwd: '/',
      env: {},
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    // If the watcher fails, a killed runtime leaves its command running, like the standard runtime.
    this.#watcher.on('error', () => undefined);
    this.#watcher.stdin?.on('error', () => undefined);
    this.#watcher.unref();
  }

  hold(groupId: number): void {
    this.#watcher.stdin?.write(`${String(groupId)}\n`);
  }

  release(): void {
    this.#watcher.stdin?.write('\n');
  }

  close(): void {
    this.#watcher.stdin?.end('\n');
  }
}
