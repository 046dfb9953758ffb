// Collects the environment section of a prompt: setup, gate, limits, and what other running tasks
// have changed so far.

import { attemptWorkRef } from '../../core/work/ref-names.ts';
import type { OtherTask, Surroundings } from '../../core/prompt/surroundings-prompt.ts';
import {
  type AttemptRow,
  type Claim,
  existingTask,
  flagsOfRun,
  othersInProgress,
} from '../../store/port.ts';
import { pathsChanged } from '../kit/compared-commits.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { chooseGateCommand } from './submission.ts';

/** Maximum number of other running tasks to include. */
const othersMax = 20;
/** Maximum number of files per task. */
const filesMax = 200;

/** Returns null for a planning attempt, whose work is not built and not tested. */
export async function describeSurroundings(
  engine: Uses<'git' | 'mask' | 'settings' | 'store'>,
  claim: Claim,
  attempt: AttemptRow,
  hasTools: boolean,
): Promise<Surroundings | null> {
  if (claim.planning === true) return null;
  const settings = engine.settings();
  const [gate, others] = await Promise.all([
    gateFor(engine, claim),
    changesOfOthers(engine, claim.taskId),
  ]);
  const setup = settings.setupCommand === null ? null : engine.mask(settings.setupCommand);
  return {
    branch: claim.branch,
    base: attempt.base_sha,
    // A worker runs the setup of its copy itself.
    ...(attempt.runs_on === 'remote' ? {} : { setup }),
    gate: gate === null ? null : engine.mask(gate),
    timeLimitMs: settings.taskTimeoutMs,
    budgetUsd: settings.budget.task.usd,
    hasTools,
    others,
  };
}

async function gateFor(engine: Uses<'settings' | 'store'>, claim: Claim): Promise<string | null> {
  const { db } = engine.store;
  const [run, task] = await Promise.all([
    flagsOfRun(db, claim.runId),
    existingTask(db, claim.taskId),
  ]);
  return chooseGateCommand(engine, run, task);
}

async function changesOfOthers(
  engine: Uses<'git' | 'store'>,
  taskId: string,
): Promise<readonly OtherTask[]> {
  const rows = await othersInProgress(engine.store.db, taskId, othersMax);
  const found: OtherTask[] = [];
  for (const row of rows) {
    // The committed work or the last snapshot. A task that has just started has neither.
    const commit = row.commit_sha ?? (await engine.git.readRef(attemptWorkRef(row.id, row.number)));
    if (commit === null || row.base_sha === null) continue;
    const files = (await pathsChanged(engine, row.base_sha, commit)) ?? [];
    found.push({ id: row.id, title: row.title, files: files.slice(0, filesMax) });
  }
  return found;
}
