// Sub-tasks inside one attempt, the setup of worktrees, files that are copied into them, and
// secrets that are hidden.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder } from '../remove-folder.ts';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan, importPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

suite('parts of a task', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('sub-tasks run in order in one worktree, each with its own commit', async () => {
    const here = project({
      agent: `cat > "../../prompt-$id"; echo "$id" >> order.txt; echo "$id in $(basename "$PWD")"`,
    });
    await here.expect(0, ['init']);
    const id = await here.add('Build the parser of the thing');
    for (const part of ['first', 'second', 'third']) {
      await here.expect(0, ['add', `Write the ${part} part of it`, '--parent', id]);
    }
    const other = await here.add('Use the parser of the thing', '--blocked-by', `${id}.2`);
    await here.expect(0, ['run']);
    assert.equal(
      here.read('repo/order.txt'),
      `${[`${id}.1`, `${id}.2`, `${id}.3`, id, other].join('\n')}\n`,
    );
    assert.deepEqual(landedTasks(here), [id, other]);
    const merge = here.git('log', '--format=%H', '-1', `--grep=Drover-Task: ${id}$`, '--merges');
    const commits = here.git(
      'log',
      '--format=%(trailers:key=Drover-Task,valueonly)',
      '--reverse',
      `${merge}^1..${merge}^2`,
    );
    assert.deepEqual(
      commits.split('\n').filter((line) => line !== ''),
      [`${id}.1`, `${id}.2`, `${id}.3`, id],
    );
    for (const task of (await here.status()).tasks) assert.equal(task.status, 'completed');
    assert.match(here.read(`prompt-${id}.2`), /sub-task 2 of 3/);
    const said = (await here.expect(0, ['log', id])).match(/\S+ in slot-1/g);
    const parts = [`${id}.1`, `${id}.2`, `${id}.3`, id];
    assert.deepEqual(
      said,
      parts.map((part) => `${part} in slot-1`),
    );
    assert.match(await here.expect(0, ['log', `${id}.2`]), new RegExp(`${id}\\.2 in slot-1`));
  });
});

