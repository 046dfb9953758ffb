// The gate: the project's own command on the merged tree, in a worktree of its own. A tree is tested once per command.

import { failure, type Failure } from '../core/failure.ts';
import type { Sha } from '../git/port.ts';
import { leaseSlot, releaseSlot, type Tx } from '../store/port.ts';
import { commandEnd } from './command-ends.ts';
import type { Engine } from './parts.ts';

export type GateVerdict =
  | { readonly kind: 'green'; readonly flaky: boolean; readonly cached: boolean }
  | { readonly kind: 'red'; readonly failure: Failure; readonly cached: boolean }
  | { readonly kind: 'aborted' }
  | { readonly kind: 'unusable'; readonly failure: Failure };

/** Runs the command on the commit's tree unless the verdict is known; a red one is tried once more before it counts. */
export async function runGate(
  engine: Engine,
  commit: Sha,
  tree: Sha,
  command: string,
  signal: AbortSignal,
): Promise<GateVerdict> {
  const known = await engine.store.db
    .selectFrom('gate_verdicts')
    .selectAll()
    .where('tree_sha', '=', tree)
    .where('command', '=', command)
    .executeTakeFirst();
  if (known !== undefined) {
    return known.ok === 1
      ? { kind: 'green', flaky: known.flaky === 1, cached: true }
      : {
          kind: 'red',
          cached: true,
          failure: redGate(engine, command, {
            kind: 'exited',
            exitCode: known.exit_code,
            tail: known.output_tail,
          }),
        };
  }
  const holder = gateHolder(commit);
  const slot = await engine.store.transaction((tx) =>
    leaseSlot(tx, engine.store.sources, {
      machine: engine.machineId,
      kind: 'gate',
      taskId: holder,
      attempt: 0,
      pathOf: (_kind, number) => `${engine.places.worktrees}/gate-${number}`,
    }),
  );
  try {
    return await testTree(
      engine,
      { commit, tree, command, path: slot.path, number: slot.number },
      signal,
    );
  } finally {
    await engine.store.transaction((tx) => releaseSlot(tx, 'gate', holder));
  }
}

function gateHolder(commit: Sha): string {
  return `gate:${commit}`;
}

function gateRunId(commit: Sha, part: string | number): string {
  return `gate/${commit}/${part}`;
}

/** Names of all the commands that the holder of a gate slot can have started. */
export function gateRunIds(holder: string): readonly string[] {
  const commit = holder.slice(gateHolder('').length);
  return ['setup', 1, 2].map((part) => gateRunId(commit, part));
}

interface GateJob {
  readonly commit: Sha;
  readonly tree: Sha;
  readonly command: string;
  readonly path: string;
  readonly number: number;
}

async function testTree(engine: Engine, job: GateJob, signal: AbortSignal): Promise<GateVerdict> {
  const settings = engine.settings();
  const prepared = await engine.git.prepareSlot({
    path: job.path,
    branch: null,
    sha: job.commit,
    keepBranch: false,
    dropIgnored: !settings.keepIgnored,
    sparse: null,
  });
  if (!prepared.ok) {
    return {
      kind: 'unusable',
      failure: failure(
        'git_failed',
        `the gate's worktree could not be prepared: ${prepared.error.message}`,
      ),
    };
  }
  if (settings.copyIgnored.length > 0) {
    await engine.files.copyIgnored(engine.places.root, job.path, settings.copyIgnored);
  }
  const setup = await setUpGate(engine, job, signal);
  if (setup !== null) return setup;
  const first = await runOnce(engine, job, 1, signal);
  if (first.kind === 'aborted') return { kind: 'aborted' };
  if (first.ok) return remember(engine, job, first, false);
  if (first.kind === 'timed_out') return remember(engine, job, first, false);
  const second = await runOnce(engine, job, 2, signal);
  if (second.kind === 'aborted') return { kind: 'aborted' };
  return remember(engine, job, second, second.ok);
}

