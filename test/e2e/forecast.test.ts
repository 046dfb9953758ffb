// Two agents change the same line at the same time, which is known before either of them ends.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

/** A snapshot is made within twenty seconds, and compared within five. */
const forecastMaxMs = 90_000;

/** Writes the same file as the others, with other content, and waits. */
const meets = `
cat > "../../prompt-$id-$attempt"
if [ -f shared.txt ]; then cat shared.txt > "../../found-$id-$attempt"; fi
echo "work of $id" > shared.txt
touch "../../began-$id-$attempt"
if [ "$attempt" = 1 ]; then read -r line < "../../go-$id"; fi
`;

async function began(here: Project, id: string): Promise<void> {
  await eventually(`${id} has begun`, () => existsSync(join(here.folder, `began-${id}-1`)));
}

suite('a forecast conflict', function () {
  this.timeout(240_000);
  const project = useProjects({ isEachProcess: true });

  test('a conflict is reported at both running tasks, and their files are not touched', async () => {
    const here = project({ agent: meets });
    const barriers = ['a', 'b'].map((id) => makeBarrier(here.folder, `go-${id}`));
    await beginPlan(here, ['a', 'b', { id: 'c', blocked_by: ['a'] }]);
    const run = here.start(['run', '--workers', '2', '--json']);
    await began(here, 'a');
    await began(here, 'b');
    const slotOf = async (id: string): Promise<string> =>
      (await here.task(id)).worktree_path ?? assert.fail(`${id} has no worktree`);
    const before = contents(here, await slotOf('a'));
    const seen = await eventually(
      'the conflict',
      async () => (await here.task('b')).forecast?.find(({ level }) => level === 'conflict'),
      forecastMaxMs,
    );
    assert.deepEqual([seen.other, seen.files], ['a', ['shared.txt']]);
    const other = (await here.task('a')).forecast ?? [];
    assert.deepEqual(
      other.map((one) => [one.other, one.level, one.files]),
      [['b', 'conflict', ['shared.txt']]],
    );
    assert.equal(contents(here, await slotOf('a')), before);
    assert.match(
      await here.expect(0, ['why', 'a']),
      /a and b change the same lines of shared\.txt, which git cannot merge/,
    );
    for (const barrier of barriers) barrier.open();
    await run.ended;
    for (const barrier of barriers) barrier.close();
    assert.equal((await here.task('b')).forecast, undefined, 'it ends with the attempts');
    const { run: last } = await here.status();
    const report = await here.json<{ forecast: object }>(['report', last?.id ?? '']);
    assert.deepEqual(report.forecast, {
      foreseen: 1,
      foreseen_and_came: 1,
      came: 1,
      came_and_foreseen: 1,
    });
  });

  test('with the setting "order", the later task stops and continues from the work of the earlier one', async () => {
    const here = project({ agent: meets, settings: '[run]\non_forecast = "order"\n' });
    const barriers = ['a', 'b'].map((id) => makeBarrier(here.folder, `go-${id}`));
    await beginPlan(here, ['a', 'b']);
    const run = here.start(['run', '--workers', '2', '--json']);
    await began(here, 'a');
    await began(here, 'b');
    await eventually(
      'b waits for a',
      async () => (await here.task('b')).status === 'blocked',
      forecastMaxMs,
    );
    assert.deepEqual((await here.task('b')).blocked_by, ['a']);
    for (const barrier of barriers) barrier.open(2);
    assert.equal((await run.ended).code, 0);
    for (const barrier of barriers) barrier.close();
    assert.deepEqual(landedTasks(here), ['a', 'b']);
    const { attempts } = await here.task('b');
    assert.equal(attempts, 0, 'no attempt was used up');
    assert.equal(readFileSync(join(here.root, 'shared.txt'), 'utf8'), 'work of b\n');
    assert.equal(here.read('found-b-1'), 'work of a\n', 'it starts from the landed work');
  });
});

/** A digest of all files of a worktree, and of its index. */
function contents(here: Project, slot: string): string {
  const hash = createHash('sha256');
  const names = readdirSync(slot, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
  const index = join(here.gitIn(slot, 'rev-parse', '--absolute-git-dir').trim(), 'index');
  for (const name of [...names, index]) {
    if (existsSync(name)) hash.update(name).update(readFileSync(name));
  }
  return hash.digest('hex');
}
