// Tries a gate once in a prepared folder: runs its command, or all of its stages side by side. The
// first stage that fails stops the others.

import { failureEvidence } from '../../core/prompt/failure-lines.ts';
import { decodeStages, type GateStage, stagesMax } from '../../core/settings/gate-stages.ts';
import type { Sha } from '../../git/sha.ts';
import { commandVerdict } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { gateRunId } from '../kit/run-ids.ts';

export interface TriedJob {
  readonly commit: Sha;
  readonly tree: Sha;
  readonly command: string;
  readonly path: string;
  /** Number of the folder. */
  readonly number: number;
}

export interface GateTry {
  readonly kind: 'exited' | 'timed_out' | 'aborted';
  readonly ok: boolean;
  /** The gate. If a gate with stages is red, the command of the first stage that failed. */
  readonly command: string;
  /** The name of that stage. Null for a green gate and for one without stages. */
  readonly stage: string | null;
  readonly exitCode: number | null;
  readonly durationMs: number;
  readonly silentMs: number;
  /**
   * The end of the output, preceded by lines that explain the failure and that the end does not
   * contain.
   */
  readonly tail: string;
  readonly telling: readonly string[];
  /** The file with the whole output. */
  readonly logPath: string;
  /** Tracked files that the command changed although it passed. */
  readonly changed: readonly string[];
  /** The stages that ended on their own. */
  readonly stages: readonly GateTry[];
}

type Trying = Uses<'commandEnvironment' | 'commands' | 'mask' | 'places' | 'settings' | 'store'>;

/** Returns the part names by which the stages of a try can be found again. */
export function stageParts(number: number): readonly string[] {
  return Array.from({ length: stagesMax }, (_, at) => `${number}.${at + 1}`);
}

export async function tryGate(
  engine: Trying,
  job: TriedJob,
  number: number,
  signal: AbortSignal,
): Promise<GateTry> {
  const stages = decodeStages(job.command);
  if (stages !== null) return tryStages(engine, job, { stages, number }, signal);
  const names = { stage: null, part: String(number), log: String(number) };
  return runCommand(engine, job, names, signal);
}

async function tryStages(
  engine: Trying,
  job: TriedJob,
  { stages, number }: { readonly stages: readonly GateStage[]; readonly number: number },
  signal: AbortSignal,
): Promise<GateTry> {
  const left: GateStage[] = [];
  for (const stage of stages) {
    const known = await commandVerdict(engine.store.db, job.tree, stage.command);
    if (known?.ok !== 1) left.push(stage);
  }
  const parts = stageParts(number);
  const others = new AbortController();
  const either = AbortSignal.any([signal, others.signal]);
  const ended: GateTry[] = [];
  const runs = left.map(async (stage, at) => {
    const names = { stage: stage.name, part: parts[at] ?? '', log: `${number}.${stage.name}` };
    try {
      const own = { ...job, command: stage.command };
      const tried = await runCommand(engine, own, names, either);
      if (tried.kind !== 'aborted') ended.push(tried);
      if (!tried.ok) others.abort();
    } catch (error) {
      others.abort();
      throw error;
    }
  });
  for (const run of await Promise.allSettled(runs)) if (run.status === 'rejected') throw run.reason;
  const durationMs = Math.max(0, ...ended.map((one) => one.durationMs));
  const red = ended.find(({ ok }) => !ok);
  if (red !== undefined) return { ...red, durationMs, stages: ended };
  const isDone = ended.length === left.length;
  return {
    kind: isDone ? 'exited' : 'aborted',
    ok: isDone,
    command: job.command,
    stage: null,
    exitCode: isDone ? 0 : null,
    durationMs,
    silentMs: 0,
    tail: '',
    telling: [],
    logPath: ended[0]?.logPath ?? '',
    changed: [],
    stages: ended,
  };
}

async function runCommand(
  engine: Trying,
  job: TriedJob,
  names: { readonly stage: string | null; readonly part: string; readonly log: string },
  signal: AbortSignal,
): Promise<GateTry> {
  const settings = engine.settings();
  const logPath = `${engine.places.logs}/gate/${job.tree}.${names.log}.log`;
  const outcome = await engine.commands.run(
    {
      command: job.command,
      cwd: job.path,
      env: gateEnvironment(engine, job, 'gate'),
      timeoutMs: settings.gateTimeoutMs,
      logPath,
      runId: gateRunId(engine, job.commit, names.part),
    },
    signal,
  );
  const late = `\n(ended by Drover after ${settings.gateTimeoutMs / 1000} s)`;
  const tail = outcome.kind === 'timed_out' ? `${outcome.tail}${late}` : outcome.tail;
  const telling = outcome.telling.map(engine.mask);
  return {
    kind: outcome.kind === 'not_started' ? 'exited' : outcome.kind,
    ok: outcome.kind === 'exited' && outcome.exitCode === 0,
    command: job.command,
    stage: names.stage,
    exitCode: outcome.exitCode,
    durationMs: outcome.durationMs,
    silentMs: outcome.silentMs ?? 0,
    tail: failureEvidence(telling, engine.mask(tail)),
    telling,
    logPath,
    changed: [],
    stages: [],
  };
}

/** Ports of gate worktrees are above those of task slots. */
const gatePortBase = 28_000;

export function gateEnvironment(
  engine: Uses<'commandEnvironment' | 'settings'>,
  job: Pick<TriedJob, 'number'>,
  command: 'gate' | 'setup',
): Record<string, string> {
  return {
    ...engine.commandEnvironment(command),
    DROVER_GATE: '1',
    DROVER_PORT_BASE: String(gatePortBase + job.number * engine.settings().portsPerTask),
  };
}