suite('the setup of worktrees', function () {
  this.timeout(120_000);
  const project = useProjects();
  const settings =
    '[setup]\ncommand = "echo ran in $PWD >> ../../setups; cp lock ignored-deps"\ninputs = ["lock"]\n';
  const files = { '.gitignore': 'ignored-deps\n.env.test\nvendor/\n', lock: 'one\n' };

  test('the setup runs once for each slot, and again when its inputs change', async () => {
    const here = project({ settings, files, agent: `test -e ignored-deps; ${writesOneFile}` });
    await beginPlan(here, ['t1', 't2', 't3']);
    await here.expect(0, ['run', '--workers', '1']);
    const setups = (): readonly string[] => here.read('setups').trim().split('\n');
    assert.deepEqual(setups(), [`ran in ${here.root}.worktrees/slot-1`]);
    here.write('repo/lock', 'two\n');
    here.git('commit', '-qam', 'other dependencies');
    await importPlan(here, ['t4']);
    await here.expect(0, ['run', '--workers', '1']);
    assert.equal(setups().length, 2);
  });

  soakTest(
    "a failed setup is not the agent's failure: the task is blocked with the log, and a person retries it",
    async () => {
      const here = project({
        settings: '[setup]\ncommand = "echo NO SUCH PACKAGE; test -e ../../cured"\n',
      });
      await beginPlan(here, ['t1']);
      await here.expect(2, ['run']);
      const task = await here.task('t1');
      assert.deepEqual([task.status, task.attempts], ['blocked', 0]);
      assert.match(task.blocked_reason ?? '', /^setup: /);
      const log = /its log is (\S+)$/.exec(task.blocked_reason ?? '')?.[1] ?? '';
      assert.match(readFileSync(log, 'utf8'), /NO SUCH PACKAGE/);
      const { reasons } = await here.json<{ reasons: string[] }>(['why', 't1']);
      assert.match(reasons.join(' '), /setup/);
      here.write('cured', '');
      await here.expect(0, ['resolve', 't1', '--note', 'The package exists now.']);
      await here.expect(0, ['run']);
      assert.deepEqual(landedTasks(here), ['t1']);
    },
  );

  soakTest(
    'a worktree that keeps nothing, was deleted or was cleaned is set up again',
    async () => {
      const here = project({
        settings: `[worktree]\nkeep_ignored = false\n${settings}`,
        files,
        agent: `test -e ignored-deps; ${writesOneFile}`,
      });
      const gate = 'test -e ignored-deps';
      await beginPlan(here, ['t1', 't2', 't3']);
      await here.expect(0, ['run', '--workers', '1', '--gate', gate]);
      here.write('repo/.drover.toml', settings);
      here.git('commit', '-qam', 'keep what is ignored');
      await importPlan(here, ['t4']);
      await here.expect(0, ['run', '--workers', '1', '--gate', gate]);
      removeFolder(`${here.root}.worktrees`);
      await importPlan(here, ['t5']);
      await here.expect(0, ['run', '--workers', '1', '--gate', gate]);
      assert.deepEqual(landedTasks(here), ['t1', 't2', 't3', 't4', 't5']);
      assert.deepEqual(
        (await here.status()).tasks.map((task) => task.attempts),
        [0, 0, 0, 0, 0],
      );
    },
  );

  test('ignored files that one task planted do not exist for the next task in its slot', async () => {
    const here = project({
      settings:
        '[setup]\ncommand = "echo ran >> ../../setups; mkdir -p node_modules/.bin; echo a > node_modules/.bin/a"\n',
      files: { '.gitignore': 'node_modules/\ndist/\n' },
      agent: `ls -d node_modules/.bin/* dist > "$id.txt" 2> /dev/null || true
mkdir -p dist; echo planted > dist/x; echo planted > node_modules/.bin/tool`,
    });
    await beginPlan(here, ['t1', 't2']);
    await here.expect(0, ['run', '--workers', '1']);
    for (const id of ['t1', 't2'])
      assert.equal(here.read(`repo/${id}.txt`), 'node_modules/.bin/a\n');
    assert.equal(here.read('setups'), 'ran\n');
  });

  test('setup files that an agent removes exist for the next task', async () => {
    const here = project({
      settings,
      files,
      agent: `test -e ignored-deps; git clean -qfdx; ${writesOneFile}`,
    });
    await beginPlan(here, ['t1', 't2']);
    await here.expect(0, ['run', '--workers', '1', '--gate', 'test -e ignored-deps']);
    assert.deepEqual(landedTasks(here), ['t1', 't2']);
  });

  test("an agent's prompt contains the setup, the gate and the changes of other tasks", async () => {
    const here = project({
      agent: `cat > "../../prompt-$id"\n[ "$id" != c ] || read -r line < ../../go\necho "work of $id" > "$id.txt"`,
      settings:
        '[setup]\ncommand = "true setup"\n[gate]\ncommand = "[ -e b.txt ] || read -r line < ../../go"\n',
    });
    const barrier = makeBarrier(here.folder, 'go');
    await beginPlan(here, [{ id: 'a', priority: 9 }, { id: 'c', priority: 8 }, 'b']);
    const run = here.start(['run', '-w', '2', '--json']);
    await eventually('b is told', () => here.read('prompt-b').includes('## Rules'));
    barrier.open(8);
    assert.equal((await run.ended).code, 0);
    barrier.close();
    const prompt = here.read('prompt-b');
    assert.match(prompt, /The setup command has run here: `true setup`/);
    assert.match(prompt, /must succeed on the merged tree: `\[ -e b\.txt \]/);
    assert.match(prompt, /^- a \(Task a\): a\.txt$/m);
  });

  soakTest('eight workers and the gate install one relocatable state', async () => {
    const here = project({
      files: { 'package.json': '{}\n', '.gitignore': 'node_modules/\n' },
      settings:
        '[setup]\ncommand = "echo run >> ../../setups; mkdir -p node_modules/x; echo x > node_modules/x/index.js"\n[gate]\ncommand = "cat node_modules/x/index.js"\n',
      agent: `cat > /dev/null\ncat node_modules/x/index.js > "$id.txt"`,
    });
    const ids = Array.from({ length: 8 }, (_, index) => `t${index}`);
    await beginPlan(here, ids);
    await here.expect(0, ['run', '-w', '8']);
    assert.deepEqual(landedTasks(here).toSorted(), ids);
    assert.equal(here.read('setups'), 'run\n');
  });

  soakTest('manifests and lock files are inputs without being named', async () => {
    const here = project({
      settings: '[setup]\ncommand = "cat package.json sub/Cargo.lock > ignored-deps"\n',
      files: { ...files, 'package.json': '{}\n', 'sub/Cargo.lock': 'one\n' },
      agent: `
cat > /dev/null
case $id in
  t1) echo '{"a": 1}' > package.json ;;
  t2) echo two > sub/Cargo.lock ;;
  t3) echo three > t3.txt ;;
esac
`,
    });
    await beginPlan(here, ['t1', 't2', 't3']);
    const gate = 'cat package.json sub/Cargo.lock | cmp - ignored-deps';
    await here.expect(0, ['run', '--workers', '1', '--gate', gate]);
    assert.deepEqual(landedTasks(here), ['t1', 't2', 't3']);
  });

  test("changes that the setup makes in tracked files are not part of a task's work", async () => {
    const here = project({
      settings: '[setup]\ncommand = "echo $PWD >> lock; cp lock ignored-deps"\n',
      files: { ...files, 'package.json': '{}\n' },
      agent: `
cat > /dev/null
[ "$id" = idle ] || echo "$id" > "$id.txt"
`,
    });
    await beginPlan(here, ['t1', 't2', 't3', { id: 'idle', max_attempts: 1 }]);
    await here.expect(2, ['run', '--workers', '4', '--gate', 'test "$(cat lock)" = one']);
    const idle = await here.task('idle');
    assert.deepEqual([idle.status, idle.review_kind], ['needs_review', 'no_changes']);
    assert.deepEqual([...landedTasks(here)].sort(), ['t1', 't2', 't3']);
    assert.equal(here.read('repo/lock'), 'one\n');
    assert.deepEqual(
      (await here.status()).tasks.map((task) => task.attempts),
      [0, 0, 0, 0],
    );
  });

  test('ignored files of the checkout are copied, and never land', async () => {
    const here = project({
      settings: '[setup]\ncopy = [".env.test", "vendor/tool.cfg", "missing"]\n',
      files,
      agent: `cat > /dev/null; cat .env.test vendor/tool.cfg > copied.txt`,
    });
    here.write('repo/.env.test', 'from the checkout\n');
    here.write('repo/vendor/tool.cfg', 'tool\n');
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run', '--gate', 'test -e .env.test']);
    assert.equal(here.read('repo/copied.txt'), 'from the checkout\ntool\n');
    assert.equal(here.git('ls-files').includes('.env.test'), false);
  });
});

suite('secrets', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('values of secret variables appear in nothing that is stored or printed', async () => {
    const secret = 'hunter2-very-secret-value';
    const other = 'tok-0123456789-abcdef';
    const here = project({
      settings: `env_allow = ["MY_API_KEY"]\n\n[gate]\nenv_allow = ["GATE_TOKEN"]\n[agent.env]\nDEPLOY_TOKEN = "${other}"\n`,
      env: { MY_API_KEY: secret, MY_PASSWORD: 'never-seen', GATE_TOKEN: 'given-to-the-gate' },
      agent: `
cat > /dev/null
echo "the key is $MY_API_KEY and $DEPLOY_TOKEN"
echo "again on stderr: $MY_API_KEY" >&2
[ -z "\${MY_PASSWORD:-}" ] || exit 8
echo "work of $id" > "$id.txt"
if [ "$attempt" = 1 ]; then exit 5; fi
echo "summary with $MY_API_KEY"
`,
    });
    await beginPlan(here, ['t1']);
    const gate =
      'echo "gate says $MY_API_KEY"; test -z "$MY_PASSWORD" && test -n "$GATE_TOKEN$MY_API_KEY" && test -e t1.txt';
    const run = await here.expect(0, ['run', '--gate', gate, '--json']);
    const told = [
      run,
      await here.expect(0, ['log', 't1', '--attempt', '1']),
      await here.expect(0, ['log', 't1', '--attempt', '2', '--json']),
      await here.expect(0, ['log', 't1', '--attempt', '2', '--prompt']),
      await here.expect(0, ['events', '--json']),
      await here.expect(0, ['status', '--json']),
      await here.expect(0, ['export', '-f', 'session']),
    ].join('\n');
    for (const value of [secret, other]) {
      assert.equal(told.includes(value), false, `${value} is told`);
      assert.deepEqual(filesWith(here.root, value), value === other ? ['.drover.toml'] : []);
    }
    assert.match(told, /\[hidden\]/);
  });
});

function filesWith(root: string, value: string): readonly string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => readFileSync(path, 'latin1').includes(value))
    .map((path) => path.slice(root.length + 1))
    .filter((path) => !path.startsWith('.git/'));
}
