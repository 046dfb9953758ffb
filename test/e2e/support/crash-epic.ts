// An epic of diamonds and chains whose agents record every execution, and the checks on that record
// after crashes.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { EventView } from '../../../server/protocol/api.ts';
import { firstParents, landedTasks } from './history.ts';
import type { Project } from './project.ts';

/**
 * Every line contains the event, the task, and the time in nanoseconds. The duration differs
 * between tasks: 20 to 200 ms. If it restarts after its own commit, it has nothing left to commit.
 */
export const recordedAgent = `
cat > /dev/null
echo "begin $id $(date +%s%N)" >> ../../executions
n=$(printf %s "$id" | cksum | cut -d' ' -f1)
sleep "0.$(printf %03d $((20 + n % 181)))"
echo "work of $id" > "$id.txt"
if [ $((n % 3)) = 0 ]; then
  git add "$id.txt"
  git diff --cached --quiet || git commit -qm "the agent's own commit for $id"
fi
echo "end $id $(date +%s%N)" >> ../../executions
`;

/**
 * The same over some time, with a token in every line that it writes, and several commits on the
 * way.
 */
export const tokenAgent = `
cat > /dev/null
echo "begin $id $(date +%s%N)" >> ../../executions
n=$(printf %s "$id" | cksum | cut -d' ' -f1)
i=0
while [ $i -lt $((4 + n % 9)) ]; do
  i=$((i+1))
  echo "tok:$id:$attempt:$$:$i;" >> "$id-notes.txt"
  echo "tok:$id:$attempt:$$:$i;" >> ../../ledger
  if [ $((n % 3 + i % 4)) = 0 ]; then git add -A && git commit -qm "the agent's own commit for $id" || true; fi
  sleep "0.0$((2 + n % 7))"
done
echo "work of $id" > "$id.txt"
echo "end $id $(date +%s%N)" >> ../../executions
`;

export interface PlannedTask {
  readonly id: string;
  readonly blockedBy: readonly string[];
}

/**
 * Thirty tasks: three diamonds, each followed by a chain of three, the second joined to the first,
 * and nine independent tasks; or a multiple of this.
 */
export function crashPlan(times = 1): readonly PlannedTask[] {
  const tasks: PlannedTask[] = [];
  for (let d = 0; d < 3 * times; d += 1) {
    const id = (n: number): string => `T-${d}${n}`;
    tasks.push(
      { id: id(0), blockedBy: d % 3 === 1 ? [`T-${d - 1}3`] : [] },
      { id: id(1), blockedBy: [id(0)] },
      { id: id(2), blockedBy: [id(0)] },
      { id: id(3), blockedBy: [id(1), id(2)] },
      { id: id(4), blockedBy: [id(3)] },
      { id: id(5), blockedBy: [id(4)] },
      { id: id(6), blockedBy: [id(5)] },
      { id: id(7), blockedBy: [] },
      { id: id(8), blockedBy: [] },
      { id: id(9), blockedBy: [id(7), id(8)] },
    );
  }
  return tasks;
}

export function planText(tasks: readonly PlannedTask[]): string {
  const lines = [
    { id: 'CRASH', type: 'epic', title: 'An epic that is killed again and again' },
    ...tasks.map((task) => ({
      id: task.id,
      type: 'story',
      epic_id: 'CRASH',
      title: `Task ${task.id}`,
      blocked_by: task.blockedBy,
    })),
  ];
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

/**
 * Everything is completed, landed exactly once and in order, nothing ran after its end, and the
 * repository is intact.
 */
export async function assertDoneOnce(
  project: Project,
  tasks: readonly PlannedTask[],
  seed: string,
  line = 'main',
): Promise<void> {
  const status = await project.status();
  const ids = tasks.map((task) => task.id);
  assert.deepEqual(
    status.tasks.filter((task) => task.status !== 'completed').map(({ id }) => id),
    [],
    seed,
  );
  assert.equal(status.counts.completed, ids.length);
  const landed = landedTasks(project, line);
  assert.deepEqual([...landed].sort(), [...ids].sort(), `${seed}: each lands exactly once`);
  for (const { id, blockedBy } of tasks) {
    for (const blocker of blockedBy) {
      assert.ok(landed.indexOf(blocker) < landed.indexOf(id), `${seed}: ${blocker} before ${id}`);
    }
    assert.equal(project.read(`repo/${id}.txt`), `work of ${id}\n`, seed);
  }
  if (line !== 'main') {
    const merges = firstParents(project).filter(({ trailers }) => 'Drover-Epic' in trailers);
    assert.equal(merges.length, 1, `${seed}: the epic lands exactly once`);
  }
  const completed = completedAtMs(await project.events('--type', 'task.completed'));
  for (const { what, id, atMs } of executions(project)) {
    const endMs = completed.get(id) ?? Number.NaN;
    assert.ok(atMs <= endMs, `${seed}: ${what} of ${id} at ${atMs}, completed at ${endMs}`);
  }
  assertSound(project, seed);
}

export function assertSound(project: Project, seed: string): void {
  const complaints = project
    .git('fsck', '--full', '--no-progress')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('dangling '));
  assert.deepEqual(complaints, [], seed);
  assert.equal(project.git('status', '--porcelain'), '', seed);
  assert.equal(project.git('symbolic-ref', 'HEAD'), 'refs/heads/main', seed);
}

/** A completion event is sent once for each task. */
function completedAtMs(events: readonly EventView[]): Map<string, number> {
  const times = new Map<string, number>();
  for (const event of events) {
    const id = event.task_id ?? '';
    assert.equal(times.has(id), false, `${id} is completed twice`);
    times.set(id, event.at_ms);
  }
  return times;
}

export function executions(
  project: Project,
): readonly { what: string; id: string; atMs: number }[] {
  return project
    .read('executions')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [what = '', id = '', nanoseconds = '0'] = line.split(' ');
      return { what, id, atMs: Math.floor(Number(nanoseconds) / 1_000_000) };
    });
}

export function writePlan(project: Project, tasks: readonly PlannedTask[]): string {
  project.write('plan.jsonl', planText(tasks));
  return join(project.folder, 'plan.jsonl');
}
