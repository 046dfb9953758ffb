// What happens to a request before its handler gets it: words are masked, and settings are read
// again.

import assert from 'node:assert/strict';
import { servedHandlers } from '../../../server/main/served-handlers.ts';
import type { RequestHandlers } from '../../../server/rpc/transport/local.ts';

suite('requests before their handlers', () => {
  const seen: unknown[] = [];
  const take =
    (name: string) =>
    async (params: unknown): Promise<void> => {
      seen.push([name, params]);
    };
  const handlers = {
    'task.add': take('task.add'),
    'task.hint': take('task.hint'),
    'run.start': take('run.start'),
    'runs.list': take('runs.list'),
  } as unknown as RequestHandlers;
  const mask = (): ((text: string) => string) => (text) => text.replaceAll('hunter2', '***');
  const served = servedHandlers(
    handlers,
    mask,
    () => 'm1',
    async () => {
      seen.push('settings');
    },
  );

  setup(() => {
    seen.length = 0;
  });

  test("a person's text is masked, and commands arrive unchanged", async () => {
    await served['task.hint']({ id: 'task-1', text: 'use hunter2' });
    await served['run.start']({ gate: 'check hunter2' });
    assert.deepEqual(seen, [
      ['task.hint', { id: 'task-1', text: 'use ***' }],
      'settings',
      ['run.start', { gate: 'check hunter2' }],
    ]);
  });

  test('settings are read once before requests that depend on them, and for nothing else', async () => {
    await served['task.add']({ title: 'of hunter2' });
    await served['runs.list']({});
    assert.deepEqual(seen, ['settings', ['task.add', { title: 'of ***' }], ['runs.list', {}]]);
  });

  test('if settings cannot be read, the handler is not called', async () => {
    const broken = servedHandlers(
      handlers,
      mask,
      () => 'm1',
      () => Promise.reject(new Error('no file')),
    );
    await assert.rejects(broken['run.start']({}), /no file/);
    assert.deepEqual(seen, []);
  });
});
