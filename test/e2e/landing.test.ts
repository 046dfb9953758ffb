// Gates and conflicts: work that is red or does not merge goes back to its author, and the target
// is never red.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { EventView } from '../../server/protocol/api.ts';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { firstParents, landedTasks } from './support/history.ts';
import { panelClient } from './support/panel-client.ts';
import { beginPlan } from './support/plan.ts';
import { eventually } from './support/eventually.ts';
import { processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

/** Runs the gate on every first-parent commit of the target, in a separate checkout. */
function assertNeverRed(project: Project, gate: string, branch = 'main'): void {
  const clone = join(project.folder, 'clone');
  project.git('worktree', 'add', '-q', '--detach', clone, branch);
  for (const { sha, subject } of firstParents(project, branch)) {
    project.gitIn(clone, 'checkout', '-q', '--detach', sha);
    const verdict = project.sh(clone, gate);
    assert.equal(verdict, 0, `the gate is red at ${subject}`);
  }
  project.git('worktree', 'remove', '--force', clone);
}

function ofType(events: readonly EventView[], type: string): readonly EventView[] {
  return events.filter((event) => event.type === type);
}

suite('landing: the gate', function () {
  this.timeout(180_000);
  const project = useProjects();

  test("if two tasks are green alone and red together, the second goes back with the gate's output", async () => {
    const gate =
      'if [ -e a.txt ] && [ -e b.txt ] && [ ! -e both.txt ]; then echo "A AND B CLASH HERE"; exit 7; fi';
    const here = project({
      agent: `
prompt=$(cat)
case "$attempt" in
  1) read -r line < ../../both-started;;
  *) case "$prompt" in *"A AND B CLASH HERE"*) echo together > both.txt;; esac;;
esac
echo "$id" > "$id.txt"
`,
    });
    const barrier = makeBarrier(here.folder, 'both-started');
    await beginPlan(here, ['a', 'b']);
    const run = here.start(['run', '--workers', '2', '--gate', gate, '--json']);
    await run.line((line) => line.includes('"worktree.ready"') && line.includes('"a"'));
    await run.line((line) => line.includes('"worktree.ready"') && line.includes('"b"'));
    barrier.open(2);
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
    const [first = '', second = ''] = landedTasks(here);
    assert.deepEqual([first, second].sort(), ['a', 'b']);
    assert.equal((await here.task(first)).attempts, 0);
    const trailers = firstParents(here).at(-1)?.trailers;
    assert.deepEqual([trailers?.['Drover-Task'], trailers?.['Drover-Attempt']], [second, '2']);
    const prompt = await here.expect(0, ['log', second, '--attempt', '2', '--prompt']);
    assert.match(prompt, /A AND B CLASH HERE/);
    assert.match(prompt, /exit code 7/);
    assertNeverRed(here, gate);
  });

  soakTest('one bad task among eight that land together does not stop the others', async () => {
    // The plug holds the gate until all eight wait for it.
    const here = project({ agent: writesOneFile });
    const barrier = makeBarrier(here.folder, 'gate-open');
    const gate = `if [ "$(ls | grep -c txt)" = 1 ]; then ${barrier.wait}; fi; test ! -e t5.txt`;
    const ids = ['t1', 't2', 't3', 't4', 't5', 't6', 't7', 't8'];
    await beginPlan(here, [
      { id: 'plug', priority: 'critical' },
      ...ids.map((id) => (id === 't5' ? { id, max_attempts: 1 } : id)),
    ]);
    const run = here.start(['run', '--workers', '9', '--gate', gate, '--json']);
    for (const id of ids) {
      await run.line((line) => line.includes('"task.committed"') && line.includes(`"${id}"`));
    }
    barrier.open();
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 1, done.stdout.slice(-3000));
    assert.equal((await here.task('t5')).status, 'failed');
    const good = ['plug', ...ids.filter((id) => id !== 't5')];
    assert.deepEqual([...landedTasks(here)].sort(), [...good].sort());
    const batches = ofType(await here.events(), 'task.completed').map(({ data }) => data['batch']);
    assert.ok(Math.max(...batches.map(Number)) > 1, 'they landed together');
    assertNeverRed(here, 'test ! -e t5.txt');
  });

  test('a gate that fails once is retried, and the retry is recorded', async () => {
    const here = project();
    await beginPlan(here, ['t1']);
    const gate = 'if [ ! -e ../../was-red ]; then touch ../../was-red; echo FLAKE; exit 1; fi';
    await here.expect(0, ['run', '--gate', gate]);
    assert.deepEqual(
      ofType(await here.events(), 'gate.passed').map(({ data }) => data['flaky']),
      [true],
    );
    assert.equal((await here.task('t1')).attempts, 0);
  });

  test('a gate that never ends is killed with all processes it started', async () => {
    const here = project({ settings: '[gate]\ntimeout = "1s"\n' });
    await beginPlan(here, [{ id: 't1', max_attempts: 1 }]);
    // A number that no other process on the machine uses for a sleep: one of the three hides from
    // its parents.
    const sleep = `sleep 42${process.pid}`;
    const gate = `test -e t1.txt || exit 0; ${sleep} & setsid ${sleep} & (cd / && exec env -i ${sleep}) & wait`;
    await here.expect(1, ['run', '--gate', gate]);
    const task = await here.task('t1');
    assert.equal(task.status, 'failed');
    assert.match(
      task.last_error ?? '',
      /did not finish within .*; it was still running and silent: is it a watch mode\?/,
    );
    await eventually('only the backend is left', () =>
      [...processesOf(here.folder), ...processesOf(sleep)].every(
        ({ pid }) => pid === here.backendPid(),
      ),
    );
    assert.deepEqual(landedTasks(here), []);
  });

  soakTest('a task without tests lands even if the gate of others is red', async () => {
    const here = project();
    await beginPlan(here, [
      { id: 'docs', task_type: 'docs', test_mode: 'disabled' },
      { id: 'code', max_attempts: 1 },
    ]);
    await here.expect(1, ['run', '--gate', 'test ! -e code.txt']);
    assert.deepEqual(landedTasks(here), ['docs']);
    assert.equal((await here.task('code')).status, 'failed');
  });
});