async function setUpGate(
  engine: Engine,
  job: GateJob,
  signal: AbortSignal,
): Promise<GateVerdict | null> {
  const settings = engine.settings();
  if (settings.setupCommand === null) return null;
  const fingerprint = await engine.files.setupFingerprint(
    job.path,
    settings.setupCommand,
    settings.setupInputs,
  );
  const slot = await engine.store.db
    .selectFrom('slots')
    .select('setup_fingerprint')
    .where('machine', '=', engine.machineId)
    .where('path', '=', job.path)
    .executeTakeFirst();
  if (slot?.setup_fingerprint === fingerprint) return null;
  const outcome = await engine.commands.run(
    {
      command: settings.setupCommand,
      cwd: job.path,
      env: gateEnvironment(engine, job),
      timeoutMs: settings.setupTimeoutMs,
      logPath: `${engine.places.logs}/gate/${job.tree}.setup.log`,
      runId: gateRunId(job.commit, 'setup'),
    },
    signal,
  );
  if (outcome.kind === 'aborted') return { kind: 'aborted' };
  if (outcome.kind !== 'exited' || outcome.exitCode !== 0) {
    const message = `the setup command failed in the gate's worktree: ${settings.setupCommand}`;
    return {
      kind: 'unusable',
      failure: failure('setup_failed', message, engine.mask(outcome.tail)),
    };
  }
  await engine.store.db
    .updateTable('slots')
    .set({ setup_fingerprint: fingerprint })
    .where('machine', '=', engine.machineId)
    .where('path', '=', job.path)
    .execute();
  return null;
}

interface GateTry {
  readonly kind: 'exited' | 'timed_out' | 'aborted';
  readonly ok: boolean;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly tail: string;
}

async function runOnce(
  engine: Engine,
  job: GateJob,
  attempt: number,
  signal: AbortSignal,
): Promise<GateTry> {
  const settings = engine.settings();
  const outcome = await engine.commands.run(
    {
      command: job.command,
      cwd: job.path,
      env: gateEnvironment(engine, job),
      timeoutMs: settings.gateTimeoutMs,
      logPath: `${engine.places.logs}/gate/${job.tree}.${attempt}.log`,
      runId: gateRunId(job.commit, attempt),
    },
    signal,
  );
  const tail =
    outcome.kind === 'timed_out'
      ? `${outcome.tail}\n(ended by Drover after ${settings.gateTimeoutMs / 1000} s)`
      : outcome.tail;
  return {
    kind: outcome.kind === 'not_started' ? 'exited' : outcome.kind,
    ok: outcome.kind === 'exited' && outcome.exitCode === 0,
    exitCode: outcome.exitCode,
    durationMs: outcome.durationMs,
    tail: engine.mask(tail),
  };
}

function gateEnvironment(engine: Engine, job: GateJob): Record<string, string> {
  return {
    ...engine.commandEnvironment(),
    DROVER_GATE: '1',
    DROVER_PORT_BASE: String(gatePortBase + job.number * engine.settings().portsPerTask),
  };
}

/** Ports of gate worktrees lie above those of task slots. */
const gatePortBase = 28_000;

async function remember(
  engine: Engine,
  job: GateJob,
  last: GateTry,
  flaky: boolean,
): Promise<GateVerdict> {
  await engine.store.transaction(async (tx) => {
    // A gate that was cut off or never began has said nothing about the tree.
    if (last.kind === 'exited' && last.exitCode !== null)
      await keepVerdict(engine, tx, job, last, flaky);
    await engine.store.append(tx, {
      type: last.ok ? 'gate.passed' : 'gate.failed',
      data: {
        tree: job.tree,
        commit: job.commit,
        command: engine.mask(job.command),
        exit_code: last.exitCode,
        duration_ms: Math.round(last.durationMs),
        flaky,
      },
    });
  });
  if (last.ok) return { kind: 'green', flaky, cached: false };
  return {
    kind: 'red',
    cached: false,
    failure: redGate(engine, engine.mask(job.command), last),
  };
}

async function keepVerdict(
  engine: Engine,
  tx: Tx,
  job: GateJob,
  last: GateTry,
  flaky: boolean,
): Promise<void> {
  await tx
    .insertInto('gate_verdicts')
    .values({
      tree_sha: job.tree,
      command: job.command,
      ok: last.ok ? 1 : 0,
      exit_code: last.exitCode,
      duration_ms: Math.round(last.durationMs),
      output_tail: last.tail,
      flaky: flaky ? 1 : 0,
      at_ms: engine.clock.now(),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** A person who tries again may have mended what a red gate was really about: it is asked again. */
export async function forgetRedVerdicts(tx: Tx): Promise<void> {
  await tx.deleteFrom('gate_verdicts').where('ok', '=', 0).execute();
}

function redGate(
  engine: Engine,
  command: string,
  last: Pick<GateTry, 'kind' | 'exitCode' | 'tail'>,
): Failure {
  const { exitCode, tail } = last;
  const limit = { name: '[gate] timeout', ms: engine.settings().gateTimeoutMs };
  const how = commandEnd({ isLate: last.kind === 'timed_out', exitCode, tail, limit });
  return failure('gate_failed', `the gate is red on the merged tree: ${command} ${how}`, tail);
}
