// Lines of an agent's log from other versions and other programs become lines that clients can
// read.

import assert from 'node:assert/strict';
import { checkedLine, type AgentEvent } from '../../../server/protocol/agent-events.ts';
import { logLineTimeMs, eventOfLine } from '../../../server/protocol/log-line.ts';

const at = 1_700_000_000_000;
const usage = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, costUsd: null };

/** One of each kind, as the drivers write them. */
const written: readonly AgentEvent[] = [
  { type: 'started', agent: 'claude', sessionId: null, resumed: true, model: 'm' },
  { type: 'started', agent: 'demo', sessionId: 's', resumed: false },
  { type: 'text', text: 'a' },
  { type: 'thinking', text: 'b' },
  { type: 'tool_call', id: '1', name: 'Bash', title: 'ls', input: { command: 'ls' } },
  { type: 'tool_result', id: '1', isError: true, text: 'c' },
  { type: 'output', stream: 'stderr', text: 'd' },
  { type: 'retry', attempt: 2, delayMs: 5, status: 529, error: 'busy' },
  { type: 'question', requestId: 'q', kind: 'permission', text: 'e', choices: ['yes', 'no'] },
  { type: 'question_withdrawn', requestId: 'q' },
  { type: 'answered', requestId: 'q', choice: 'yes' },
  { type: 'hint', id: 'h', text: 'f', state: 'dropped' },
  { type: 'usage', usage },
  { type: 'note', level: 'warning', text: 'g' },
  { type: 'exit', code: null, signal: 'SIGKILL' },
];

suite("lines of an agent's log", () => {
  for (const event of written) {
    test(`${event.type} is passed on unchanged`, () => {
      const stored = JSON.stringify({ at, ...event, of_a_later_version: [1] });
      const line = checkedLine(JSON.parse(stored) as object);
      assert.equal(JSON.stringify(line), stored);
      assert.equal(JSON.stringify(eventOfLine(line)), stored);
    });
  }

  const broken: readonly (readonly [object, object])[] = [
    [{ type: 'tool_call' }, { type: 'tool_call', id: '', name: '', title: '' }],
    [{ type: 'text' }, { type: 'text', text: '' }],
    [
      { type: 'text', text: 7, at: 'soon' },
      { type: 'text', text: '', at: 0 },
    ],
    [
      { type: 'started', agent: 'a-later-agent', resumed: 1 },
      { type: 'started', agent: 'a-later-agent', sessionId: null, resumed: false },
    ],
    [
      { type: 'output', stream: 'x', text: 'a' },
      { type: 'output', stream: 'stdout', text: 'a' },
    ],
    [{ type: 'retry' }, { type: 'retry', attempt: 1, delayMs: 0, status: null, error: '' }],
    [
      { type: 'question', choices: ['a', 1] },
      { type: 'question', requestId: '', kind: 'question', text: '', choices: ['a', ''] },
    ],
    [
      { type: 'usage', usage: { inputTokens: 5 } },
      { type: 'usage', usage: { ...usage, inputTokens: 5, outputTokens: 0, cacheReadTokens: 0 } },
    ],
    [
      { type: 'usage', usage: null },
      { type: 'usage', usage: { ...usage, inputTokens: 0, outputTokens: 0, cacheReadTokens: 0 } },
    ],
    [
      { type: 'exit', code: '0' },
      { type: 'exit', code: null, signal: null },
    ],
  ];
  for (const [stored, expected] of broken) {
    test(`${JSON.stringify(stored)} is repaired`, () => {
      const line: unknown = JSON.parse(JSON.stringify(checkedLine({ at, ...stored })));
      assert.deepEqual(line, { at, ...expected });
    });
  }

  test('an event of an unknown type stays as stored, and is read as a note', () => {
    const stored = { at, type: 'from_the_future', text: 'hello', more: true };
    const line = checkedLine(stored);
    assert.equal(line, stored);
    assert.deepEqual(eventOfLine(line), {
      type: 'note',
      level: 'info',
      text: 'from_the_future hello',
      at,
    });
    assert.equal(eventOfLine(checkedLine({ type: 'toString', at })).type, 'note');
  });

  test('times are milliseconds, even in logs that contain seconds', () => {
    assert.equal(logLineTimeMs({ at }), at);
    assert.equal(logLineTimeMs({ at: at / 1000 }), at);
    assert.equal(logLineTimeMs({ at: Number.NaN }), 0);
  });
});
