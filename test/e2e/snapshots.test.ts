// Work of an attempt, of a person in its folder, or of a failed part continues with its task, and
// with no other.

import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TaskSnapshots } from '../../server/protocol/views.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

/**
 * The first time, it leaves half of its work behind and waits to be killed; the next time, it finds
 * that work and completes it.
 */
const halves = `
cat > "../../prompt-$id-$attempt"
if [ -e half.txt ]; then echo "whole" > whole.txt; exit 0; fi
echo "half" > half.txt
echo "changed" >> README.md
touch "../../half-$id"
exec sleep 600
`;

/** Fails once with uncommitted work, and completes the work that it finds. */
const failsOnce = `
cat > "../../prompt-$id-$attempt"
if [ "$id" = other ]; then echo "other" > other.txt; ls > "../../seen-other"; exit 0; fi
echo "part of $attempt" >> parts.txt
if [ "$attempt" = 1 ]; then echo "edited" >> README.md; exit 9; fi
`;

suite('snapshots', function () {
  this.timeout(180_000);
  const project = useProjects();

  test("H3: a paused attempt of an agent that cannot resume continues with all work, including a person's edits", async () => {
    const here = project({ agent: halves });
    await beginPlan(here, ['held']);
    const run = here.start(['run', '--json']);
    await eventually('half of it is there', () => existsSync(join(here.folder, 'half-held')));
    await here.expect(0, ['pause', 'held']);
    await run.ended;
    const { worktree_path: place } = await here.task('held');
    assert.ok(place !== null);
    writeFileSync(join(place, 'mine.txt'), 'mine\n');
    assert.equal(here.git('show', 'refs/drover/work/held/1:half.txt'), 'half');
    await here.expect(0, ['resume-task', 'held']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['held']);
    for (const [file, text] of [
      ['half.txt', 'half'],
      ['whole.txt', 'whole'],
      ['mine.txt', 'mine'],
    ] as const) {
      assert.equal(here.git('show', `main:${file}`), text);
    }
    assert.match(here.read('prompt-held-1'), /What Your Directory Already Holds[^]*half\.txt/);
    assert.equal((await here.task('held')).worktree_path, null, 'it holds no slot any more');
  });

  test("H1: a further attempt starts with the failed attempt's work, which no other task sees", async () => {
    const here = project({ agent: failsOnce });
    await beginPlan(here, [{ id: 'parts', max_attempts: 2 }, 'other']);
    await here.expect(0, ['run', '--workers', '1']);
    assert.deepEqual(landedTasks(here).toSorted(), ['other', 'parts']);
    assert.equal(here.git('show', 'main:parts.txt'), 'part of 1\npart of 2');
    assert.match(here.git('show', 'main:README.md'), /edited/);
    assert.doesNotMatch(here.read('seen-other'), /parts\.txt/);
    assert.match(here.read('prompt-parts-2'), /the work of the previous attempt/);
    assert.deepEqual((await here.task('parts')).rescue_refs, ['refs/drover/work/parts/1']);
  });

  test("a person's line that the agent committed and reset is in the snapshots", async () => {
    const here = project({
      agent: `
cat > /dev/null
if [ "$attempt" = 1 ]; then
  touch ../../here
  read -r line < ../../go
  git add -A; git commit -qm all; git reset -q --hard HEAD~1
  exit 9
fi
cp mine.txt again.txt
`,
    });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, [{ id: 'taken', max_attempts: 1 }]);
    const run = here.start(['run', '--json']);
    await eventually('the agent runs', () => existsSync(join(here.folder, 'here')));
    const place = (await here.task('taken')).worktree_path ?? '';
    writeFileSync(join(place, 'mine.txt'), 'mine\n');
    barrier.open();
    assert.equal((await run.ended).code, 1);
    barrier.close();
    assert.match(
      await here.expect(0, ['snapshots', 'taken']),
      /^1  attempt 1  \S+Z  dropped  agent  1 file  \+1 -0$/m,
    );
    await here.expect(0, ['restore', 'taken', '--snapshot', '1']);
    await here.expect(0, ['run']);
    assert.equal(here.git('show', 'main:mine.txt'), 'mine');
    assert.equal(here.git('show', 'main:again.txt'), 'mine');
  });

  test('a command lists, compares and restores snapshots', async () => {
    const here = project({ agent: halves });
    await beginPlan(here, ['held']);
    const run = here.start(['run', '--json']);
    await eventually('half of it is there', () => existsSync(join(here.folder, 'half-held')));
    await here.expect(0, ['pause', 'held']);
    await run.ended;
    const place = (await here.task('held')).worktree_path ?? '';
    const listed = await here.json<TaskSnapshots>(['snapshots', 'held']);
    assert.deepEqual(
      listed.snapshots.map(({ number, attempt, reason, author, files, insertions }) => [
        [number, attempt, reason, author],
        [files, insertions],
      ]),
      [
        [
          [1, 1, 'paused', 'agent'],
          [2, 2],
        ],
      ],
    );
    assert.match(
      await here.expect(0, ['snapshots', 'held']),
      /^1  attempt 1  \S+Z  paused  agent  2 files  \+2 -0$/m,
    );
    assert.match(await here.expect(0, ['diff', 'held', '--snapshot', '1']), /^\+half$/m);
    await here.expect(3, ['diff', 'held', '--snapshot', '9']);
    writeFileSync(join(place, 'half.txt'), 'spoiled\n');
    await here.expect(0, ['restore', 'held', '--snapshot', '1']);
    const both = await here.json<TaskSnapshots>(['snapshots', 'held']);
    assert.deepEqual(
      both.snapshots.map(({ reason, author }) => [reason, author]),
      [
        ['paused', 'agent'],
        ['found', 'unknown'],
      ],
    );
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['held']);
    assert.equal(here.git('show', 'main:half.txt'), 'half');
    assert.match(here.git('show', 'main:README.md'), /changed/);
    assert.match(here.read('prompt-held-2'), /What Your Directory Already Holds/);
  });

  soakTest('V5: a branch that a person has also checked out stays', async () => {
    const here = project({
      agent:
        'cat > /dev/null\necho x > x.txt\ngit worktree add -q -f ../../person "drover/$id/$attempt"\n',
    });
    await beginPlan(here, ['seen']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['seen']);
    assert.notEqual(here.git('branch', '--list', 'drover/seen/1'), '');
    assert.match(here.git('-C', join(here.folder, 'person'), 'log', '-1', '--format=%s'), /seen/);
  });
});
