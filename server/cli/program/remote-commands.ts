// The commands of remote attempts' workers.

import type { Command } from 'commander';
import { define, type ProgramHost } from './options.ts';

const load = async () => await import('../commands/remote.ts');

export function defineRemoteCommands(program: Command, host: ProgramHost): void {
  const remote = define(
    program,
    'remote',
    'Test, list, preview and destroy workers of remote attempts',
    ['remote test', 'remote list'],
  );
  remote.helpCommand(false);
  const test = define(remote, 'test', 'Create a worker, wait until it answers, then destroy it', [
    'remote test',
  ]);
  test.action(async () => {
    await host.run(test, async (context) => (await load()).remoteTest(context));
  });
  const list = define(remote, 'list', 'List the workers of this clone', ['remote list --json']);
  list.action(async () => {
    await host.run(list, async (context) => (await load()).remoteList(context));
  });
  const preview = define(
    remote,
    'preview',
    'Show what an attempt would upload and what stays here',
    ['remote preview'],
  );
  preview.action(async () => {
    await host.run(preview, async (context) => (await load()).remotePreview(context));
  });
  const destroy = define(remote, 'destroy <name>', 'Destroy a leftover worker', [
    'remote destroy drv-0f3a9c21-1',
  ]);
  destroy
    .option('-f, --force', 'Destroy it even while a task runs on it')
    .action(async (name: string, options: { force?: boolean }) => {
      await host.run(destroy, async (context) =>
        (await load()).remoteDestroy(context, name, options),
      );
    });
}
