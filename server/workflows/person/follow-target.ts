// Brings the landed work to a target branch and its checkout at a person's request: fixes reported
// problems, then moves the branch at once.

import { Refusal } from '../../core/failure.ts';
import { branchRef } from '../../core/work/ref-names.ts';
import type { WrongState } from '../../core/work/wrong-state.ts';
import { readLine, wrongStates } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { followLine } from '../line/follow.ts';
import { syncLine } from '../line/line.ts';
import { forgetRewind, noteFiles } from '../line/wrong-states.ts';

export interface TargetFollowed {
  readonly branch: string;
  readonly pending: number;
  readonly reason: string | null;
  readonly wrong: readonly WrongState[];
}

/** `leavesOut`: landed work that the user removed from the branch stays removed. */
export async function followTarget(
  engine: Uses<'git' | 'machineId' | 'report' | 'settings' | 'store'>,
  branch: string,
  leavesOut: boolean,
): Promise<TargetFollowed> {
  const states = wrongStates(await readLine(engine.store.db, branch));
  for (const state of states) await cureState(engine, branch, state, leavesOut);
  const { pending, reason } = await followLine(engine, branch, 'now');
  const wrong = wrongStates(await readLine(engine.store.db, branch));
  return { branch, pending, reason, wrong };
}

async function cureState(
  engine: Uses<'git' | 'machineId' | 'settings' | 'store'>,
  branch: string,
  state: WrongState,
  leavesOut: boolean,
): Promise<void> {
  const { git } = engine;
  if (state.kind !== 'moved_back') {
    const cured = await git.cure(branch, state);
    if (!cured.ok) throw new Refusal(cured.error.kind, cured.error.message);
    return noteFiles(engine, branch, cured.value);
  }
  if (!leavesOut) {
    const back = await git.follow(branchRef(branch), state.tip, engine.settings().follow);
    if (!back.ok) throw new Refusal(back.error.kind, back.error.message);
    if (back.value.kind === 'pending') {
      const remedy = `Run "git merge ${state.ref}" on ${branch}.`;
      throw new Refusal('bad_state', `${back.value.reason} ${remedy}`);
    }
    await syncLine(engine, branch);
  }
  await forgetRewind(engine, branch);
}
