// Plans that are not on the board yet, stored in the workspace until they are added or discarded,
// so that a panel shows its plan again after a reload.

import { randomUUID } from 'node:crypto';
import type { Memento } from 'vscode';
import type { ShownPlan } from '../../server/protocol/spec-plan.ts';

interface Kept {
  readonly id: string;
  readonly plan: ShownPlan;
}

const memoryKey = 'drover.plans';
const keptMax = 8;

/** Returns the id of the stored plan. */
export async function keepPlan(memory: Memento, plan: ShownPlan): Promise<string> {
  const id = `plan-${randomUUID()}`;
  await memory.update(memoryKey, [{ id, plan }, ...keptPlans(memory)].slice(0, keptMax));
  return id;
}

export function readPlan(memory: Memento, id: string | null): ShownPlan | null {
  return keptPlans(memory).find((kept) => kept.id === id)?.plan ?? null;
}

export async function dropPlan(memory: Memento, id: string | null): Promise<void> {
  const others = keptPlans(memory).filter((kept) => kept.id !== id);
  await memory.update(memoryKey, others);
}

function keptPlans(memory: Memento): readonly Kept[] {
  return memory.get<readonly Kept[]>(memoryKey) ?? [];
}
