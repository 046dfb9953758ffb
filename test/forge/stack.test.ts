// `[forge] shape = "stack"`: one pull request for each task of an epic, on top of each other.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { removeFolder } from '../remove-folder.ts';
import { soakTest } from '../tier.ts';
import type { PlanRecord } from '../e2e/support/plan.ts';
import { slug, usePulls } from './support/pulls.ts';

const stories = (count: number) =>
  Array.from({ length: count }, (_none, index) => ({
    id: `t${index + 1}`,
    epic_id: 'E1',
    title: `Step ${index + 1}`,
    ...(index > 0 && { blocked_by: [`t${index}`] }),
  }));
const epic = { id: 'E1', type: 'epic', title: 'Sell shoes' } as const;
/** All tasks change the same line. */
const agent = `cat > /dev/null
echo "$id" > line.txt
echo "work of $id" > "$id.txt"`;

suite('a stack of pull requests', function () {
  this.timeout(300_000);
  const pulls = usePulls();
  let folder: string;
  setup(() => (folder = mkdtempSync(join(tmpdir(), 'drover-gates-'))));
  teardown(() => removeFolder(folder));
  const gates = (): number => {
    const file = join(folder, 'gates');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0;
  };
  const begin = (plan: readonly PlanRecord[], settings = '', body = agent): Promise<Project> => {
    const gate = `[gate]\ncommand = "echo gate >> ${join(folder, 'gates')}; test -e README.md"`;
    const forge = `[forge]\nshape = "stack"\npoll = "1s"\nquiet = "0s"\n${settings}`;
    return pulls.beginWith({ settings: `${gate}\n${forge}`, agent: body }, plan);
  };
  const areReady = (count: number): Promise<true> =>
    eventually(`${count} pull requests are ready`, () => {
      const { pulls: all } = pulls.fake;
      return all.length === count && all.every(({ isDraft }) => !isDraft);
    });
  const opened = async (count: number, settings = '', body = agent): Promise<Project> => {
    const here = await begin([epic, ...stories(count)], settings, body);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
    await areReady(count);
    return here;
  };
  const branch = (step: number): string => `drover/E1-${step}-step-${step}`;
  const tip = (name: string): string => pulls.fake.git.tip(slug, name) ?? '';
  const treeAt = (name: string): string => pulls.fake.git.git(slug, 'rev-parse', `${name}^{tree}`);
  const says = (here: Project, words: RegExp): Promise<true> =>
    eventually(`the epic says ${words}`, async () => words.test(await pulls.noteOf(here)));
  const waits = (here: Project, step: number, count: number): Promise<true> => {
    const name = `PR #${40 + step} \\(${step} of ${count}\\)`;
    return says(here, new RegExp(`^${name} waits for a person to merge it$`, 'u'));
  };
  type How = Parameters<typeof pulls.merge>[0];
  /** From the bottom, each as soon as it can be merged; none of them changes its tree. */
  const mergeAll = async (here: Project, how: readonly How[]): Promise<void> => {
    const trees = how.map((_each, index) => treeAt(branch(index + 1)));
    for (const [index, each] of how.entries()) {
      const step = index + 1;
      await waits(here, step, how.length);
      assert.equal(pulls.pull(40 + step).base, 'main');
      assert.equal(treeAt(branch(step)), trees[index]);
      pulls.merge(each, 40 + step);
      assert.equal(treeAt('main'), trees[index]);
    }
    await here.epicLanded();
    const [landed] = await here.events('--type', 'epic.landed');
    assert.equal(landed?.data['as_tested'], true);
    await eventually('the branches are deleted', () =>
      how.every((_each, index) => tip(branch(index + 1)) === ''),
    );
    await eventually('main follows', () => here.git('rev-parse', 'main') === tip('main'));
    assert.equal(pulls.fake.pulls.length, how.length);
  };

  const lands = async (count: number): Promise<void> => {
    const after = { id: 'after', blocked_by: [`t${count}`] };
    const settings = 'labels = ["drover"]\nreviewers = ["lead"]\n';
    const here = await begin([epic, ...stories(count), after], settings);
    await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
    await areReady(count);
    const gatesOfTasks = gates();
    assert.equal(gatesOfTasks, count);
    const steps = stories(count).map((_story, index) => index + 1);
    assert.deepEqual(
      pulls.fake.pulls.map(({ head, base, title, labels, reviewers }) => {
        return { head, base, title, labels, reviewers };
      }),
      steps.map((step) => ({
        head: branch(step),
        base: step === 1 ? 'main' : branch(step - 1),
        title: `Step ${step}`,
        labels: ['drover'],
        reviewers: ['lead'],
      })),
    );
    const { body } = pulls.pull(42);
    assert.match(body, /^- `t2` Step 2$/mu);
    assert.match(body, /on top of #41: merge that one first\./u);
    assert.ok(!body.includes('`t1`'));
    const chain = pulls.fake.git.git(slug, 'rev-list', '--parents', `main..${branch(count)}`);
    const commits = chain.split('\n').map((line) => line.split(' '));
    assert.ok(commits.length === count && commits.every(({ length }) => length === 2));
    await waits(here, 1, count);
    assert.match(await here.expect(0, ['pr', 'E1']), /^open PR #42: .* \(drover\/E1-2-step-2\)$/mu);
    assert.match(
      await here.expect(0, ['why', 'E1']),
      new RegExp(`PR #41 \\(1 of ${count}\\)`, 'u'),
    );
    await mergeAll(
      here,
      steps.map(() => 'squash'),
    );
    assert.equal(gates(), gatesOfTasks);
    await here.expect(0, ['run']);
    assert.equal((await here.task('after')).status, 'completed');
    assert.equal(here.read(`repo/t${count}.txt`), `work of t${count}\n`);
  };

  test('of two, with a squash at the bottom, runs no gate again and lands the epic', () =>
    lands(2));
  soakTest('of five, with a squash at the bottom, runs no gate again and lands the epic', () =>
    lands(5),
  );

  soakTest('is opened and moved once, although the backend is killed in the middle', async () => {
    const here = await begin([epic, ...stories(5)]);
    const serve = () => here.start(['server', '--socket', `${here.folder}/own.sock`]);
    await here.drover(['run', '--epic', 'E1', '--land', 'pr', '--detach']);
    await eventually('some are open', () => pulls.fake.pulls.length === 3);
    await here.killBackend();
    serve();
    await areReady(5);
    await waits(here, 1, 5);
    assert.equal(pulls.fake.git.pushes.length, 5);
    const gatesOfTasks = gates();
    pulls.merge('squash', 41);
    await eventually('the next one is retargeted', () => pulls.pull(42).base === 'main');
    await here.killBackend();
    serve();
    await waits(here, 2, 5);
    await eventually('the branch is deleted', () => tip(branch(1)) === '');
    // One for each level, one for the second on the squash, and the deletion.
    assert.equal(pulls.fake.git.pushes.length, 7);
    assert.equal(pulls.fake.pulls.length, 5);
    assert.equal(gates(), gatesOfTasks);
  });

  soakTest('may be merged by a merge commit, a rebase and a squash', async () => {
    const here = await opened(3);
    const gatesOfTasks = gates();
    await mergeAll(here, ['merge', 'rebase', 'squash']);
    assert.equal(gates(), gatesOfTasks);
  });
});
