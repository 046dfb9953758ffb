// The gate's verdict may depend on the tree, its setup and the command, but not on anything that
// others have left behind.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventView } from '../../server/protocol/api.ts';
import { writesOneFile } from './support/agent-scripts.ts';
import { landedTasks } from './support/history.ts';
import { panelClient } from './support/panel-client.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

function ofType(events: readonly EventView[], type: string): readonly EventView[] {
  return events.filter((event) => event.type === type);
}

suite('verdicts of the gate', function () {
  this.timeout(180_000);
  const project = useProjects();

  test('a red verdict is not remembered: a further attempt with the same tree is tested again', async () => {
    // The file that was missing outside the tree exists from the second attempt on.
    const here = project({
      agent: `
cat > /dev/null
[ "$attempt" = 1 ] || touch ../../service
echo "work of $id" > "$id.txt"
`,
    });
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run', '--gate', 'test ! -e t1.txt || test -e ../../service']);
    const task = await here.task('t1');
    assert.deepEqual([task.status, task.attempts], ['completed', 1]);
  });

  test('a green verdict does not depend on files that another candidate left behind', async () => {
    // An incremental build, which never removes the output of a deleted source.
    const gate = `
mkdir -p ignored; for f in src-*; do cp "$f" ignored/; done
test -e ignored/src-needed && test ! -e ignored/src-bad`;
    const here = project({
      files: { 'src-needed': 'x\n' },
      agent: `
cat > /dev/null
case $id in
  removes) git rm -q src-needed ;;
  bad) echo x > src-bad ;;
  *) echo x > "src-$id" ;;
esac
`,
    });
    await beginPlan(here, [
      { id: 'first', priority: 'critical' },
      { id: 'bad', priority: 'high', max_attempts: 1 },
      { id: 'innocent', max_attempts: 1 },
      { id: 'removes', priority: 'low', max_attempts: 1 },
    ]);
    await here.expect(1, ['run', '--workers', '1', '--gate', gate]);
    assert.deepEqual(landedTasks(here), ['first', 'innocent']);
    assert.equal((await here.task('removes')).status, 'failed');
  });

  test('a build folder is kept between gates while its work lands, and is removed with red work', async () => {
    const gate = `
if test -e target/built; then echo kept >> ../../said; else mkdir -p target; echo made >> ../../said; fi
echo x > target/built; echo x > other; test ! -e target/of-bad
if test -e bad; then echo x > target/of-bad; false; fi`;
    const here = project({
      files: { 'Cargo.toml': '', '.gitignore': 'target\nother\n' },
      agent: 'cat > /dev/null; if [ $id = bad ]; then echo x > bad; else echo x > "$id.txt"; fi',
    });
    await beginPlan(here, [
      { id: 'first', priority: 'critical' },
      { id: 'second', priority: 'high' },
      { id: 'bad', max_attempts: 1 },
      { id: 'last', priority: 'low' },
    ]);
    await here.expect(1, ['run', '--workers', '1', '--gate', gate]);
    assert.deepEqual(landedTasks(here), ['first', 'second', 'last']);
    const said = here.read('said').trim().split('\n');
    // The base or the first task, the two after it, the second test of the bad one, and the one
    // after that.
    assert.deepEqual(said.filter((word) => word === 'made').length, 3, said.join(' '));
    assert.deepEqual(said.slice(-2), ['made', 'made'], said.join(' '));
    assert.ok(said.length >= 5, said.join(' '));
  });

  soakTest('a gate that changes tracked files runs twice, and its events say so', async () => {
    const here = project({ files: { 'made.txt': 'old\n' } });
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run', '--gate', 'echo asked >> ../../asked; echo new > made.txt']);
    // Twice on the base, before the agent, and twice with its work.
    assert.equal(here.read('asked'), 'asked\nasked\nasked\nasked\n');
    assert.deepEqual(
      ofType(await here.events(), 'gate.passed').map(({ data }) => data['changed_files']),
      [['made.txt'], ['made.txt']],
    );
    assert.equal(here.read('repo/made.txt'), 'old\n');
  });

  test('a tree that changes during the gate is tested again', async () => {
    // The first run is disturbed externally; without that, it is red.
    const here = project({ files: { 'made.txt': 'old\n' } });
    await beginPlan(here, [{ id: 't1', max_attempts: 1 }]);
    const disturbed =
      'test -e t1.txt || exit 0; if [ ! -e ../../once ]; then touch ../../once; echo right > made.txt; fi; grep -q right made.txt';
    await here.expect(1, ['run', '--gate', disturbed]);
    assert.deepEqual(landedTasks(here), []);
  });

  test('a base that is red before any task starts costs no agent and fails no task until it is fixed', async () => {
    const here = project({
      files: { broken: 'x\n' },
      agent: `${writesOneFile}\necho "$id" >> ../../agents`,
    });
    await beginPlan(here, ['t1', 't2', { id: 't3', max_attempts: 1 }]);
    const gate =
      'echo gate >> ../../gates; if [ -e broken ]; then echo "✖ the thing works"; exit 1; fi';
    await here.expect(2, ['run', '--gate', gate]);
    const head = here.git('rev-parse', 'main').trim();
    const words = new RegExp(
      `^The gate already fails on main \\(${head.slice(0, 7)}\\), without any task's work: .*✖ the thing works`,
    );
    const { tasks } = await here.status();
    for (const { status, attempts, blocked_reason, block } of tasks) {
      assert.deepEqual([status, attempts], ['blocked', 0]);
      assert.match(blocked_reason ?? '', words);
      assert.ok(block?.kind === 'red_base');
      const { kind, line, on, commit } = block;
      assert.deepEqual([kind, line, on, commit], ['red_base', 'main', 'main', head]);
    }
    assert.equal(existsSync(join(here.folder, 'agents')), false, 'no agent was paid');
    assert.equal(here.read('gates').trim().split('\n').length, 2, 'one gate, tried twice');
    assert.match(await here.expect(0, ['why', 't1']), /The gate already fails on main/);
    // If nothing has changed, it runs once more, because the cause of the red result may have been
    // external.
    await here.expect(2, ['run', '--gate', gate]);
    assert.equal(existsSync(join(here.folder, 'agents')), false, 'no agent was paid');
    assert.equal(here.read('gates').trim().split('\n').length, 4);
    here.git('rm', '-q', 'broken');
    here.git('commit', '-qm', 'mend it');
    await here.expect(0, ['run', '--gate', gate]);
    assert.deepEqual([...landedTasks(here)].sort(), ['t1', 't2', 't3']);
    assert.equal(here.read('agents').trim().split('\n').length, 3, 'no agent works twice');
    assert.deepEqual(
      (await here.status()).tasks.map((task) => task.attempts),
      [0, 0, 0],
    );
  });

  test('a base with nothing to test is not tested, because the first task creates the tested code', async () => {
    const here = project();
    await beginPlan(here, ['t1', { id: 't2', blocked_by: ['t1'] }]);
    await here.expect(0, ['run', '--gate', 'test -e t1.txt']);
    assert.deepEqual(landedTasks(here), ['t1', 't2']);
  });

  soakTest(
    'a retried task whose base was fixed outside git starts, and so do the others',
    async () => {
      const here = project({ files: { 'made.txt': 'x\n' } });
      await beginPlan(here, ['t1', 't2']);
      const gate = 'test -e ../../service';
      await here.expect(2, ['run', '--gate', gate]);
      writeFileSync(join(here.folder, 'service'), 'up\n');
      await here.expect(0, ['retry', 't1']);
      await here.expect(0, ['run', '--gate', gate]);
      assert.deepEqual([...landedTasks(here)].sort(), ['t1', 't2']);
    },
  );

  test("a gate that only one task has is that task's goal: red on the base excuses nothing", async () => {
    const here = project({
      agent: `
cat > /dev/null
case "$id $attempt" in "goal 1") echo draft > "$id.txt" ;; *) echo done > "$id.txt" ;; esac
`,
    });
    await beginPlan(here, [
      { id: 'goal', test_command: 'grep -q done goal.txt' },
      { id: 'never', test_command: 'test -e nothing', max_attempts: 2 },
    ]);
    await here.expect(1, ['run']);
    const { goal, never } = Object.fromEntries(
      (await here.status()).tasks.map((task) => [task.id, task]),
    );
    assert.deepEqual([goal?.status, goal?.attempts], ['completed', 1]);
    assert.deepEqual([never?.status, never?.attempts], ['failed', 2]);
    assert.doesNotMatch(never?.last_error ?? '', /before any task/);
  });

  test('a task that a person starts on a red base fixes it and lands, and so do its dependents', async () => {
    const here = project({
      files: { broken: 'x\n' },
      agent: `
cat > /dev/null
echo "$id $attempt" >> ../../agents
case $id in mends) git rm -q broken ;; *) echo "$id" > "$id.txt" ;; esac
`,
    });
    await beginPlan(here, [{ id: 'waits', priority: 'critical' }, 'mends']);
    const run = ['run', '--workers', '1', '--gate', 'test ! -e broken'];
    await here.expect(2, run);
    assert.match(await here.expect(0, ['why', 'mends']), /drover resolve mends --anyway --note/);
    await here.expect(0, ['resolve', 'mends', '--anyway', '--note', 'Remove it.']);
    await here.expect(0, run);
    assert.deepEqual(landedTasks(here), ['mends', 'waits']);
    assert.equal(here.read('agents'), 'mends 1\nwaits 1\n');
  });

  test('its report contains the relevant lines, from anywhere in the output', async () => {
    const here = project({
      files: {
        'sum.test.mjs':
          "import { test } from 'node:test';\nimport assert from 'node:assert';\n" +
          "test('fine', () => {});\ntest('adds two numbers', () => assert.equal(1 - 2, 3));\n",
      },
    });
    await beginPlan(here, [{ id: 't1', max_attempts: 2 }]);
    const noise =
      'i=0; while [ $i -lt 3000 ]; do echo "at frame $i (file.js:1:1)"; i=$((i+1)); done';
    const gate = `test ! -e t1.txt || { node --test sum.test.mjs; s=$?; ${noise}; exit $s; }`;
    await here.expect(1, ['run', '--gate', gate]);
    const telling = /✖ adds two numbers; AssertionError.*-1 == 3/;
    const task = await here.task('t1');
    assert.match(task.last_error ?? '', telling);
    assert.match(await here.expect(0, ['why', 't1']), telling);
    assert.match(await here.expect(0, ['show', 't1']), telling);
    assert.match(await here.expect(0, ['log', 't1']), telling);
    const failed = ofType(await here.events('--task', 't1'), 'gate.failed');
    const firstLines = failed.map(({ data }) => (data['telling'] as string[])[0]);
    assert.equal(firstLines[0], '✖ adds two numbers');
    const prompt = await here.expect(0, ['log', 't1', '--attempt', '2', '--prompt']);
    assert.match(prompt, /The most relevant lines[^]*✖ adds two numbers/);
    const log = /Its full output is in (\S+)\.\n/.exec(await here.expect(0, ['why', 't1']))?.[1];
    assert.match(readFileSync(log ?? '', 'utf8'), /adds two numbers[^]*at frame 2999/);
  });

  soakTest("its events name their tasks, and are in each task's events", async () => {
    const here = project({ settings: '[protect]\nportable_names = false\n' });
    await beginPlan(here, ['t1', { id: 'T1', max_attempts: 1 }]);
    await here.expect(1, ['run', '--workers', '1', '--gate', 'test ! -e T1.txt']);
    const typesOf = async (id: string): Promise<readonly string[]> =>
      (await here.events('--task', id))
        .map(({ type }) => type)
        .filter((type) => type.startsWith('gate.'));
    assert.deepEqual(await typesOf('t1'), ['gate.passed']);
    assert.deepEqual(await typesOf('T1'), ['gate.failed', 'gate.failed']);
    const [passed] = ofType(await here.events('--task', 't1'), 'gate.passed');
    assert.deepEqual(passed?.data['task_ids'], ['t1']);
  });

  soakTest(
    'the checks before a run test a commit that a person made since the last landing',
    async () => {
      const here = project({
        agent: writesOneFile,
        settings: '[gate]\ncommand = "test ! -e red.txt"\n',
      });
      await beginPlan(here, ['t1']);
      await here.expect(0, ['run']);
      const client = await panelClient(here);
      try {
        const said = async (): Promise<string> => {
          const { checks } = await client.call('preflight', {});
          return checks.find(({ name }) => name === 'gate')?.message ?? '';
        };
        assert.match(await said(), /passes on main/);
        here.write('repo/red.txt', 'red');
        here.git('add', 'red.txt');
        here.git('commit', '-qm', 'red');
        assert.match(await said(), /^It is not known yet whether/);
        assert.equal((await client.call('gate.test', {})).outcome, 'red');
        assert.match(await said(), /fails on main/);
      } finally {
        client.close();
      }
    },
  );
});