suite('landing: conflicts', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('the second task goes back with both intents, and resolves the conflict', async () => {
    const here = project({
      files: { 'shared.txt': 'nobody\n' },
      agent: `
cat > /dev/null
if [ "$attempt" = 1 ]; then read -r line < ../../both-started; echo "$id" > shared.txt
else echo "$id" >> shared.txt; fi
`,
    });
    const barrier = makeBarrier(here.folder, 'both-started');
    await beginPlan(here, [
      { id: 'a', title: 'Name the first owner' },
      { id: 'b', title: 'Name the second owner' },
    ]);
    const run = here.start(['run', '--workers', '2', '--json']);
    await run.line((line) => line.includes('"worktree.ready"') && line.includes('"a"'));
    await run.line((line) => line.includes('"worktree.ready"') && line.includes('"b"'));
    barrier.open(2);
    const done = await run.ended;
    barrier.close();
    assert.equal(done.code, 0, `${done.stdout}\n${done.stderr}`);
    const [first = '', second = ''] = landedTasks(here);
    assert.equal(here.read('repo/shared.txt'), `${first}\n${second}\n`);
    const prompt = await here.expect(0, ['log', second, '--attempt', '2', '--prompt']);
    assert.match(prompt, /shared\.txt/);
    assert.match(prompt, /Your intent: [ab]: Name the (first|second) owner/);
    assert.match(prompt, /Landed in the meantime: [ab]: Name the (first|second) owner/);
  });

  test('an unresolved conflict ends with state conflict and exit code 2, keeps the work, and a person resolves it', async () => {
    const here = project({
      files: { 'shared.txt': 'nobody\n' },
      agent: `
prompt=$(cat)
case "$id$prompt" in
  first*|*"Do it on top"*) ;;
  *) git reset -q --hard "$(git rev-list --max-parents=0 HEAD)";;
esac
echo "$id" > shared.txt
`,
    });
    await beginPlan(here, ['first', { id: 'second', blocked_by: ['first'], max_attempts: 2 }]);
    await here.expect(2, ['run']);
    const task = await here.task('second');
    assert.equal(task.status, 'conflict');
    assert.deepEqual(task.conflict_files, ['shared.txt']);
    assert.equal(task.attempts, 2);
    for (const attempt of [1, 2]) {
      assert.equal(here.git('show', `drover/second/${attempt}:shared.txt`), 'second');
    }
    assert.deepEqual(landedTasks(here), ['first']);
    await here.expect(0, ['resolve', 'second', '--note', 'Do it on top of what is there.']);
    await here.expect(0, ['run']);
    assert.deepEqual(landedTasks(here), ['first', 'second']);
    assert.equal(here.read('repo/shared.txt'), 'second\n');
  });

  test('a person sees both sides of a conflict, and gets their merge back when the gate is red', async () => {
    const here = project({
      files: { 'shared.txt': 'nobody\n', 'other.txt': 'as it was\n' },
      settings: '[gate]\ncommand = "test -e shared.txt && ! grep -q broken shared.txt"\n',
      agent: `
cat > /dev/null
case "$id" in
  first) ;;
  *) git reset -q --hard "$(git rev-list --max-parents=0 HEAD)"; echo mine > own.txt;;
esac
echo "$id" > shared.txt
`,
    });
    await beginPlan(here, ['first', { id: 'second', blocked_by: ['first'], max_attempts: 1 }]);
    await here.expect(2, ['run']);
    const client = await panelClient(here);
    const sides = await client.call('conflict', { id: 'second' });
    assert.deepEqual(sides.files, ['shared.txt']);
    assert.equal(sides.onto, here.git('rev-parse', 'main'));
    assert.equal(here.git('show', `${sides.base}:shared.txt`), 'nobody');
    assert.equal(here.git('show', `${sides.commit}:shared.txt`), 'second');

    const merge = (text: string, path = 'shared.txt'): Promise<unknown> =>
      client.call('task.merge', { id: 'second', onto: sides.onto, files: [{ path, text }] });
    await assert.rejects(merge('x', 'other.txt'), /shared\.txt of second must be merged/);
    await assert.rejects(
      merge('nobody\n'),
      /1 of 1 conflicts in shared\.txt of second still has the lines from before both changes/,
    );
    const marked = '<<<<<<< HEAD\nfirst\n=======\nsecond\n>>>>>>> second\n';
    await assert.rejects(merge(marked), /shared\.txt of second has conflict marks/);
    assert.equal((await here.task('second')).status, 'conflict', 'a refusal changes nothing');

    await merge('broken\n');
    await eventually('the gate has refused it', async () => {
      const task = await here.task('second');
      return task.phase !== 'land' && (task.last_error ?? '').includes('gate');
    });
    assert.equal((await here.task('second')).status, 'needs_review', 'a person decides again');
    assert.deepEqual(landedTasks(here), ['first'], 'the target is never red');
    client.close();
  });

  test('a further attempt that reverts both changes lands only if a person approves it', async () => {
    const here = project({
      files: { 'shared.txt': 'nobody\n' },
      agent: `
prompt=$(cat)
case "$id$prompt" in
  *"Merge it"*) echo nobody > shared.txt; echo mine > own.txt; exit;;
  *"Leave marks"*) printf '<<<<<<< HEAD\\nfirst\\n=======\\nsecond\\n>>>>>>> second\\n' > shared.txt; exit;;
  second*) git reset -q --hard "$(git rev-list --max-parents=0 HEAD)";;
esac
echo "$id" > shared.txt
`,
    });
    await beginPlan(here, ['first', { id: 'second', blocked_by: ['first'], max_attempts: 1 }]);
    await here.expect(2, ['run']);
    assert.equal((await here.task('second')).status, 'conflict');
    const resolved = await here.drover(['resolve', 'second', '--note', 'Leave marks']);
    assert.match(
      resolved.stderr,
      /The next attempt of second merges shared\.txt with the landed work/,
    );
    await here.expect(2, ['run']);
    const marked = await here.task('second');
    assert.deepEqual([marked.status, marked.review_kind], ['needs_review', 'unmerged']);
    assert.match(marked.verdict_reason ?? '', /conflict markers in shared\.txt/);

    await here.expect(0, ['send-back', 'second', 'Merge it']);
    await here.expect(2, ['run']);
    const task = await here.task('second');
    assert.deepEqual([task.status, task.review_kind], ['needs_review', 'unmerged']);
    assert.match(task.verdict_reason ?? '', /lines from before both changes in shared\.txt/);
    assert.match(await here.expect(0, ['why', 'second']), /would revert landed work/);
    assert.deepEqual(landedTasks(here), ['first'], 'nothing has landed unseen');
    const approved = await here.drover(['approve', 'second']);
    assert.match(approved.stderr, /Landing \+2 −1: own\.txt, shared\.txt/);
    assert.equal(here.read('repo/shared.txt'), 'nobody\n', 'the person has decided');
  });

  test('conflict markers that an agent commits land only if a person approves them', async () => {
    const marks = '<<<<<<< HEAD\\nmine\\n=======\\ntheirs\\n>>>>>>> other\\n';
    const here = project({
      files: { 'fixture.txt': marks.replaceAll('\\n', '\n') },
      agent: `
cat > /dev/null
case "$id" in
  edits) echo more >> fixture.txt; git mv fixture.txt moved.txt;;
  adds) printf '${marks}' > work.txt; git add -A; git commit -qm marked;;
esac
`,
    });
    await beginPlan(here, ['edits', 'adds']);
    await here.expect(2, ['run']);
    assert.deepEqual(landedTasks(here), ['edits'], 'marks that were there do not count');
    const task = await here.task('adds');
    assert.deepEqual([task.status, task.review_kind], ['needs_review', 'unmerged']);
    assert.match(task.verdict_reason ?? '', /^leaves conflict markers in work\.txt$/);
    assert.match(await here.expect(0, ['why', 'adds']), /it leaves conflict markers in work\.txt/);
    await here.expect(0, ['approve', 'adds']);
    await eventually('a fixture may be meant so', () => landedTasks(here).includes('adds'));
  });

  for (const keepsBase of [false, true]) {
    const what = keepsBase
      ? 'that brings the lines from before both changes back'
      : 'of both sides';
    test(`a person's merge ${what} lands with the task's other work`, () => landMerge(keepsBase));
  }

  async function landMerge(keepsBase: boolean): Promise<void> {
    const here = project({
      files: { 'shared.txt': 'nobody\n' },
      agent: `
cat > /dev/null
[ "$id" = first ] || { git reset -q --hard "$(git rev-list --max-parents=0 HEAD)"; echo mine > own.txt; }
echo "$id" > shared.txt
`,
    });
    await beginPlan(here, ['first', { id: 'second', blocked_by: ['first'], max_attempts: 1 }]);
    await here.expect(2, ['run']);
    const client = await panelClient(here);
    const { onto } = await client.call('conflict', { id: 'second' });
    const text = keepsBase ? 'nobody\n' : 'first and second\n';
    const files = [{ path: 'shared.txt', text, ...(keepsBase && { keeps_base: true }) }];
    await client.call('task.merge', { id: 'second', onto, files });
    await eventually(
      'it has landed',
      async () => (await here.task('second')).status === 'completed',
    );
    // The checkout follows once the task is completed.
    await eventually('main follows', () => landedTasks(here).includes('second'));
    assert.equal(here.read('repo/shared.txt'), text);
    assert.equal(here.read('repo/own.txt'), 'mine\n');
    assert.deepEqual(landedTasks(here), ['first', 'second']);
    await assert.rejects(client.call('conflict', { id: 'second' }), /Only a task in conflict/);
    client.close();
  }
});
