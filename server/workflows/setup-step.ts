// The project's setup in a slot: run where the slot does not stand in the setup state of its tree, and noted there.

import { failure, type Failure } from '../core/failure.ts';
import { evidenceOf } from '../core/telling-lines.ts';
import { commandEnd } from './command-ends.ts';
import { gitFailed } from './git-trouble.ts';
import type { Engine } from './parts.ts';

export interface SetupJob {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logPath: string;
  readonly runId: string;
  /** True: no file but the tree's and the setup's stays in the folder (a gate's). */
  readonly only: boolean;
  /** Called when the command is about to run. */
  readonly onRun?: () => Promise<void>;
}

export type SetupEnd =
  | { readonly kind: 'ready' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly failure: Failure };

export async function setUp(engine: Engine, job: SetupJob, signal: AbortSignal): Promise<SetupEnd> {
  const settings = engine.settings();
  const { setupCommand: command, copyIgnored } = settings;
  const request = {
    path: job.path,
    command,
    inputs: settings.setupInputs,
    leave: copyIgnored,
    only: job.only,
  };
  const look = command !== null || job.only ? await engine.git.lookAtSetup(request) : null;
  if (look !== null && !look.ok) return { kind: 'failed', failure: gitFailed(look.error) };
  if (copyIgnored.length > 0) {
    await engine.files.copyIgnored(engine.places.root, job.path, copyIgnored);
  }
  if (look === null || command === null || look.value.stands) return { kind: 'ready' };
  await job.onRun?.();
  const ended = await runCommand(engine, job, command, signal);
  if (ended.kind !== 'ready') return ended;
  const kept = await engine.git.keepSetup(request, look.value);
  return kept.ok ? ended : { kind: 'failed', failure: gitFailed(kept.error) };
}

async function runCommand(
  engine: Engine,
  job: SetupJob,
  command: string,
  signal: AbortSignal,
): Promise<SetupEnd> {
  const timeoutMs = engine.settings().setupTimeoutMs;
  const { path: cwd, env, logPath, runId } = job;
  const outcome = await engine.commands.run(
    { command, cwd, env, timeoutMs, logPath, runId },
    signal,
  );
  if (outcome.kind === 'exited' && outcome.exitCode === 0) return { kind: 'ready' };
  if (outcome.kind === 'aborted') return { kind: 'aborted' };
  const telling = outcome.telling.map(engine.mask);
  const tail = evidenceOf(telling, engine.mask(outcome.tail));
  const limit = { name: '[setup] timeout', ms: timeoutMs };
  const isLate = outcome.kind === 'timed_out';
  const how = commandEnd({ isLate, exitCode: outcome.exitCode, telling, limit });
  const where = job.only ? "in the gate's worktree " : '';
  const message = `the setup command ${engine.mask(command)} ${where}${how}; its log is ${logPath}`;
  return { kind: 'failed', failure: failure('setup_failed', message, tail) };
}
