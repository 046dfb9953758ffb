// server install, uninstall, status: runs the backend as a user service, which outlives a logout.

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import type { ProgramStart, UserService } from '../../platform/port.ts';
import { runToEnd } from '../../platform/run-to-end.ts';
import { thisPlatform } from '../../platform/this-platform.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';

const managerMs = 30_000;
const outputBytesMax = 64 * 1024;

export async function serverInstall(context: CommandContext): Promise<number> {
  const service = serviceOf(context, await context.root());
  mkdirSync(dirname(service.file), { recursive: true });
  writeFileSync(service.file, service.text, { mode: 0o600 });
  const failure = await runAll(context, service.enable);
  const lingers = service.linger === null || existsSync(service.linger.isOnFile);
  const lines = [
    `Wrote ${service.file}.`,
    failure === null
      ? "This project's backend now starts when you log in, and restarts when it exits."
      : `The service could not be started: ${failure}. Start it yourself: ${commandLines(service.enable)}`,
    ...(lingers || service.linger === null
      ? []
      : [
          `It stops when your last session ends. To keep it running, run: ${service.linger.command}`,
        ]),
  ];
  const { name, file } = service;
  context.answer({ service: name, file, started: failure === null, lingers }, lines.join('\n'));
  return failure === null ? exitCodes.done : exitCodes.failed;
}

export async function serverUninstall(context: CommandContext): Promise<number> {
  const service = serviceOf(context, await context.root());
  const { name, file } = service;
  const wasInstalled = existsSync(file);
  if (wasInstalled) {
    await runAll(context, service.disable);
    rmSync(file, { force: true });
  }
  context.answer(
    { service: name, file, removed: wasInstalled },
    wasInstalled ? `Removed ${file}.` : 'No service of this project is installed.',
  );
  return exitCodes.done;
}

export async function serverStatus(context: CommandContext): Promise<number> {
  const service = serviceOf(context, await context.root());
  const { name, file, linger } = service;
  const installed = existsSync(file);
  const running = installed && (await runAll(context, [service.isRunning])) === null;
  const client = await context.existingClient();
  const lingers = linger === null || existsSync(linger.isOnFile);
  const lines = [
    client === null ? 'No backend is running.' : 'A backend is running.',
    installed
      ? `The service ${name} is installed (${file}) and ${running ? 'runs' : 'does not run'}.`
      : 'No service of this project is installed. "drover server install" installs one.',
    ...(!installed || lingers || linger === null
      ? []
      : [`It stops when your last session ends. To keep it running, run: ${linger.command}`]),
  ];
  context.answer(
    { backend: client !== null, service: name, file, installed, running, lingers },
    lines.join('\n'),
  );
  return exitCodes.done;
}

function serviceOf({ surroundings }: CommandContext, root: string): UserService {
  const { env } = surroundings;
  const [, program = ''] = process.argv;
  const path = env['PATH'] ?? '';
  if (/[\n\r]/u.test(`${root}${program}${path}`)) {
    throw new Refusal('bad_value', 'The paths of a service must not contain line breaks.');
  }
  const service = thisPlatform.userService({
    id: createHash('sha256').update(root).digest('hex').slice(0, 12),
    root,
    start: {
      program: process.execPath,
      args: ['--no-warnings', program, '-C', root, 'server', '--service'],
    },
    path,
    env,
    home: env['HOME'] ?? homedir(),
  });
  if (service === null) {
    throw new Refusal(
      'not_found',
      'This system does not support user services. Start "drover server --service" with the Task Scheduler instead.',
    );
  }
  return service;
}

/** Returns null if all succeeded, otherwise the reason for the first failure. */
async function runAll(
  { surroundings }: CommandContext,
  starts: readonly ProgramStart[],
): Promise<string | null> {
  for (const { program, args } of starts) {
    const { code, problem, stderr } = await runToEnd({
      program,
      args,
      env: surroundings.env,
      input: null,
      timeoutMs: managerMs,
      signal: null,
      maxOutputBytes: outputBytesMax,
    });
    if (code === 0) continue;
    const words = stderr.toString('utf8').trim().split('\n').at(-1) ?? '';
    if (problem === 'missing') return `${program} is not installed`;
    return words === '' ? `${program} ended with ${code ?? 'a signal'}` : words;
  }
  return null;
}

function commandLines(starts: readonly ProgramStart[]): string {
  return starts.map(({ program, args }) => [program, ...args].join(' ')).join(' && ');
}
