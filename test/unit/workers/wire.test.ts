// The worker contract's wire: our messages, and the reading of others' messages.

import assert from 'node:assert/strict';
import { execReplySchema, workerEventSchema } from '../../../server/workers/wire-schemas.ts';
import { readWorkerHeader, workerHeader, writeEvent } from '../../../server/workers/wire.ts';

suite("the workers' protocol", () => {
  test('an event is two lines and a blank one, with sorted keys and text escaped as in stock runtimes', () => {
    assert.equal(
      writeEvent(0, { stream: 'stdout', line: '<a> & "b"\u2028' }),
      'id: 0\ndata: {"line":"\\u003ca\\u003e \\u0026 \\"b\\"\\u2028","stream":"stdout"}\n\n',
    );
    assert.equal(
      writeEvent(41, { signal: 'KILL', exit_code: -1, done: true }),
      'id: 41\ndata: {"done":true,"exit_code":-1,"signal":"KILL"}\n\n',
    );
  });

  const events: readonly (readonly [string, unknown, unknown])[] = [
    ['a line', { line: 'a', stream: 'stdout' }, { line: 'a', stream: 'stdout' }],
    ['a line of no stream', { line: 'a' }, { line: 'a' }],
    ['not done', { line: 'a', done: false }, { line: 'a', done: false }],
    ['fields of others', { line: 'a', at: 7 }, { line: 'a' }],
    ['done', { done: true, exit_code: 3 }, { done: true, exit_code: 3 }],
    ['nothing', {}, {}],
  ];
  for (const [name, sent, read] of events) {
    test(`an event is read: ${name}`, () => {
      assert.deepEqual(workerEventSchema.parse(sent), read);
    });
  }

  test('a done event without an exit code is not an event', () => {
    assert.equal(workerEventSchema.safeParse({ done: true }).success, false);
  });

  test('a job id that would lead to another path is refused', () => {
    assert.equal(execReplySchema.safeParse({ job_id: '../health' }).success, false);
    assert.equal(execReplySchema.safeParse({}).success, false);
    assert.equal(execReplySchema.safeParse({ job_id: 'a'.repeat(32) }).success, true);
  });

  test("a runtime's announcement is read as written, and a stock runtime announces nothing", () => {
    assert.deepEqual(readWorkerHeader(workerHeader()), {
      version: 1,
      features: new Set(['cancel', 'keepalive', 'partial', 'key']),
    });
    const stock = { version: 0, features: new Set() };
    assert.deepEqual(readWorkerHeader(undefined), stock);
    assert.deepEqual(readWorkerHeader('beta'), stock);
    assert.deepEqual(readWorkerHeader('2'), { version: 2, features: new Set() });
  });
});
