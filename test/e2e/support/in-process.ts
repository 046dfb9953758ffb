// Runs a command that is not the subject of its test with the command's own code in the test's
// process: over the socket of the project's backend, or with the project's database, which is
// closed before the next command. Starting Node used half of the CPU time of many tests.

import * as connect from '../../../server/main/connect.ts';
import { openDataProject } from '../../../server/main/data-project.ts';
import { dataOnlyHandlers, storeFeed } from '../../../server/main/data-handlers.ts';
import type { Client } from '../../../server/protocol/api.ts';
import { localClient } from '../../../server/rpc/transport/local.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';
import type { FinishedProgram } from './run-program.ts';

/** Commands that set up, inspect or steer a project. None of them waits for a future event. */
const quickCommands: ReadonlySet<string> = new Set(
  `init import add edit epic status show why log diff events snapshots pause unpause cancel approve send-back retry resolve
  answer hint reset resume-task`.split(/\s+/),
);

export function isQuick(args: readonly string[]): boolean {
  return (
    quickCommands.has(args[0] ?? '') && !args.some((arg) => /^(-f|--follow|--watch)$/.test(arg))
  );
}

/** Two connections of one process would wait for each other's transaction forever. */
let untilClosed: Promise<unknown> = Promise.resolve();

/**
 * Returns null if it needs a process, because it would start a backend or use a fleet's database.
 */
export async function runInProcess(
  root: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[],
): Promise<FinishedProgram | null> {
  const local = new LocalClients();
  let needsProcess = false;
  const terminal = memoryTerminal({
    ...connect,
    openClient: async (options) => {
      const running = await connect.openClient({ ...options, need: 'existing' });
      if (running !== null) return running;
      needsProcess = options.need !== 'data' || env['DBOS_SYSTEM_DATABASE_URL'] !== undefined;
      return needsProcess ? null : await local.open(options);
    },
    initProject: (folder, given) => local.turn(() => connect.initProject(folder, given)),
  });
  for (const name of Object.keys(terminal.env)) delete terminal.env[name];
  Object.assign(terminal.env, env);
  terminal.nowMs = Date.now();
  try {
    const code = await terminal.run('-C', root, ...args);
    if (needsProcess) return null;
    return { args, code, stdout: terminal.stdout.text, stderr: terminal.stderr.text };
  } finally {
    await local.closed();
  }
}

class LocalClients {
  #end: (() => void) | null = null;
  readonly #closing: Promise<void>[] = [];

  async open({ root, env, settingsFlags }: connect.OpenClientOptions): Promise<Client> {
    await this.#begin();
    const project = await openDataProject(root, env, settingsFlags);
    return localClient(dataOnlyHandlers(project), storeFeed(project.store), () => {
      this.#closing.push(project.close());
    });
  }

  async turn<T>(work: () => Promise<T>): Promise<T> {
    await this.#begin();
    return await work();
  }

  async closed(): Promise<void> {
    await Promise.all(this.#closing);
    this.#end?.();
  }

  async #begin(): Promise<void> {
    if (this.#end !== null) return;
    const before = untilClosed;
    const { promise, resolve } = Promise.withResolvers<void>();
    untilClosed = promise;
    this.#end = resolve;
    await before;
  }
}
