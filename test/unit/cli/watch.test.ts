// Watching while a person looks: status --watch and events --follow, across the death of a backend.

import assert from 'node:assert/strict';
import type { Client } from '../../../server/protocol/api.ts';
import { localClient } from '../../../server/rpc/transport/local.ts';
import { memoryBackend, type MemoryBackend } from '../../doubles/memory-backend.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 1));
}

/** Its first client can die. */
function mortalBackend(): { backend: MemoryBackend; die: () => void; opened: () => number } {
  let opened = 0;
  let die: () => void = () => {};
  const openClient = async (): Promise<Client> => {
    opened += 1;
    if (opened === 2) throw new Error('not yet');
    const client = localClient(backend.handlers, backend.feed);
    if (opened > 1) return client;
    return {
      ...client,
      follow: async (after, onEvents, onEnd) => {
        const stop = await client.follow(after, onEvents, onEnd);
        die = () => {
          stop();
          onEnd('killed');
        };
        return stop;
      },
    };
  };
  const backend = memoryBackend({}, { openClient });
  return { backend, die: () => die(), opened: () => opened };
}

suite('watching', () => {
  test('status --watch updates on each change until Ctrl-C', async () => {
    const backend = memoryBackend();
    backend.setTask({ id: 'task-1' });
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('status', '--watch', '--oneline');
    await until(() => terminal.stdout.text !== '');
    backend.setTask({ id: 'task-1', status: 'completed' });
    backend.feed.append({});
    await until(() => terminal.stdout.text.includes('1 completed'));
    terminal.interrupt();
    assert.equal(await ended, 130);
    assert.equal(terminal.stdout.text.trim().split('\n').length, 2);
  });

  test('status --watch --json writes one object per line', async () => {
    const backend = memoryBackend();
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('status', '--watch', '--json');
    await until(() => terminal.stdout.text !== '');
    backend.feed.append({});
    await until(() => terminal.stdout.text.split('\n').length === 3);
    terminal.interrupt();
    await ended;
    const lines = terminal.stdout.text.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { seq: number }).seq),
      [0, 1],
    );
  });

  test('events --follow continues with the next backend, without missing or duplicate events', async () => {
    const { backend, die, opened } = mortalBackend();
    backend.feed.append({}, {});
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('events', '--follow', '--limit', '4', '--json');
    await until(() => terminal.stdout.text.split('\n').length === 3);
    die();
    backend.feed.append({}, {});
    assert.equal(await ended, 0);
    const lines = terminal.stdout.text.trim().split('\n');
    assert.deepEqual(
      lines.map((line) => (JSON.parse(line) as { seq: number }).seq),
      [1, 2, 3, 4],
    );
    assert.equal(opened(), 3);
  });

  test('status --watch asks the next backend', async () => {
    const { backend, die } = mortalBackend();
    const terminal = memoryTerminal(backend.backends);
    const ended = terminal.run('status', '--watch', '--oneline');
    await until(() => terminal.stdout.text !== '');
    die();
    await until(() => terminal.stdout.text.split('\n').length === 3);
    terminal.interrupt();
    assert.equal(await ended, 130);
  });

  test('if no backend answers again, it exits with 1', async () => {
    let opened = 0;
    const backend = memoryBackend(
      {},
      {
        openClient: async () => {
          opened += 1;
          if (opened > 1) throw new Error('no way');
          const client = localClient(backend.handlers, backend.feed);
          return {
            ...client,
            follow: async (_after, _onEvents, onEnd) => {
              setImmediate(() => onEnd('killed'));
              return () => {};
            },
          };
        },
      },
    );
    const terminal = memoryTerminal(backend.backends);
    assert.equal(await terminal.run('events', '--follow'), 1);
    assert.ok(opened < 12);
  });
});
