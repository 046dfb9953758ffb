// `drover undo`: a landed task, a task in the middle of a landed epic, and an epic, each exactly as
// the dry run predicted.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './support/eventually.ts';
import { firstParents } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import type { UndoView } from '../../server/protocol/run-views.ts';

const epic = { id: 'E1', type: 'epic', title: 'Build the thing' } as const;
const stories = [
  { id: 'a', epic_id: 'E1' },
  { id: 'b', epic_id: 'E1', blocked_by: ['a'] },
  { id: 'c', epic_id: 'E1' },
];
const outside = { id: 'd', blocked_by: ['b'] };

suite('e2e: drover undo', function () {
  this.timeout(180_000);
  const project = useProjects();

  const preview = (here: Project, id: string): Promise<UndoView> =>
    here.json<UndoView>(['undo', id, '--dry-run']);
  const treeOf = (here: Project, commit = 'main'): string =>
    here.git('rev-parse', `${commit}^{tree}`);
  const files = (here: Project): string =>
    ['a', 'b', 'c'].filter((id) => existsSync(join(here.root, `${id}.txt`))).join('');
  const statuses = async (here: Project): Promise<Record<string, string>> =>
    Object.fromEntries((await here.status()).tasks.map(({ id, status }) => [id, status]));

  test('one task of an epic that landed as a whole is undone, then the epic, then everything is restored', async () => {
    const here = project();
    here.write('gate', 'true\n');
    await beginPlan(here, [epic, ...stories, outside]);
    const gate = ['--gate', `sh ${join(here.folder, 'gate')}`];
    await here.expect(0, ['run', '--epic', 'E1', ...gate]);
    const merge = here.git('rev-parse', 'main');
    const base = treeOf(here, 'main^1');

    const said = await preview(here, 'a');
    assert.deepEqual([said.id, said.dependents, said.tasks], ['a', ['b', 'd'], ['a']]);
    assert.equal(here.git('rev-parse', 'main'), merge, 'a dry run moves nothing');
    here.write('gate', 'echo "FAIL no a"; test -e a.txt\n');
    const before = [await statuses(here), here.git('rev-parse', 'main')];
    const red = await here.drover(['undo', 'a']);
    assert.deepEqual([red.code, files(here)], [3, 'abc']);
    assert.match(red.stderr, /without a, the gate is red/u);
    assert.deepEqual([await statuses(here), here.git('rev-parse', 'main')], before);
    here.write('gate', 'true\n');
    const text = await here.expect(0, ['undo', 'a']);
    assert.match(text, /^Depends on a, and stays unchanged: b, d\.$/mu);
    await eventually('main follows', () => files(here) === 'bc');
    assert.equal(treeOf(here), said.tree);
    assert.equal(firstParents(here).at(-1)?.trailers['Drover-Undo'], 'a');
    const [told] = await here.events('--type', 'landing.undone');
    assert.equal(told?.data['by'], 'person');
    assert.deepEqual(await statuses(here), {
      a: 'paused',
      b: 'completed',
      c: 'completed',
      d: 'ready',
    });

    const whole = await preview(here, 'E1');
    assert.deepEqual([whole.reverts, whole.dependents, whole.tasks], [[merge], ['d'], ['b', 'c']]);
    const length = firstParents(here).length;
    const undone = await here.json<UndoView>(['undo', 'E1']);
    assert.deepEqual(undone.reverts, whole.reverts);
    await eventually('main follows', () => files(here) === '');
    assert.deepEqual([treeOf(here), treeOf(here)], [whole.tree, base]);
    assert.equal(firstParents(here).length, length + 1);
    const { epics } = await here.status();
    assert.deepEqual([epics[0]?.landed_sha, epics[0]?.landing_state], [null, null]);
    assert.deepEqual(await statuses(here), { a: 'paused', b: 'paused', c: 'paused', d: 'blocked' });
    assert.match(
      (await here.drover(['undo', 'E1'])).stderr,
      /No task of E1 has landed, so it has nothing to undo/u,
    );

    for (const { id } of stories) await here.expect(0, ['resume-task', id]);
    await here.expect(0, ['run', '--epic', 'E1', ...gate]);
    assert.equal(files(here), 'abc');
    assert.notEqual((await here.status()).epics[0]?.landed_sha, null);
  });

  test('a task of the epic that was undone before does not depend on the epic', async () => {
    const here = project();
    await beginPlan(here, [epic, ...stories, outside]);
    await here.expect(0, ['run', '--epic', 'E1']);
    await here.expect(0, ['undo', 'b']);
    assert.deepEqual((await preview(here, 'E1')).dependents, ['d']);
  });

  test('an epic whose tasks landed one by one is undone in one commit, and a red gate moves nothing', async () => {
    const here = project({
      agent: 'cat > /dev/null; echo $id >> shared.txt; echo $id > $id.txt',
      settings: '[gate]\ncommand = "sh ../gate"\n',
    });
    here.write('gate', 'true\n');
    const chain = stories.map((story, at) => ({
      ...story,
      blocked_by: at > 0 ? [stories[at - 1]?.id] : [],
    }));
    await beginPlan(here, [epic, ...chain]);
    const base = treeOf(here);
    const gate = ['--gate', `sh ${join(here.folder, 'gate')}`];
    await here.expect(0, ['run', '--epic', 'E1', '--land', 'task', ...gate]);
    const landed = here.git('rev-parse', 'main');
    const tree = treeOf(here);

    here.write('gate', 'echo "FAIL no a"; test -e a.txt\n');
    const refused = await here.drover(['undo', 'E1', '--json']);
    assert.equal(refused.code, 3, refused.stdout);
    assert.match(refused.stdout, /without E1, the gate is red/u);
    assert.deepEqual([here.git('rev-parse', 'main'), treeOf(here)], [landed, tree]);
    assert.equal((await here.task('a')).status, 'completed');

    // In the middle of a chain in which all tasks change one file, git cannot tell which lines
    // belong to which task.
    here.write('gate', 'true\n');
    const middle = await here.drover(['undo', 'b']);
    assert.equal(middle.code, 3);
    assert.match(middle.stderr, /changed the same lines as .* in shared\.txt/u);

    const said = await preview(here, 'E1');
    assert.deepEqual(
      said.reverts,
      firstParents(here)
        .slice(1)
        .map(({ sha }) => sha)
        .toReversed(),
    );
    await here.expect(0, ['undo', 'E1']);
    await eventually('main follows', () => files(here) === '');
    assert.equal(treeOf(here), base);
    assert.equal(firstParents(here).at(-1)?.parents[0], landed);
    assert.equal(here.git('status', '--porcelain'), '');
  });
});
