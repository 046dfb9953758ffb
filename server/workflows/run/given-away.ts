// Handles a machine that returns to its fleet after its tasks were reassigned. Kills agents that it
// left running, and keeps their files as snapshots that their tasks list.

import { branchRef } from '../../core/work/ref-names.ts';
import { attemptKey } from '../attempt/execute-task.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { agentRunId } from '../kit/run-ids.ts';
import { keepWork, nameKeptRefs } from '../attempt/kept-work.ts';
import { interruptedElsewhere, forgetProcess, type LeftAttempt } from '../../store/port.ts';

/** Attempts of this machine that ended elsewhere while their process was recorded here. */
export async function endReassignedTasks(
  engine: Uses<
    'files' | 'git' | 'machineId' | 'places' | 'processes' | 'report' | 'store' | 'switchboard'
  >,
): Promise<void> {
  for (const { task_id: taskId, number } of await interruptedElsewhere(
    engine.store.db,
    engine.machineId,
  )) {
    const key = attemptKey(taskId, number);
    // If the attempt continues here, it has already adopted the process, and its new agent has the
    // same mark.
    await engine.switchboard.turns.runIfFree(key, async () => {
      const [attempt] = await interruptedElsewhere(engine.store.db, engine.machineId, {
        taskId,
        number,
      });
      if (attempt !== undefined) await endLeft(engine, attempt);
    });
  }
}

async function endLeft(
  engine: Uses<'files' | 'git' | 'places' | 'processes' | 'report' | 'store'>,
  attempt: LeftAttempt,
): Promise<void> {
  if (attempt.pid === null || attempt.pid_start === null) return;
  const process = { pid: attempt.pid, startTime: attempt.pid_start };
  const runId = agentRunId(engine, attempt.task_id, attempt.number, attempt.pid_part);
  // Killed without being resumed, because another machine has its task.
  await engine.processes.endTree(runId, process, 0);
  await keep(engine, attempt);
  await engine.store.transaction((tx) => forgetProcess(tx, attempt, process));
}

/**
 * Keeps uncommitted work while the worktree still belongs to the attempt, and commits that no other
 * machine has.
 */
async function keep(
  engine: Uses<'files' | 'git' | 'report' | 'store'>,
  attempt: LeftAttempt,
): Promise<void> {
  const { worktree_path: path, base_sha: base, branch, task_id: taskId, number } = attempt;
  if (path !== null && (await engine.files.exists(path))) {
    const status = await engine.git.status(path);
    if (status.ok && status.value.branch === branch) {
      const left = { taskId, attempt: number };
      await keepWork(engine, left, { path, base }, { reason: 'death', author: 'agent' });
    }
  }
  const tip = await engine.git.readRef(branchRef(branch));
  if (tip === null || tip === base) return;
  const kept = await engine.git.keepCommit(tip, `${taskId}/${number}`);
  if (!kept.ok) return engine.report(kept.error, `keeping the commits of ${taskId}`);
  const note = { reason: 'kept', author: 'agent' } as const;
  await engine.store.transaction((tx) =>
    nameKeptRefs(tx, engine.store, [kept.value], taskId, note),
  );
}
