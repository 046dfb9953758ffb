// The requests that only panels send, on a real backend, a real repository and real processes.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '../../server/protocol/api.ts';
import { Refusal } from '../../server/core/failure.ts';
import { makeBarrier, writesOneFile } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { firstParents } from './support/history.ts';
import { FollowedBoard, panelClient } from './support/panel-client.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

/** Its change waits for a review, because a file that looks like a secret is held. */
const holdsBack = 'cat > /dev/null\necho KEY=1 > .env\necho "work of $id" > "$id.txt"\n';

suite('panels', function () {
  this.timeout(180_000);
  const project = useProjects();
  const clients: Client[] = [];
  teardown(() => {
    for (const client of clients.splice(0)) client.close();
  });

  async function open(here: Project): Promise<Client> {
    const client = await panelClient(here);
    clients.push(client);
    return client;
  }

  async function refusal(promise: Promise<unknown>): Promise<string> {
    try {
      await promise;
    } catch (error) {
      if (error instanceof Refusal) return error.message;
      throw error;
    }
    assert.fail('nothing was refused');
  }

  async function run(client: Client, epic?: string, land?: 'review'): Promise<void> {
    const started = await client.call('run.start', {
      ...(epic === undefined ? {} : { epic }),
      ...(land === undefined ? {} : { land }),
    });
    const ended = Promise.withResolvers<void>();
    const stop = await client.follow(
      started.after,
      (events) => {
        if (events.some((event) => event.type === 'run.finished')) ended.resolve();
      },
      (reason) => ended.reject(new Error(reason)),
    );
    await ended.promise;
    stop();
  }

  test('the board follows a run through changes, and every attempt reports its steps', async () => {
    const settings = '[gate]\ncommand = "test -e README.md"\n[setup]\ncommand = "sleep 0.2"\n';
    const here = project({ settings });
    await beginPlan(here, [
      { id: 'e', type: 'epic' },
      { id: 'a', epic_id: 'e' },
      { id: 'b', epic_id: 'e', blocked_by: ['a'] },
      { id: 'c', epic_id: 'e', blocked_by: ['b'] },
    ]);
    const client = await open(here);
    const followed = await FollowedBoard.begin(client);
    const running = run(client, 'e');
    let isOver = false;
    let checks = 0;
    running.finally(() => (isOver = true)).catch(() => undefined);
    while (!isOver) if (await followed.check()) checks += 1;
    await running;
    await eventually('a last look', () => followed.check());
    assert.ok(checks > 0);
    assert.deepEqual(followed.board.counts.completed, 3);
    for (const id of ['a', 'b', 'c']) {
      const [attempt, ...more] = await client.call('attempts', { id });
      assert.deepEqual(more, []);
      assert.equal(attempt?.state, 'succeeded');
      const steps = attempt.steps.map((step) => step.name);
      const wanted = id === 'a' ? ['worktree', 'setup'] : ['worktree'];
      const rest = ['agent', 'commit', 'gate', 'land'];
      assert.deepEqual(
        steps.filter((name) => name !== 'setup' || id === 'a'),
        [...wanted, ...rest],
      );
      assert.ok(attempt.steps.every((step) => step.outcome === 'done'));
      const setup = attempt.steps.find((step) => step.name === 'setup');
      if (setup !== undefined) assert.ok((setup.ended_at_ms ?? 0) - setup.started_at_ms >= 200);
      const starts = attempt.steps.map((step) => step.started_at_ms);
      assert.deepEqual(
        starts,
        starts.toSorted((x, y) => x - y),
      );
    }
  });

  test('a review shows the landed change file by file', async () => {
    const here = project({ files: { 'kept.txt': 'kept\n', 'binary.dat': 'a\0b' } });
    await beginPlan(here, [{ id: 'e', type: 'epic' }, { id: 'a', epic_id: 'e' }, 'b']);
    const client = await open(here);
    await run(client, 'e');
    const change = await client.call('change', { id: 'a' });
    assert.deepEqual(
      [change.kind, change.state, change.files],
      ['task', 'landed', [{ path: 'a.txt', old_path: null, status: 'added' }]],
    );
    const epic = await client.call('change', { id: 'e' });
    assert.deepEqual([epic.kind, epic.state, epic.files], ['epic', 'landed', change.files]);
    const read = (sha: string, path: string) => client.call('file.read', { sha, path });
    const after = await read(change.head, 'a.txt');
    assert.deepEqual(after, { text: 'work of a\n', binary: false, size: 10 });
    assert.deepEqual((await read(change.base, 'a.txt')).text, null);
    assert.deepEqual(await read(change.head, 'binary.dat'), { text: null, binary: true, size: 3 });
    for (const [sha, path, message] of [
      ['main', 'a.txt', /full commit id/],
      [change.head.slice(0, 12), 'a.txt', /full commit id/],
      ['0'.repeat(40), 'a.txt', /does not name a commit/],
      [change.head, '../a.txt', /inside the repository/],
      [change.head, '/etc/passwd', /inside the repository/],
      [change.head, 'x/./a', /inside the repository/],
      [change.head, '', /inside the repository/],
    ] as const) {
      assert.match(await refusal(read(sha, path)), message);
    }
    assert.match(await refusal(client.call('change', { id: 'b' })), /no commit to show/);
  });

  test('an approval applies to the reviewed change', async () => {
    const here = project();
    await beginPlan(here, [
      { id: 'e', type: 'epic' },
      { id: 'a', epic_id: 'e' },
    ]);
    const client = await open(here);
    await run(client, 'e', 'review');
    const before = await client.call('change', { id: 'e' });
    here.write('repo/later.txt', 'by the user\n');
    here.git('add', 'later.txt');
    here.git('commit', '-qm', 'by the user');
    const stale = await client.call('approve', { id: 'e', seen: before.head });
    assert.equal(stale.id, 'e');
    await run(client, 'e', 'review');
    assert.equal(here.git('log', '-1', '--format=%s', 'main'), 'by the user');
    const now = await client.call('change', { id: 'e' });
    await client.call('approve', { id: 'e', seen: now.head });
    await run(client, 'e', 'review');
    assert.equal(here.git('rev-parse', 'main^{tree}'), here.git('rev-parse', `${now.head}^{tree}`));
    assert.match(
      await refusal(client.call('approve', { id: 'e', seen: '0'.repeat(40) })),
      /0000000/,
    );
  });

  test('a task that has changed since its review is not approved', async () => {
    const here = project({ settings: '[gate]\ncommand = "true"\n', agent: holdsBack });
    await beginPlan(here, ['a']);
    const client = await open(here);
    await run(client);
    const { head } = await client.call('change', { id: 'a' });
    assert.match(
      await refusal(client.call('approve', { id: 'a', seen: here.git('rev-parse', 'main') })),
      /a has changed since you reviewed it/,
    );
    assert.equal((await client.call('task.show', { id: 'a' })).status, 'needs_review');
    await client.call('approve', { id: 'a', seen: head });
    await eventually('a has landed', () => existsSync(join(here.root, 'a.txt')));
  });

  test("a person's manual work in a task is kept, and the agent continues from it", async () => {
    const agent = `
cat > "../../prompt-$id-$attempt-$$"
touch "../../began-$id"
read -r line < "../../go-$id"
[ -e by-hand.txt ] && cp by-hand.txt seen.txt
echo "work of $id" > "$id.txt"
`;
    const here = project({ agent });
    const barrier = makeBarrier(here.folder, 'go-a');
    await beginPlan(here, ['a', 'b']);
    const client = await open(here);
    assert.match(
      await refusal(client.call('task.take_over', { id: 'b' })),
      /Only a running or paused task/,
    );
    assert.match(await refusal(client.call('task.give_back', { id: 'b' })), /Only a paused/);
    await client.call('task.pause', { id: 'b' });
    const running = run(client);
    await eventually('a has begun', () => existsSync(join(here.folder, 'began-a')));
    const taken = await client.call('task.take_over', { id: 'a' });
    assert.deepEqual([taken.task_id, taken.attempt, taken.command], ['a', 1, null]);
    assert.equal(here.gitIn(taken.worktree_path, 'branch', '--show-current'), taken.branch);
    await running;
    const byHand = await client.call('task.show', { id: 'a' });
    assert.deepEqual([byHand.status, byHand.phase], ['paused', 'by_hand']);
    writeFileSync(join(taken.worktree_path, 'by-hand.txt'), 'committed by hand\n');
    here.gitIn(taken.worktree_path, 'add', '-A');
    here.gitIn(taken.worktree_path, 'commit', '-qm', 'by hand');
    writeFileSync(join(taken.worktree_path, 'left.txt'), 'left by hand\n');
    const back = await client.call('task.give_back', { id: 'a', note: 'Mind the gap.' });
    assert.deepEqual([back.status, back.phase], ['ready', null]);
    barrier.open();
    await run(client);
    barrier.close();
    for (const [name, text] of [
      ['by-hand.txt', 'committed by hand\n'],
      ['left.txt', 'left by hand\n'],
      ['seen.txt', 'committed by hand\n'],
      ['a.txt', 'work of a\n'],
    ] as const) {
      assert.equal(readFileSync(join(here.root, name), 'utf8'), text, name);
    }
    const { prompt } = await client.call('log.prompt', { id: 'a' });
    assert.match(prompt, /worked in this directory in the meantime/);
    assert.match(prompt, /Mind the gap\./);
  });

  test('a landing is undone by a commit that lands like any other', async () => {
    const here = project({ settings: '[gate]\ncommand = "test ! -e forbidden"\n' });
    await beginPlan(here, ['a', { id: 'b', blocked_by: ['a'] }, 'c']);
    const client = await open(here);
    const undo = async (id: string) => {
      await client.call('undo', { id });
      return await client.call('task.show', { id });
    };
    assert.match(await refusal(undo('c')), /is ready\. Only landed work/);
    await run(client);
    const undone = await undo('b');
    assert.deepEqual(
      [undone.status, undone.landed_sha, undone.last_error],
      ['paused', null, 'its landing was undone'],
    );
    await eventually('main follows', () => !existsSync(join(here.root, 'b.txt')));
    assert.ok(existsSync(join(here.root, 'a.txt')) && existsSync(join(here.root, 'c.txt')));
    const last = firstParents(here).at(-1);
    assert.equal(last?.subject, 'drover: undo b Task b');
    assert.equal(last?.trailers['Drover-Undo'], 'b');
    await undo('a');
    await eventually('main follows', () => !existsSync(join(here.root, 'a.txt')));
    // Resuming it redoes the work from the current line.
    await client.call('task.unpause', { id: 'a' });
    await client.call('task.unpause', { id: 'b' });
    await run(client);
    assert.ok(existsSync(join(here.root, 'a.txt')) && existsSync(join(here.root, 'b.txt')));
    const attempts = await client.call('attempts', { id: 'b' });
    assert.deepEqual(
      attempts.map((attempt) => [attempt.number, attempt.state]),
      [
        [1, 'succeeded'],
        [2, 'succeeded'],
      ],
    );
  });

  test('an undo that the gate refuses changes nothing', async () => {
    const here = project({ agent: `cat > /dev/null; echo x > "$id.txt"` });
    await beginPlan(here, ['a']);
    const client = await open(here);
    await run(client);
    const before = here.git('rev-parse', 'main');
    here.write('repo/.drover.toml', '[gate]\ncommand = "test -e a.txt"\n');
    await here.expect(0, ['trust', '--yes']);
    assert.match(await refusal(client.call('undo', { id: 'a' })), /without a, the gate is red/);
    assert.equal(here.git('rev-parse', 'main'), before);
    assert.equal((await client.call('task.show', { id: 'a' })).status, 'completed');
  });

  test('the checks before a run start no program that the repository names', async () => {
    const here = project({ env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '' } });
    const program = `#!/bin/sh\necho "$*" >> ${here.folder}/started\n`;
    here.write('repo/tools/claude', program);
    chmodSync(join(here.root, 'tools', 'claude'), 0o755);
    here.write('repo/.drover.toml', '[agent]\nkind = "claude"\npath = "./tools/claude"\n');
    await beginPlan(here, ['a']);
    const client = await open(here);
    const { checks } = await client.call('preflight', {});
    const agent = checks.find(({ name }) => name === 'agent');
    assert.match(agent?.message ?? '', /tools\/claude, named by \.drover\.toml\. Only a run/);
    assert.equal(existsSync(join(here.folder, 'started')), false);
    here.write('repo/.drover.toml', '[agent]\nkind = "claude"\npath = "./tools/none"\n');
    assert.equal((await client.call('preflight', {})).can_run, false);
  });

  test('the checks before a run name the setting that disabled the sandbox, and the landing of one task', async () => {
    const here = project({ env: { DROVER_SANDBOX: 'off' } });
    await beginPlan(here, ['a']);
    here.write('repo/README.md', 'changed\n');
    const client = await open(here);
    const { checks, decisions } = await client.call('preflight', {});
    const said = (name: string) => checks.find((check) => check.name === name)?.message ?? '';
    assert.match(said('sandbox'), /^Sandbox: switched off by DROVER_SANDBOX: agents run/);
    assert.match(said('checkout'), /your checkout stays behind until you commit or stash them/);
    assert.equal(decisions[1]?.why, null);
  });

  test('the checks before a run change nothing in an active run', async () => {
    const here = project({
      agent: 'cat > /dev/null; while [ ! -e ../../go ]; do sleep 0.05; done; echo x > x.txt',
      settings: '[gate]\ncommand = "test -e never"\n',
    });
    const plan = [
      { id: 'e', type: 'epic' } as const,
      { id: 'a', epic_id: 'e', max_attempts: 1 },
      'b',
    ];
    await beginPlan(here, plan);
    const client = await open(here);
    const run = here.start(['run', '--epic', 'e']);
    await eventually('the agent runs', async () => (await here.task('a')).status === 'in_progress');
    await client.call('preflight', { gate: 'true', workers: 9 });
    here.write('go', '');
    await run.ended;
    assert.notEqual((await here.task('a')).status, 'completed');
  });

  test('the checks before a run report the same problems as a run, and start nothing', async () => {
    const here = project({ agent: writesOneFile, settings: '[gate]\ncommand = "true"\n' });
    await beginPlan(here, ['a', 'b', { id: 'c', blocked_by: ['a', 'b'] }]);
    const client = await open(here);
    const look = async (params: object = {}) => {
      const view = await client.call('preflight', params);
      const of = (name: string) => view.checks.filter((check) => check.name === name);
      return {
        ...view,
        of: (name: string) =>
          of(name)
            .map(({ outcome }) => outcome)
            .join(' '),
      };
    };
    const clean = await look();
    assert.deepEqual([clean.can_run, clean.tasks, clean.width], [true, 3, 2]);
    for (const name of ['graph', 'git', 'target', 'agent', 'setup', 'disk', 'checkout']) {
      assert.equal(clean.of(name), 'ok', name);
    }
    assert.equal(clean.of('gate'), 'note');
    here.write('repo/README.md', 'changed\n');
    here.write('repo/.drover.toml', '[agent]\nkind = "command"\npath = "/none/there"\n');
    await client.call('task.add', { title: 'd', agent: 'claude' });
    const dirty = await look({ target: 'nowhere', workers: 1 });
    assert.deepEqual([dirty.can_run, dirty.width], [false, 1]);
    assert.deepEqual(
      [dirty.of('target'), dirty.of('gate'), dirty.of('checkout')],
      ['error', 'warning', 'note'],
    );
    assert.equal((await look({ land: 'epic' })).of('target'), 'error');
    assert.match(
      await refusal(client.call('preflight', { epic: 'none' })),
      /Epic "none" does not exist/,
    );
    assert.equal((await client.call('status', {})).run, null);
    here.write('repo/.drover.toml', '');
    here.write('repo/package.json', '{"scripts":{"test":"node --test"}}');
    const asked = await client.call('preflight', { workers: 1, agent: 'demo', model: 'small' });
    const decisions = new Map(asked.decisions.map((each) => [each.name, each]));
    assert.equal(decisions.get('agent')?.value, 'demo:small');
    assert.equal(decisions.get('agent')?.source, 'flag');
    assert.deepEqual(
      [decisions.get('workers')?.value, decisions.get('workers')?.recommended],
      [1, 2],
    );
    assert.deepEqual(
      [decisions.get('gate')?.value, decisions.get('gate')?.recommended],
      [null, 'npm test'],
    );
    assert.match(decisions.get('gate')?.why ?? '', /package\.json/);
    assert.match(decisions.get('land')?.why ?? '', /lands on main .* Nothing is pushed\./);
    const plain = await client.call('preflight', {
      gate: 'make check',
      budget_usd: 2.5,
      plan: true,
    });
    const value = (name: string) => plain.decisions.find((each) => each.name === name)?.value;
    assert.deepEqual([value('gate'), value('budget'), value('plan')], ['make check', 2.5, true]);
    await client.call('task.pause', { id: 'a' });
    assert.equal((await look()).of('graph'), 'warning');
  });

  test('the checks before a run of single tasks cover them and their blockers', async () => {
    const here = project({ agent: writesOneFile, settings: '[gate]\ncommand = "true"\n' });
    await beginPlan(here, ['a', 'b', { id: 'c', blocked_by: ['a'] }, 'd']);
    const client = await open(here);
    const countFor = async (...tasks: readonly string[]) => {
      const { tasks: count, width } = await client.call('preflight', { tasks });
      return [count, width];
    };
    assert.deepEqual(await countFor('a'), [1, 1]);
    assert.deepEqual(await countFor('c'), [2, 1]);
    assert.deepEqual(await countFor('a', 'b'), [2, 2]);
    await client.call('task.pause', { id: 'd' });
    const { checks } = await client.call('preflight', { tasks: ['a'] });
    assert.equal(checks.find(({ name }) => name === 'graph')?.outcome, 'ok');
    assert.match(await refusal(client.call('preflight', { tasks: ['none'] })), /none/);
  });
});
