// Following a run: to its end, through Ctrl-C, and across the death of a backend.

import assert from 'node:assert/strict';
import { Refusal } from '../../../server/core/failure.ts';
import type { EventView, Params } from '../../../server/protocol/api.ts';
import { BackendGone } from '../../../server/rpc/transport/errors.ts';
import { localClient } from '../../../server/rpc/transport/local.ts';
import { memoryBackend, type MemoryBackend } from '../../doubles/memory-backend.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';
import { runView } from '../../doubles/views.ts';

const finished = { type: 'run.finished', run_id: 'run-1' } as const;

function eventsOf(out: string): EventView[] {
  const lines = out.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as EventView);
}

function typesOf(out: string): string[] {
  return eventsOf(out).map((event) => event.type);
}

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}

function stoppable(): MemoryBackend {
  const backend = memoryBackend({
    'run.stop': () => {
      backend.feed.append(
        { type: 'run.stopped', run_id: 'run-1' },
        { type: 'task.returned', task_id: 'task-1' },
        { ...finished, data: { state: 'stopped', exit_code: 2 } },
      );
      return { stopped: ['run-1'] };
    },
  });
  return backend;
}

suite('run', () => {
  test("it sends the given options and the caller's environment", async () => {
    const backend = memoryBackend();
    const terminal = memoryTerminal(backend.backends);
    const flags = [
      '-w',
      '2',
      '-e',
      'epic-1',
      '--target',
      'dev',
      '--gate',
      'make',
      '--land',
      'task',
    ];
    assert.equal(await terminal.run('run', ...flags, '--detach', '--no-color'), 0);
    const call = backend.calls.find((each) => each.name === 'run.start');
    assert.deepEqual(call?.params, {
      workers: 2,
      epic: 'epic-1',
      target: 'dev',
      gate: 'make',
      land: 'task',
      called_in: '/project',
      env: { PATH: '/bin' },
    });
  });

  test('it prints its own events from its start to run.finished, and ends there', async () => {
    const backend = memoryBackend();
    backend.setTask({ id: 'task-1', status: 'completed' });
    backend.feed.append({ type: 'task.created' });
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('run', '--workers', '2', '--json');
    await until(() => backend.calls.some((call) => call.name === 'run.start'));
    backend.feed.append(
      { type: 'run.started', run_id: 'run-1' },
      { type: 'task.started', run_id: 'run-2' },
      { type: 'task.completed', run_id: null },
      finished,
      { type: 'task.created' },
    );
    assert.equal(await ended, 0);
    assert.deepEqual(typesOf(terminal.stdout.text), [
      'run.started',
      'task.completed',
      'run.finished',
    ]);
    assert.deepEqual(backend.opened[0]?.settingsFlags, { max_workers: 2 });
  });

  test('the output names an agent with its model, which takes precedence over the settings', async () => {
    const backend = memoryBackend();
    const terminal = memoryTerminal(backend.backends);
    await terminal.run('run', '--agent', 'opencode:acme/large:2', '--detach');
    const call = backend.calls.find((each) => each.name === 'run.start');
    const { env: _, called_in: _place, ...params } = (call?.params ?? {}) as Params<'run.start'>;
    assert.deepEqual(params, { agent: 'opencode', model: 'acme/large:2' });
    assert.deepEqual(backend.opened[0]?.settingsFlags, {
      'agent.kind': 'opencode',
      'agent.model': 'acme/large:2',
    });
  });

  for (const isTTY of [false, true]) {
    test(`an empty plan ends with the command that adds a task, ${isTTY ? 'with' : 'without'} a terminal`, async () => {
      const backend = memoryBackend();
      void backend.answered('run.start').then(() => backend.feed.append(finished));
      const terminal = memoryTerminal(backend.backends, isTTY);
      assert.equal(await terminal.run('run'), 0);
      assert.match(terminal.stdout.text, /No tasks\. Add one with: drover add "…"/);
      assert.doesNotMatch(terminal.stdout.text, /0 %/);
    });
  }

  test('the end of a run names the commit that the work landed as', async () => {
    const target = { branch: 'main', sha: '1a2b3c4d5e6f', pending: 0 };
    const run = runView({ id: 'run-1', base_sha: 'aaaa', target_branch: 'main' });
    const backend = memoryBackend({ status: () => ({ ...backend.snapshot(), run, target }) });
    backend.setTask({ id: 'task-1', status: 'completed' });
    void backend.answered('run.start').then(() => backend.feed.append(finished));
    const terminal = memoryTerminal(backend.backends);
    assert.equal(await terminal.run('run'), 0);
    assert.match(terminal.stdout.text, /^Landed on main · 1a2b3c4d$/m);
  });

  const judged = [
    { status: 'completed', code: 0 },
    { status: 'failed', code: 1 },
    { status: 'conflict', code: 2 },
  ] as const;
  for (const { status, code } of judged) {
    test(`with a task ${status}, the exit code is ${code}`, async () => {
      const backend = memoryBackend();
      backend.setTask({ id: 'task-1', status });
      void backend.answered('run.start').then(() => backend.feed.append(finished));
      assert.equal(await memoryTerminal(backend.backends).run('run'), code);
    });
  }

  test('only tasks in the scope count, not tasks of other epics', async () => {
    const backend = memoryBackend();
    backend.setTask({ id: 'task-1', status: 'completed', epic_id: 'epic-1' });
    backend.setTask({ id: 'task-2', status: 'failed' });
    const landed = { ...finished, data: { exit_code: 0 } };
    void backend.answered('run.start').then(() => backend.feed.append(landed));
    assert.equal(await memoryTerminal(backend.backends).run('run', '--epic', 'epic-1'), 0);
  });

  for (const exitCode of [2, undefined]) {
    test(`an epic that has not landed counts as unfinished (the run says ${exitCode ?? 'nothing'})`, async () => {
      const backend = memoryBackend();
      backend.setTask({ id: 'task-1', status: 'completed', epic_id: 'epic-1' });
      const data = exitCode === undefined ? {} : { exit_code: exitCode };
      await backend.handlers['epic.add']({ title: 'E' });
      void backend.answered('run.start').then(() => backend.feed.append({ ...finished, data }));
      assert.equal(await memoryTerminal(backend.backends).run('run', '--epic', 'epic-1'), 2);
    });
  }

  test('--detach returns at once', async () => {
    const backend = memoryBackend();
    const terminal = memoryTerminal(backend.backends);
    assert.equal(await terminal.run('run', '--detach', '--json'), 0);
    assert.equal(eventsOf(terminal.stdout.text).length, 1);
  });

  test('Ctrl-C stops the run, shows the released tasks and how to continue, and exits with 130', async () => {
    const backend = stoppable();
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('run', '--json');
    await until(() => backend.calls.some((call) => call.name === 'run.start'));
    backend.feed.append({ type: 'run.started', run_id: 'run-1' });
    await until(() => terminal.stdout.text !== '');
    terminal.interrupt();
    assert.equal(await ended, 130);
    const call = backend.calls.find((each) => each.name === 'run.stop');
    assert.deepEqual(call?.params, { run: 'run-1' });
    assert.deepEqual(typesOf(terminal.stdout.text), [
      'run.started',
      'run.stopped',
      'task.returned',
      'run.finished',
    ]);
    assert.match(terminal.stderr.text, /drover resume/u);
    assert.deepEqual(terminal.exits, []);
  });

  test('two Ctrl-C within 250 ms count as one, and a later second one exits at once', async () => {
    const backend = memoryBackend({ 'run.stop': () => new Promise(() => {}) });
    const terminal = memoryTerminal(backend.backends);
    void terminal.run('run');
    await backend.feed.listened;
    terminal.interrupt();
    const { nowMs } = terminal;
    terminal.nowMs = nowMs + 200;
    terminal.interrupt();
    assert.deepEqual(terminal.exits, []);
    terminal.nowMs = nowMs + 300;
    terminal.interrupt();
    assert.deepEqual(terminal.exits, [130]);
  });

  for (const [how, refusal] of [
    ['the disk is full', new Refusal('database', 'No space is left. Free some space.')],
    ['it ends its backend each time', new BackendGone('gone')],
  ] as const)
    test(`Ctrl-C on a run that cannot be stopped because ${how} exits with 130 and says so`, async () => {
      const backend = memoryBackend({ 'run.stop': () => Promise.reject(refusal) });
      const terminal = memoryTerminal(backend.backends);
      const ended = terminal.run('run');
      await backend.feed.listened;
      terminal.interrupt();
      assert.equal(await ended, 130);
      assert.equal(backend.calls.filter((call) => call.name === 'run.stop').length, 10);
      assert.match(terminal.stderr.text, /could not be stopped.*drover server stop/u);
      assert.ok(terminal.stderr.text.includes(`(${refusal.message.replace(/\.$/u, '')})`));
      assert.equal(terminal.stderr.text.split('Stopping the agents').length, 2);
      assert.doesNotMatch(terminal.stderr.text, /is stopped/u);
    });

  test('a run that cannot be stopped at first is stopped once the disk has space', async () => {
    const backend = stoppable();
    const stop = backend.handlers['run.stop'];
    let left = 3;
    (backend.handlers as { 'run.stop': typeof stop })['run.stop'] = async (params) => {
      left -= 1;
      if (left >= 0) throw new Refusal('database', 'No space is left.');
      return await stop(params);
    };
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('run');
    await backend.feed.listened;
    terminal.interrupt();
    assert.equal(await ended, 130);
    assert.match(terminal.stderr.text, /No space is left\.[^]*The run is stopped/u);
    assert.doesNotMatch(terminal.stderr.text, /Lost the connection/u);
  });

  test('Ctrl-C while the run is starting stops it as soon as it has started', async () => {
    const backend = stoppable();
    const terminal = memoryTerminal(backend.backends);
    const start = backend.handlers['run.start'];
    (backend.handlers as { 'run.start': typeof start })['run.start'] = async (params) => {
      terminal.interrupt();
      return await start(params);
    };
    assert.equal(await terminal.run('run'), 130);
    assert.ok(backend.calls.some((call) => call.name === 'run.stop'));
  });

  test('if the run is stopped elsewhere, it is over, and tasks are left', async () => {
    const backend = memoryBackend();
    backend.setTask({ id: 'task-1', status: 'ready' });
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('run', '--json');
    await backend.answered('run.start');
    backend.feed.append({ type: 'run.stopped', run_id: 'run-1' }, { type: 'task.returned' });
    await until(() => typesOf(terminal.stdout.text).length === 2);
    backend.feed.append(finished);
    assert.equal(await ended, 2);
    assert.deepEqual(typesOf(terminal.stdout.text).slice(-2), ['task.returned', 'run.finished']);
  });

  test('when the backend dies, it is started again, and no event is missed or duplicated', async () => {
    let die: (reason: string) => void = () => {};
    let opened = 0;
    const backend = memoryBackend(
      {},
      {
        openClient: async () => {
          opened += 1;
          if (opened === 2 || opened === 3) throw new Error('not yet');
          const client = localClient(backend.handlers, backend.feed);
          if (opened > 1) return client;
          return {
            ...client,
            follow: async (after, onEvents, onEnd) => {
              const stop = await client.follow(after, onEvents, onEnd);
              die = (reason) => {
                stop();
                onEnd(reason);
              };
              return stop;
            },
          };
        },
      },
    );
    backend.setTask({ id: 'task-1', status: 'completed' });
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('run', '--json');
    await until(() => backend.calls.some((call) => call.name === 'run.start'));
    backend.feed.append({ type: 'run.started', run_id: 'run-1' }, { type: 'task.started' });
    await until(() => typesOf(terminal.stdout.text).length === 2);
    die('killed');
    backend.feed.append({ type: 'task.completed' }, finished);
    assert.equal(await ended, 0);
    assert.deepEqual(
      eventsOf(terminal.stdout.text).map((event) => event.seq),
      [1, 2, 3, 4],
    );
    assert.equal(opened, 4);
  });

  test('a backend that never returns gives exit code 1 and says how to continue', async () => {
    let opened = 0;
    const backend = memoryBackend(
      {},
      {
        openClient: async () => {
          opened += 1;
          if (opened > 1) throw new Error('no way');
          const client = localClient(backend.handlers, backend.feed);
          return { ...client, follow: () => Promise.reject(new BackendGone('gone')) };
        },
      },
    );
    const terminal = memoryTerminal(backend.backends);
    assert.equal(await terminal.run('run'), 1);
    assert.match(terminal.stderr.text, /drover resume/u);
    assert.ok(opened > 2 && opened < 20);
  });

  test('resume without a run to resume exits with 0 and a message', async () => {
    const message = 'There is nothing to resume.';
    const backend = memoryBackend({ 'run.resume': () => ({ run: null, message }) });
    const terminal = memoryTerminal(backend.backends);
    assert.equal(await terminal.run('resume'), 0);
    assert.equal(terminal.stdout.text, `${message}\n`);
  });

  test("resume follows the run with the run's scope", async () => {
    const backend = memoryBackend({
      'run.resume': () => ({
        run: runView({ epic_id: 'epic-1', land: 'task' }),
        joined: false,
        message: '',
        warnings: ['No gate is configured.'],
        after: 0,
      }),
    });
    backend.setTask({ id: 'task-1', status: 'failed' });
    backend.setTask({ id: 'task-2', status: 'completed', epic_id: 'epic-1' });
    void backend.answered('run.resume').then(() => backend.feed.append(finished));
    const terminal = memoryTerminal(backend.backends);
    assert.equal(await terminal.run('resume'), 0);
    assert.match(terminal.stderr.text, /warning: No gate is configured\./u);
  });
});
