// import, export, events and log: input, output, and when they end.

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Refusal } from '../../../server/core/failure.ts';
import { drover } from '../../doubles/drover.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('exchange and logs', () => {
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

  suite('import', () => {
    const nothing = {
      imported: { epics: 0, tasks: 0 },
      unchanged: 0,
      differs: [],
      errors: [],
      warnings: [],
    };

    const one = { ...nothing, imported: { epics: 0, tasks: 1 } };

    test('a file from which nothing is imported is a failure, and nothing runs afterwards', async () => {
      const path = file('plan.jsonl', '');
      const backend = memoryBackend({ import: () => nothing });
      const { code, out, err } = await drover(['import', path, '--continue', '--json'], backend);
      assert.equal(code, 1);
      assert.deepEqual(JSON.parse(out), nothing);
      assert.match(err, /has no epic and no task to import; nothing was imported\./u);
      assert.equal(backend.calls.length, 1);
    });

    test('the text and the lines that are not UTF-8 are passed on', async () => {
      const path = file('plan.jsonl', Buffer.from([0x61, 10, 0xff, 0xfe, 10, 0x62, 10, 0xc3]));
      const backend = memoryBackend({ import: () => one });
      const { code } = await drover(['import-jsonl', path, '--dry-run', '--rename'], backend);
      assert.equal(code, 0);
      assert.deepEqual(backend.calls[0]?.params, {
        text: 'a\n\ufffd\ufffd\nb\n\ufffd',
        bad_utf8_lines: [2, 4],
        file: path,
        format: 'auto',
        dry_run: true,
        update: false,
        rename: true,
        skip_invalid: false,
      });
    });

    test('a bad file is refused with every invalid line, and nothing runs afterwards', async () => {
      const path = file('plan.jsonl', '{');
      const error = { line: 1, code: 'json', kind: 'json', id: null, message: 'This is no JSON.' };
      const backend = memoryBackend({ import: () => ({ ...nothing, errors: [error] }) });
      const { code, out, err } = await drover(['import', path, '--continue', '--json'], backend);
      assert.equal(code, 3);
      const answer = JSON.parse(out);
      assert.equal(answer.error.kind, 'bad_import');
      assert.deepEqual(answer.errors, [error]);
      assert.match(err, /plan\.jsonl:1: This is no JSON\./u);
      assert.deepEqual(
        backend.calls.map((call) => call.name),
        ['import'],
      );
    });

    test('a missing file or a folder is refused without a request to the backend', async () => {
      for (const path of [join(folder, 'none.jsonl'), folder]) {
        const { code, backend } = await drover(['import', path]);
        assert.equal(code, 3);
        assert.deepEqual(backend.calls, []);
      }
    });

    test('--continue starts a run, which determines the exit code', async () => {
      const path = file('plan.jsonl', '{}');
      const backend = memoryBackend({ import: () => one });
      backend.setTask({ id: 'task-1', status: 'failed' });
      void backend
        .answered('run.start')
        .then(() => backend.feed.append({ type: 'run.finished', run_id: 'run-1' }));
      const { code, out } = await drover(['import', path, '--continue', '--json'], backend);
      assert.equal(code, 1);
      const lines = out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      assert.deepEqual(lines[0], one);
      assert.equal(lines.at(-1).type, 'run.finished');
    });
  });

  suite('export', () => {
    const text = '{"version":"1.0"}';

    test('export writes to standard output and to a file', async () => {
      const backend = memoryBackend({ export: () => ({ text }) });
      assert.equal((await drover(['export'], backend)).out, `${text}\n`);
      const path = join(folder, 'out.drover');
      const { code, out } = await drover(['export', '-f', 'json', '-o', path, '--json'], backend);
      assert.equal(code, 0);
      assert.deepEqual(JSON.parse(out), { file: path, format: 'json', bytes: text.length + 1 });
      assert.equal(readFileSync(path, 'utf8'), `${text}\n`);
    });

    test('beads: the current file is sent, and read again if it changes in between', async () => {
      const path = file('issues.jsonl', 'one\n');
      const presents: unknown[] = [];
      const backend = memoryBackend({
        export: ({ present = '' }) => {
          presents.push(present);
          if (presents.length === 1) writeFileSync(path, 'one\ntwo\n');
          return { text: `${present}ours\n`, kept: ['a'] };
        },
      });
      const { code, err } = await drover(['export', '-f', 'beads', '-o', path], backend);
      assert.equal(code, 0);
      assert.deepEqual(presents, ['one\n', 'one\ntwo\n']);
      assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\nours\n');
      assert.match(err, /a is newer/u);
      assert.deepEqual(readdirSync(folder), ['issues.jsonl']);
    });

    test('beads: a file that was not merged is not overwritten', async () => {
      const path = file('issues.jsonl', 'theirs\n');
      const backend = memoryBackend({ export: () => ({ text: 'ours\n' }) });
      assert.equal((await drover(['export', '-f', 'beads', '-o', path], backend)).code, 3);
      assert.equal(readFileSync(path, 'utf8'), 'theirs\n');
      const fresh = join(folder, 'new.jsonl');
      assert.equal((await drover(['export', '-f', 'beads', '-o', fresh], backend)).code, 0);
      assert.equal(readFileSync(fresh, 'utf8'), 'ours\n');
    });

    test('a missing folder is refused', async () => {
      const backend = memoryBackend({ export: () => ({ text }) });
      const { code } = await drover(['export', '-o', join(folder, 'no', 'x')], backend);
      assert.equal(code, 3);
    });
  });

  suite('events and log', () => {
    test('events can be filtered by number, type, task and limit', async () => {
      const backend = memoryBackend();
      for (let count = 1; count <= 2500; count += 1) {
        const type = count % 2 === 0 ? 'task.completed' : 'task.started';
        backend.feed.append({ type, task_id: `task-${count % 10}` });
      }
      const seqs = async (...args: readonly string[]): Promise<number[]> => {
        const { out } = await drover(['events', '--json', ...args], backend);
        const lines = out.split('\n').filter((line) => line !== '');
        return lines.map((line) => JSON.parse(line).seq as number);
      };
      assert.equal((await seqs()).length, 2500);
      assert.deepEqual(await seqs('--after', '2497'), [2498, 2499, 2500]);
      assert.deepEqual(await seqs('--limit', '2', '--type', 'task.completed'), [2, 4]);
      assert.deepEqual(await seqs('--task', 'task-7', '--limit', '1'), [7]);
      assert.equal((await seqs('--limit', '1500')).length, 1500);
      assert.deepEqual(await seqs('--limit', '0'), []);
    });

    test('events --follow ends when the requested number is reached', async () => {
      const backend = memoryBackend();
      backend.feed.append({}, {});
      void backend.feed.listened.then(() => backend.feed.append({}, {}));
      const { code, out } = await drover(['events', '--follow', '--limit', '3', '--json'], backend);
      assert.equal(code, 0);
      assert.equal(out.trim().split('\n').length, 3);
    });

    test('events --follow ends quietly when its output is closed', async () => {
      const backend = memoryBackend();
      const { code, err } = await drover(['events', '--follow'], backend, (terminal) => {
        void backend.feed.listened.then(() => terminal.stdout.breakPipe());
      });
      assert.deepEqual([code, err], [0, '']);
    });

    test('events --follow exits with 130 on Ctrl-C', async () => {
      const backend = memoryBackend();
      const { code } = await drover(['events', '--follow'], backend, (terminal) => {
        void backend.feed.listened.then(() => terminal.interrupt());
      });
      assert.equal(code, 130);
    });

    test('log reads page by page, and with --follow until the attempt has ended', async () => {
      const offsets: unknown[] = [];
      const backend = memoryBackend({
        'log.read': ({ id, offset = 0, attempt = 2 }) => {
          offsets.push([offset, attempt]);
          const events =
            offset < 30 ? [{ type: 'text', at: 1_700_000_000_000, text: `at ${offset}` }] : [];
          return {
            task_id: id,
            attempt,
            events,
            offset,
            next_offset: Math.min(30, offset + 10),
            size: 30,
            // Like the real log: the end is reported only at the end of the log.
            ended: offset >= 30 && offsets.length > 11,
          };
        },
      });
      backend.setTask({ id: 'task-1' });
      const once = await drover(['log', 'task-1', '--json'], backend);
      assert.equal(once.out.trim().split('\n').length, 3);
      assert.deepEqual(offsets, [
        [0, 2],
        [0, 2],
        [0, 2],
        [10, 2],
        [20, 2],
        [30, 2],
      ]);
      const follow = await drover(['log', 'task-1', '--follow'], backend);
      assert.equal(follow.code, 0);
      assert.equal(follow.out.match(/at 20/gu)?.length, 1);
    });

    test('the log of a parent includes its sub-tasks, in the order in which they started', async () => {
      const begun = new Map([
        ['task-1.1', 20],
        ['task-1.1.1', 10],
        ['task-1.2', 30],
        ['task-1', 40],
      ]);
      const backend = memoryBackend({
        'log.read': ({ id, offset = 0 }) => {
          const at = begun.get(id);
          const isStart = offset === 0 && at !== undefined;
          const events = isStart ? [{ type: 'text', at, text: `I am ${id}` }] : [];
          const next = at ?? 0;
          return {
            task_id: id,
            attempt: 1,
            events,
            offset,
            next_offset: next,
            size: next,
            ended: offset === next,
          };
        },
      });
      backend.setTask({ id: 'task-1', title: 'All of it' });
      for (const id of ['task-1.1', 'task-1.2', 'task-1.3'])
        backend.setTask({ id, parent_id: 'task-1' });
      backend.setTask({ id: 'task-1.1.1', parent_id: 'task-1.1' });
      backend.setTask({ id: 'task-2' });
      for (const flags of [[], ['--follow']]) {
        const { out } = await drover(['log', 'task-1', '--json', ...flags], backend);
        const lines = out.trim().split('\n');
        assert.deepEqual(
          lines.map((line) => (JSON.parse(line) as { task_id: string }).task_id),
          ['task-1.1.1', 'task-1.1', 'task-1.2', 'task-1'],
        );
      }
      const own = await drover(['log', 'task-1.1'], backend);
      assert.match(
        own.out,
        /== task-1\.1\.1[^]*I am task-1\.1\.1[^]*== task-1\.1 [^]*I am task-1\.1/u,
      );
      assert.doesNotMatch(own.out, /task-1\.2/u);
    });

    test('a task without an attempt prints nothing, and the command says so', async () => {
      const backend = memoryBackend({
        'log.read': ({ id }) => ({
          task_id: id,
          attempt: 0,
          events: [],
          offset: 0,
          next_offset: 0,
          size: 0,
          ended: false,
        }),
      });
      const { code, out, err } = await drover(['log', 'task-1', '--json'], backend);
      assert.deepEqual([code, out], [0, '']);
      assert.match(err, /task-1 has no attempts yet/u);
    });

    test('log --prompt prints the prompt', async () => {
      const backend = memoryBackend({
        'log.prompt': ({ id, attempt = 1 }) => ({ task_id: id, attempt, prompt: 'Do\u001b[0m it' }),
      });
      const { out } = await drover(['log', 'task-1', '--prompt'], backend);
      assert.equal(out, 'Do\u001b[0m it\n', 'byte for byte into a file');
      const terminal = memoryTerminal(backend.backends, true);
      assert.equal(await terminal.run('log', 'task-1', '--prompt'), 0);
      assert.equal(terminal.stdout.text, 'Do it\n');
    });

    test('an unknown task is refused', async () => {
      const backend = memoryBackend({
        'log.read': () => {
          throw new Refusal('unknown_id', 'There is no task x.');
        },
      });
      assert.equal((await drover(['log', 'x', '--follow'], backend)).code, 3);
    });
  });
});
