// Runs the project's setup in a slot, unless the slot is already in the setup state for its tree,
// and records it.

import { MadeOnce } from '../../core/made-once.ts';
import { failure, type Failure } from '../../core/failure.ts';
import { failureEvidence } from '../../core/prompt/failure-lines.ts';
import { commandEnd } from './command-ends.ts';
import { orFullDisk } from './full-disk.ts';
import { gitFailed } from './git-trouble.ts';
import type { Reads } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';

/** The ports that a setup uses. */
export type SettingUp = Uses<
  'commands' | 'files' | 'git' | 'mask' | 'places' | 'settings' | 'store'
>;

export interface SetupJob {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logPath: string;
  readonly runId: string;
  /** If true, the folder keeps only files of the tree and of the setup. Used for gate folders. */
  readonly only: boolean;
  /** Build folders to keep anyway. */
  readonly keep?: readonly string[];
  /** True if the folder contains a commit of the line, without any work of an agent. */
  readonly isBase: boolean;
  /** Called just before the command runs. */
  readonly onRun?: () => Promise<void>;
}

export type SetupEnd =
  | { readonly kind: 'ready' }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'failed'; readonly failure: Failure };

export async function setUp(
  engine: SettingUp,
  job: SetupJob,
  signal: AbortSignal,
): Promise<SetupEnd> {
  const settings = engine.settings();
  const { setupCommand: command, copyIgnored } = settings;
  const request = {
    path: job.path,
    command,
    inputs: settings.setupInputs,
    leave: [...copyIgnored, ...(job.keep ?? [])],
    only: job.only,
    ...(command === null ? {} : { seal: job.isBase ? ('base' as const) : ('use' as const) }),
  };
  let look = command !== null || job.only ? await engine.git.lookAtSetup(request) : null;
  if (look !== null && look.ok && command !== null && !look.value.stands) {
    // Another setup is creating the same state. After waiting, it may be available to copy.
    if (await waitForLeader(engine, look.value.fingerprint, signal))
      look = await engine.git.lookAtSetup(request);
  }
  if (look !== null && !look.ok) return { kind: 'failed', failure: gitFailed(look.error) };
  if (copyIgnored.length > 0) {
    await engine.files.copyIgnored(engine.places.root, job.path, copyIgnored);
  }
  if (look === null || command === null || look.value.stands) return { kind: 'ready' };
  const seen = look.value;
  return lead(engine, job.isBase ? seen.fingerprint : null, async () => {
    await job.onRun?.();
    const ended = await runCommand(engine, job, command, signal);
    if (ended.kind !== 'ready') return ended;
    const kept = await engine.git.keepSetup(request, seen);
    return kept.ok ? ended : { kind: 'failed', failure: gitFailed(kept.error) };
  });
}

/** Running setups whose state may be sealed, by fingerprint. */
const leaders = new MadeOnce<Reads, Map<string, Promise<unknown>>>();

/** Returns false if no process is creating this state now. */
async function waitForLeader(
  engine: Uses<'store'>,
  fingerprint: string,
  signal: AbortSignal,
): Promise<boolean> {
  const leader = leaders.of(engine.store.db, () => new Map()).get(fingerprint);
  if (leader === undefined) return false;
  let stop = (): void => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
    signal.addEventListener('abort', stop, { once: true });
  });
  await Promise.race([leader, stopped]);
  signal.removeEventListener('abort', stop);
  return true;
}

async function lead(
  engine: Uses<'store'>,
  fingerprint: string | null,
  body: () => Promise<SetupEnd>,
): Promise<SetupEnd> {
  const underWay = leaders.of(engine.store.db, () => new Map());
  if (fingerprint === null || underWay.has(fingerprint)) return body();
  const done = body();
  // Each waiter checks the result itself.
  const over = done.catch(() => undefined);
  underWay.set(fingerprint, over);
  try {
    return await done;
  } finally {
    underWay.delete(fingerprint);
  }
}

async function runCommand(
  engine: Uses<'commands' | 'files' | 'mask' | 'places' | 'settings'>,
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
  const tail = failureEvidence(telling, engine.mask(outcome.tail));
  const limit = { name: '[setup] timeout', ms: timeoutMs };
  const isLate = outcome.kind === 'timed_out';
  const { exitCode, silentMs = 0 } = outcome;
  const how = commandEnd({ isLate, silentMs, exitCode, telling, limit });
  const where = job.only ? "in the gate's worktree " : '';
  const message = `the setup command ${engine.mask(command)} ${where}${how}; its log is ${logPath}`;
  const failed = failure('setup_failed', message, tail);
  return { kind: 'failed', failure: await orFullDisk(engine, failed) };
}
