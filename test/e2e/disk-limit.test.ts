// The size limit of the worktrees: nothing new starts at the limit, one command frees the space
// that is safe to free, and the run continues.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorktreeSizes, WorktreeView } from '../../server/protocol/api.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized } from '../tier.ts';

const mb = 1024 * 1024;
const slots = sized(4, 10);
const settings = (limit: string): string => `
max_workers = ${slots}
[setup]
command = "mkdir -p big && head -c ${mb} /dev/urandom > big/blob"
[worktree]
disk_limit = "${limit}"
`;

suite('the disk limit of worktrees', function () {
  this.timeout(120_000);
  const project = useProjects();

  const sizes = (here: Project): Promise<WorktreeSizes> =>
    here.json<WorktreeSizes>(['worktree', 'list', '--size']);

  test(`at the limit with ${slots} worktrees, one command frees space, explains the rest, and the run continues`, async () => {
    const here = project({
      settings: settings('1000GB'),
      files: { '.gitignore': 'big/\n' },
      agent: `
cat > /dev/null
echo "$id" > "$id.txt"
touch "../../at-work-$id"
read -r line < "$HOME/go"
`,
    });
    const go = makeBarrier(join(here.folder, 'home'), 'go');
    const ids = Array.from({ length: slots }, (_, at) => `t${at}`);
    await beginPlan(here, ids);
    const first = here.start(['run']);
    const atWork = (id: string): Promise<unknown> =>
      eventually(`${id} is at work`, () => here.sh(here.folder, `test -e at-work-${id}`) === 0);
    await Promise.all(ids.map(atWork));
    const held = (await sizes(here)).worktrees.filter(({ action }) => action === 'keep');
    assert.equal(held.length, slots);
    assert.ok(held.every(({ why }) => why === 'its task is running'));
    go.open(slots);
    assert.equal(await first.ended.then(({ code }) => code), 0);

    // A person left a file in one, and the limit is below the total size.
    const free = await sizes(here);
    const tasksSlots = free.worktrees.filter(({ status }) => status === 'free');
    assert.ok(tasksSlots.length >= slots);
    assert.ok(free.total_bytes >= slots * mb, `${free.total_bytes} bytes`);
    assert.equal(free.frees_bytes, sumOf(free.worktrees));
    const dirty = tasksSlots[0]?.path ?? '';
    writeFileSync(join(dirty, 'mine.txt'), 'not committed\n');
    here.write('repo/.drover.toml', settings(`${Math.floor((slots * mb) / 1024)}KB`));

    // A new backend measures before it starts anything; a running one learns of it within seconds.
    await here.expect(0, ['server', 'stop']);
    await importPlan(here, ['more']);
    const second = here.start(['run']);
    const reason =
      /The worktrees take .*disk_limit = \d+ MB\); no task starts until there is room/u;
    await eventually('the run is held', async () => {
      const { holds } = await here.status();
      return holds.some((hold) => hold.scope === 'worktrees' && reason.test(hold.reason));
    });
    assert.match(await here.expect(0, ['why', 'more']), /disk_limit = \d+ MB/u);
    assert.match(await here.expect(0, ['status']), /The worktrees take/u);
    assert.equal((await here.task('more')).attempts, 0);

    const told = await here.expect(0, ['worktree', 'prune']);
    assert.match(told, new RegExp(`^keep .*${dirty}.*changes that are not committed`, 'mu'));
    assert.match(told, new RegExp(`^Freed ${slots - 1}(\\.\\d)? MB\\.$`, 'mu'));
    await atWork('more');
    go.open();
    assert.equal(await second.ended.then(({ code }) => code), 0);
    const events = (await here.events()).map(({ type }) => type);
    assert.ok(events.indexOf('run.held') < events.indexOf('run.released'));
    go.close();
  });
});

function sumOf(worktrees: readonly WorktreeView[]): number {
  return worktrees.reduce((sum, { size_bytes: bytes }) => sum + bytes, 0);
}
