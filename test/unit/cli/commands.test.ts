// Each command's requests to the backend, its output, and its exit code.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildProgram } from '../../../server/cli/program/program.ts';
import { taskRules } from '../../../server/core/exchange/task-rules.ts';
import { drover } from '../../doubles/drover.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { taskView } from '../../doubles/views.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('commands', () => {
  let folder = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-cli-'));
  });
  teardown(() => removeFolder(folder));

  function file(name: string, content: string | Buffer): string {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  }

  test('add and edit have an option for each field about how a task is done', () => {
    const host = { write: () => {}, writeError: () => {}, run: async () => {} };
    const program = buildProgram(host);
    for (const name of ['add', 'edit']) {
      const options = program.commands.find((one) => one.name() === name)?.options ?? [];
      const names = new Set(options.map((option) => option.attributeName()));
      const lacking = taskRules.filter(([field]) => !names.has(field)).map(([field]) => field);
      assert.deepEqual(lacking, [], `drover ${name}`);
    }
  });

  suite('requests of the commands', () => {
    function asks(args: readonly string[], name: string, params: unknown): void {
      test(args.join(' '), async () => {
        const backend = memoryBackend({
          'epic.edit': ({ id }) => ({ ...backend.epics.get('epic-1')!, id }),
          'task.hint': ({ id }) => taskView({ id }),
          'task.unpause': ({ id }) => taskView({ id }),
          'task.cancel': ({ id }) => taskView({ id, status: 'cancelled' }),
          'task.retry': ({ id }) => taskView({ id }),
          'task.resolve': ({ id }) => taskView({ id }),
          'task.send_back': ({ id }) => taskView({ id }),
          approve: ({ id }) => taskView({ id }),
          answer: () => taskView({ id: 'task-1' }),
          'worktree.prune': () => [],
          shutdown: () => ({ leaving: true, reason: '' }),
        });
        backend.setTask({ id: 'task-1' });
        const { code, err } = await drover(args, backend);
        assert.equal(code, 0, err);
        const call = backend.calls.find((each) => each.name === name);
        assert.deepEqual(call?.params, params);
      });
    }

    asks(['add', 'Say hello'], 'task.add', { title: 'Say hello' });
    asks(['add', 'task-x.5 Do it'], 'task.add', { title: 'Do it', parent: 'task-x', sequence: 5 });
    asks(['add', 'task-x.5.2 Do it'], 'task.add', {
      title: 'Do it',
      parent: 'task-x.5',
      sequence: 2,
    });
    for (const title of ['v1.2 release', 'task-x.5', 'task-x. y', 'utf-8.1 text', 'Task-x.1 a']) {
      asks(['add', title], 'task.add', { title });
    }
    asks(['add', 'task-x.5 Do it', '--parent', 'task-y'], 'task.add', {
      title: 'Do it',
      parent: 'task-y',
    });
    asks(
      (
        'add T -d -C_is_broken -e epic-1 -P task-1 -p High --blocked-by a,b --blocked-by c ' +
        '--type bug --label x --label y --accept one --agent codex --model gpt-5 --gate make --test-mode strict ' +
        '--test-scope all --max-attempts 2'
      ).split(' '),
      'task.add',
      {
        title: 'T',
        description: '-C_is_broken',
        epic: 'epic-1',
        parent: 'task-1',
        priority: 'high',
        blocked_by: ['a', 'b', 'c'],
        type: 'bug',
        labels: ['x', 'y'],
        accept: ['one'],
        agent: 'codex',
        model: 'gpt-5',
        gate: 'make',
        test_mode: 'strict',
        test_scope: 'all',
        max_attempts: 2,
      },
    );
    asks(['add', 'T', '-p', '-5', '--test-command', 'make'], 'task.add', {
      title: 'T',
      priority: -5,
      gate: 'make',
    });
    asks(['edit', 'task-1', '--no-epic'], 'task.edit', { id: 'task-1', epic: null });
    asks(['edit', 'task-1', '--epic', 'e', '--title', 'N'], 'task.edit', {
      id: 'task-1',
      epic: 'e',
      title: 'N',
    });
    asks(['edit', 'task-1', '--add-blocker', 'a', '--remove-blocker', 'b,c'], 'task.edit', {
      id: 'task-1',
      add_blockers: ['a'],
      remove_blockers: ['b', 'c'],
    });
    asks(['edit', 'task-1', '--model', ''], 'task.edit', { id: 'task-1', model: '' });
    asks(['epic', 'add', 'E', '-d', 'text'], 'epic.add', { title: 'E', description: 'text' });
    asks(['hint', 'task-1', 'look there'], 'task.hint', { id: 'task-1', text: 'look there' });
    asks(['unpause', 'task-1'], 'task.unpause', { id: 'task-1' });
    asks(['resume-task', 'task-1', '--hint', 'h'], 'task.unpause', { id: 'task-1', hint: 'h' });
    asks(['cancel', 'task-1', '--reason', 'r'], 'task.cancel', { id: 'task-1', reason: 'r' });
    asks(['retry', 'task-1', '--force'], 'task.retry', { id: 'task-1', force: true });
    asks(['resolve', 'task-1'], 'task.resolve', { id: 'task-1' });
    asks(['resolve', 'task-1', '--note', 'n'], 'task.resolve', { id: 'task-1', note: 'n' });
    asks(['send-back', 'task-1', 't'], 'task.send_back', { id: 'task-1', text: 't' });
    asks(['approve', 'task-1'], 'approve', { id: 'task-1' });
    asks(['answer', 'q-1', 'allow'], 'answer', { id: 'q-1', choice: 'allow' });
    asks(['worktree', 'prune', '-f', '--dry-run'], 'worktree.prune', {
      dry_run: true,
      force: true,
    });
    asks(['server', 'stop'], 'shutdown', { force: false });
  });

  suite('invalid command lines: 64', () => {
    const wrong: readonly (readonly string[])[] = [
      [],
      ['nonsense'],
      ['add'],
      ['add', 'a', 'b'],
      ['add', 'a', '--nonsense'],
      ['add', 'a', '-p', '1.5'],
      ['add', 'a', '-p', 'soon'],
      ['add', 'a', '--max-attempts', 'x'],
      ['add', 'a', '--gate', 'x', '--test-command', 'y'],
      ['add', 'a', '-d', 'x', '--description-file', 'y'],
      ['run', '-w', 'many'],
      ['run', '-w'],
      ['run', '--land', 'somehow'],
      ['epic'],
      ['epic', 'nonsense'],
      ['worktree'],
      ['server'],
      ['events', '--after', 'x'],
      ['import'],
      ['import', 'a', '--format', 'csv'],
      ['export', '-f', 'csv'],
      ['completion', 'tcsh'],
      ['log'],
      ['search'],
      ['search', 'a', '--limit', 'many'],
    ];
    for (const args of wrong) {
      test(args.join(' ') || 'no command', async () => {
        const { code, out, err, backend } = await drover(args);
        assert.equal(code, 64);
        assert.equal(out, '');
        assert.notEqual(err, '');
        assert.deepEqual(backend.calls, []);
      });
    }

    test('a correction is suggested for a misspelled command', async () => {
      assert.match((await drover(['stauts'])).err, /Did you mean status\?/u);
    });

    test('help for an unknown command is refused', async () => {
      for (const args of [
        ['nonsense', '--help'],
        ['stauts', '-h'],
        ['-C', '.', 'stauts', '-h'],
        ['help', 'nonsense'],
        ['help', 'stauts'],
      ]) {
        const { code, out, err } = await drover(args);
        assert.deepEqual([code, out], [64, '']);
        assert.match(err, /unknown command/u);
      }
      assert.match((await drover(['stauts', '--help'])).err, /Did you mean status\?/u);
      for (const [line, nearest] of [
        ['run --epik x --help', '--epic'],
        ['run -h --wrokers=3', '--workers'],
        ['epic lits --help', 'list'],
        ['-h worktree prune --dryrun', '--dry-run'],
      ] as const) {
        const { code, err, out } = await drover(line.split(' '));
        assert.deepEqual([code, out], [64, ''], line);
        assert.ok(err.includes(`Did you mean ${nearest}?`), err);
      }
      for (const line of ['run -w3 -h', 'epic add -h', 'add -d --nonsense -h', 'run -h -- --x']) {
        assert.equal((await drover(line.split(' '))).code, 0, line);
      }
      const known = await drover(['-C', '.', 'status', '--help']);
      assert.equal(known.code, 0);
      assert.match(known.out, /Usage: drover status/u);
    });

    const words: readonly (readonly [string, RegExp])[] = [
      ['watch', /drover status --watch/u],
      ['stream task-1', /drover log <id> --follow/u],
      ['info', /drover doctor/u],
      ['quick x', /drover add/u],
      ['dashboard', /status --watch/u],
      ['share --help', /drover export/u],
      ['worktree cleanup', /drover worktree prune/u],
      ['run --skip-validation', /leave it out/u],
      ['run -v', /drover log <id> --follow/u],
      ['run --test-mode lenient', /--test-mode <mode> belongs to a task/u],
    ];
    for (const [line, expected] of words) {
      test(`${line} works as in the original Go tool`, async () => {
        const { code, err } = await drover(line.split(' '));
        assert.equal(code, 64);
        assert.match(err, expected);
      });
    }

    test('with --json, the reason is on standard output', async () => {
      const { out } = await drover(['run', '-w', 'x', '--json']);
      assert.equal(JSON.parse(out).error.kind, 'usage');
    });
  });

  suite('refusals: 3', () => {
    test('a refusal is one sentence on standard error, and with --json the object on standard output', async () => {
      const backend = memoryBackend();
      const plain = await drover(['edit', 'task-9', '--title', 'x'], backend);
      assert.deepEqual([plain.code, plain.out], [3, '']);
      assert.equal(plain.err, 'drover: There is no task task-9.\n');
      const json = await drover(['edit', 'task-9', '--title', 'x', '--json'], backend);
      assert.equal(json.code, 3);
      assert.deepEqual(JSON.parse(json.out), {
        error: { kind: 'unknown_id', message: 'There is no task task-9.' },
      });
    });

    test('a folder without a project is refused', async () => {
      const backend = memoryBackend({}, { findProject: () => null });
      const { code, err } = await drover(['status'], backend);
      assert.equal(code, 3);
      assert.match(err, /drover init/u);
    });

    const wrongRuntimes: readonly (readonly string[])[] = [
      ['--listen', 'x'],
      ['--listen', '127.0.0.1:65536'],
      ['--max-upload', 'much'],
      ['--lifetime', 'long'],
      ['here'],
    ];
    for (const args of wrongRuntimes) {
      test(`worker-runtime ${args.join(' ')}`, async () => {
        const { code, err } = await drover(['worker-runtime', ...args]);
        assert.equal(code, 64);
        assert.match(err, new RegExp(args.at(-1) ?? ''));
      });
    }

    test('any other failure exits with 1', async () => {
      const backend = memoryBackend({
        why: () => {
          throw new Error('broken');
        },
      });
      const { code, err } = await drover(['why', 'x'], backend);
      assert.deepEqual([code, err], [1, 'drover: broken\n']);
    });
  });

  suite('answers', () => {
    test('init prints its answer', async () => {
      const { code, out } = await drover(['init', '--json']);
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(out), {
        root: '/project',
        database: '/project/.drover/drover.db',
      });
      const again = memoryBackend(
        {},
        { initProject: async (root) => ({ root, database: 'd', already: true }) },
      );
      const second = await drover(['init'], again);
      assert.equal(second.code, 0);
      assert.match(second.out, /already/u);
    });

    test('add --json prints id, status and warnings, and nothing else', async () => {
      const { out, err } = await drover(['add', 'abc', '--json']);
      assert.deepEqual(JSON.parse(out), {
        id: 'task-1',
        status: 'ready',
        warnings: ['The title is short.'],
      });
      assert.equal(err, 'warning: The title is short.\n');
    });

    test('the description is read from a file or from standard input', async () => {
      const path = file('notes.md', 'Notes\n');
      const { backend } = await drover(['add', 'T', '--description-file', path]);
      assert.deepEqual(backend.calls[0]?.params, { title: 'T', description: 'Notes\n' });
      const piped = await drover(['add', 'T', '--description-file', '-'], memoryBackend(), (on) => {
        on.stdin = Buffer.from('Piped');
      });
      assert.deepEqual(piped.backend.calls[0]?.params, { title: 'T', description: 'Piped' });
      const missing = await drover(['add', 'T', '--description-file', join(folder, 'none')]);
      assert.equal(missing.code, 3);
      assert.deepEqual(missing.backend.calls, []);
    });

    test('-C chooses the folder, before and after the command', async () => {
      for (const args of [
        ['-C', '/elsewhere', 'status'],
        ['status', '-C', '/elsewhere'],
      ]) {
        const { backend } = await drover(args);
        assert.equal(backend.opened[0]?.root, '/elsewhere');
      }
    });

    test('read commands need no engine, and steering does', async () => {
      const needs: Record<string, string> = {};
      for (const args of [['status'], ['add', 'x'], ['events'], ['reset']]) {
        const backend = memoryBackend({ reset: () => ({ reset: [], refused: [] }) });
        await drover(args, backend);
        needs[args[0]!] = backend.opened[0]!.need;
      }
      assert.deepEqual(needs, { status: 'data', add: 'data', events: 'data', reset: 'engine' });
    });

    test('pause waits until the task is paused, and reports if it is not', async () => {
      let looks = 0;
      const working = taskView({ id: 'task-1', status: 'in_progress' });
      const backend = memoryBackend({
        'task.pause': () => working,
        'task.show': () => {
          looks += 1;
          return looks < 3 ? working : { ...working, status: 'paused' };
        },
      });
      const { code, out } = await drover(['pause', 'task-1', '--json'], backend);
      assert.equal(code, 0);
      assert.equal(JSON.parse(out).status, 'paused');
      const never = memoryBackend({ 'task.pause': () => working, 'task.show': () => working });
      const late = await drover(['pause', 'task-1'], never);
      assert.equal(late.code, 1);
      assert.match(late.err, /still in_progress after 15 s/u);
    });

    test('reset: a refused task determines the exit code', async () => {
      const refused = [{ id: 'task-1', reason: 'Its owner is alive.' }];
      for (const [result, code] of [
        [{ reset: [], refused: [] }, 0],
        [{ reset: ['task-2'], refused: [] }, 0],
        [{ reset: [], refused }, 3],
        [{ reset: ['task-2'], refused }, 1],
      ] as const) {
        const backend = memoryBackend({ reset: () => result });
        assert.equal((await drover(['reset', '--failed'], backend)).code, code);
      }
    });

    test('reset of one task prints the task', async () => {
      const backend = memoryBackend({ reset: () => ({ reset: ['task-1'], refused: [] }) });
      backend.setTask({ id: 'task-1' });
      const { out } = await drover(['reset', 'task-1', '--json'], backend);
      const answer = JSON.parse(out);
      assert.deepEqual([answer.id, answer.status, answer.reset], ['task-1', 'ready', ['task-1']]);
    });

    test('server stop works without a backend', async () => {
      const backend = memoryBackend({}, { openClient: async () => null });
      assert.equal((await drover(['server', 'stop'], backend)).code, 0);
    });

    test("agents' text cannot forge the screen", async () => {
      const backend = memoryBackend({ why: () => ({ id: 'x', reasons: ['a\u001b[2J\nb\rc'] }) });
      assert.equal((await drover(['why', 'x'], backend)).out, 'a bc\n');
    });
  });
});
