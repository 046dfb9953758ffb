// A seeded epic in layers for several machines, and the agent whose completed runs are counted
// across all of them.

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { SeededChance } from '../../doubles/seeded-chance.ts';
import { type PlannedTask, planText } from '../../e2e/support/crash-epic.ts';
import type { Fleet } from './fleet.ts';
import type { Machine } from './machine.ts';

/**
 * Sleeps 0.2 to 1.1 s, writes one file for its task, records that it is done, and commits nothing.
 */
export const countedAgent = `
cat > /dev/null
n=$(printf %s "$id/$attempt" | cksum | cut -d' ' -f1)
sleep "$(printf %d.%03d $(((200 + n % 900) / 1000)) $(((200 + n % 900) % 1000)))"
echo "work of $id" > "$id.txt"
echo "$id $attempt $machine" >> "$ledger"
`;

/**
 * The same, but some work for longer than their machine is disconnected, and some commit before
 * they are done: their leftovers on a returning machine must be stopped and kept. On a full disk,
 * they wait for space.
 */
export const variedAgent = `
cat > /dev/null
n=$(printf %s "$id/$attempt" | cksum | cut -d' ' -f1)
until { echo "work of $id" > "$id.txt"; } 2> /dev/null && [ -s "$id.txt" ]; do sleep 0.1; done
if [ $((n % 3)) = 0 ]; then
  git add "$id.txt"
  git diff --cached --quiet || git commit -qm "the agent's own commit for $id"
fi
if [ $((n % 10)) = 0 ]; then
  sleep 11
else
  sleep "$(printf %d.%03d $(((200 + n % 900) / 1000)) $(((200 + n % 900) % 1000)))"
fi
echo "$id $attempt $machine" >> "$ledger"
`;

/** The gate checks that the merged tree is complete, and records its machine's home. */
export const gateSettings = `
[gate]
command = 'test -f README.md && echo "$HOME" >> "$HOME/../../gates"'
`;

/** Machines that ran gates. */
export function gateMachines(fleet: Fleet): ReadonlySet<string> {
  const lines = readFileSync(join(fleet.folder, 'gates'), 'utf8').trim().split('\n');
  return new Set(lines.map((home) => basename(dirname(home))));
}

/** A dead machine is detected quickly. */
export const fleetSettings = `
[fleet]
take_over_after = "5s"
${gateSettings}`;

const blockersMax = 3;

/**
 * Every task after the first layer has one to three blockers, one of them in the previous layer.
 */
export function layeredPlan(
  chance: SeededChance,
  layers: number,
  perLayer: number,
): readonly PlannedTask[] {
  const idOf = (layer: number, n: number): string => `F-${layer}${String(n).padStart(2, '0')}`;
  const tasks: PlannedTask[] = [];
  for (let layer = 0; layer < layers; layer += 1) {
    const earlier = tasks.map(({ id }) => id);
    for (let n = 0; n < perLayer; n += 1) {
      const blockedBy = new Set<string>();
      if (layer > 0) {
        blockedBy.add(idOf(layer - 1, chance.below(perLayer)));
        const more = chance.below(blockersMax);
        for (let m = 0; m < more; m += 1)
          blockedBy.add(earlier[chance.below(earlier.length)] ?? '');
      }
      tasks.push({ id: idOf(layer, n), blockedBy: [...blockedBy].sort() });
    }
  }
  return tasks;
}

export interface CompletedRun {
  readonly task: string;
  readonly attempt: number;
  readonly machine: string;
}

/** The completed runs of agents, on any machine. */
export function completedRuns(fleet: Fleet): readonly CompletedRun[] {
  return readFileSync(join(fleet.folder, 'ledger'), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [task = '', attempt = '', machine = ''] = line.split(' ');
      return { task, attempt: Number(attempt), machine };
    });
}

export async function importEpic(desk: Machine, tasks: readonly PlannedTask[]): Promise<void> {
  const path = join(desk.folder, 'plan.jsonl');
  writeFileSync(path, planText(tasks));
  await desk.expect(0, ['init']);
  await desk.expect(0, ['import', path]);
}
