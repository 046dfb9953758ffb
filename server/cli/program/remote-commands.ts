// The commands for workers of remote attempts.

import { InvalidArgumentError, type Command } from 'commander';
import { calls, define, type ProgramHost } from './options.ts';

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
  test
    .option(
      '--accept-host-key <fingerprint>',
      'Accept the key of the ssh host that has this fingerprint',
      fingerprint,
    )
    .action(calls(host, test, async () => (await load()).remoteTest));
  const list = define(remote, 'list', 'List the workers of this clone', ['remote list --json']);
  list.action(calls(host, list, async () => (await load()).remoteList));
  const preview = define(
    remote,
    'preview',
    'Show what an attempt would upload and what stays here',
    ['remote preview'],
  );
  preview.action(calls(host, preview, async () => (await load()).remotePreview));
  const destroy = define(remote, 'destroy <name>', 'Destroy a leftover worker', [
    'remote destroy drv-0f3a9c21-1',
  ]);
  destroy
    .option('-f, --force', 'Destroy it even while a task runs on it')
    .action(calls(host, destroy, async () => (await load()).remoteDestroy));
}

function fingerprint(text: string): string {
  if (/^SHA256:[A-Za-z0-9+/]{43}$/u.test(text)) return text;
  throw new InvalidArgumentError('It must be a fingerprint, as "SHA256:…" with 43 characters.');
}
