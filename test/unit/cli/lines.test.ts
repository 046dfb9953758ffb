// Each event as one line of a log, as people see it.

import assert from 'node:assert/strict';
import type { EventView } from '../../../server/protocol/api.ts';
import { checkedLine } from '../../../server/protocol/agent-events.ts';
import stringWidth from 'string-width';
import { fill, fillStart, fit, displayWidth, wrap } from '../../../server/cli/render/fit.ts';
import { durationText, progressBar } from '../../../server/cli/render/figures.ts';
import { eventLine } from '../../../server/cli/render/event-line.ts';
import { logLine } from '../../../server/cli/render/log-line.ts';
import { eventView } from '../../doubles/memory-feed.ts';

const timePattern = /^\d\d:\d\d:\d\d {2}/u;

suite('event lines', () => {
  function check(event: Partial<EventView>, expected: string): void {
    test(expected, () => {
      const line = eventLine(eventView({ seq: 1, ...event }));
      assert.match(line, timePattern);
      assert.equal(line.replace(timePattern, ''), expected);
    });
  }

  check(
    {
      type: 'agent.added',
      task_id: 'task-a',
      data: { attempt: 1, part: 'task-a', task: 'task-b', kind: 'follow_up', title: 'Write docs' },
    },
    'agent.added        task-a  follow-up task-b: Write docs',
  );
  check(
    {
      type: 'task.started',
      task_id: 'task-a',
      epic_id: 'epic-a',
      data: { attempt: 2, agent: 'claude' },
    },
    'task.started       task-a  attempt 2 · claude',
  );
  check(
    {
      type: 'task.failed',
      task_id: 'task-a',
      data: { error: 'red\u001b[31m\nand more', attempts: 3 },
    },
    'task.failed        task-a  red and more',
  );
  check(
    {
      type: 'task.completed',
      task_id: 'task-a',
      data: { sha: '0123456789abcdef', branch: 'main' },
    },
    'task.completed     task-a  main · 0123456789',
  );
  check(
    { type: 'task.conflict', task_id: 'task-a', data: { files: ['a.ts', 'b.ts', 5] } },
    'task.conflict      task-a  a.ts, b.ts',
  );
  check({ type: 'run.finished', run_id: 'run-1' }, 'run.finished       run-1');
  check(
    {
      type: 'run.finished',
      run_id: 'run-1',
      data: { completed: 2, failed: 1, left: 0, cancelled: 0 },
    },
    'run.finished       run-1  2 completed, 1 failed',
  );
  check(
    { type: 'branches.removed', data: { tasks: ['task-a', 'task-b'] } },
    'branches.removed     task-a, task-b',
  );
  check({ type: 'epic.landed', epic_id: 'epic-1' }, 'epic.landed        epic-1');
  check({ type: 'x\u001b]0;t\u0007y', data: { message: 5 } }, 'xy');

  check(
    {
      type: 'task.approved',
      task_id: 'task-a',
      data: { actor: { person: 'ada', machine: 'north', device: 'My \u001bphone' } },
    },
    'task.approved      task-a  by ada (My phone)',
  );

  test('a long event line is cut', () => {
    const line = eventLine(eventView({ seq: 1, data: { message: 'word '.repeat(100) } }));
    assert.ok(line.length < 220);
  });
});

suite('log lines', () => {
  function check(
    line: Readonly<Record<string, unknown>> & { readonly type: string },
    expected: string,
  ): void {
    test(expected, () => {
      const text = logLine(checkedLine({ ...line, at: 1_700_000_000_000 }));
      assert.match(text, timePattern);
      assert.equal(text.replace(timePattern, ''), expected);
    });
  }

  check({ type: 'started', agent: 'claude', resumed: false, model: 'm-1' }, '── claude starts m-1');
  check({ type: 'started', agent: 'claude', resumed: true }, '── claude resumes');
  check({ type: 'text', text: 'two\nlines\u001b[2J' }, 'two\n          lines');
  check({ type: 'thinking', text: 'hm' }, '(thinks) hm');
  check({ type: 'tool_call', id: '1', name: 'Bash', title: 'npm test', input: {} }, '→ npm test');
  check({ type: 'tool_call', id: '1', name: 'Bash', title: '', input: {} }, '→ Bash');
  check({ type: 'tool_result', id: '1', isError: true, text: 'no' }, '✗ no');
  check({ type: 'tool_result', id: '1', isError: false, text: 'yes\n' }, '← yes');
  check({ type: 'output', stream: 'stderr', text: 'oops' }, '! oops');
  check({ type: 'output', stream: 'stdout', text: 'fine' }, 'fine');
  check(
    { type: 'retry', attempt: 1, delayMs: 5, status: 529, error: 'busy' },
    '↻ the provider answered 529: busy',
  );
  check(
    { type: 'retry', attempt: 1, delayMs: 5, status: null, error: 'lost' },
    '↻ the provider answered nothing: lost',
  );
  check({ type: 'question', text: 'May I?', choices: [] }, '? May I?');
  check({ type: 'question_withdrawn', requestId: '1' }, '? withdrawn');
  check({ type: 'answered', requestId: '1', choice: 'allow' }, '? answered: allow');
  check({ type: 'hint', id: '1', text: 'look', state: 'delivered' }, 'hint (delivered): look');
  check({ type: 'usage', usage: { inputTokens: 5, outputTokens: 7 } }, '· 5 tokens in, 7 out');
  check({ type: 'usage', usage: null }, '· 0 tokens in, 0 out');
  check({ type: 'note', level: 'info', text: 'n' }, '· n');
  check({ type: 'exit', code: 0, signal: null }, '── ended with 0');
  check({ type: 'exit', code: null, signal: 'SIGKILL' }, '── ended by SIGKILL');
  check({ type: 'exit', code: 0, signal: null, left: 0 }, '── ended with 0; 0 processes left');
  check(
    { type: 'exit', code: 1, signal: null, ended: 1, left: 0 },
    '── ended with 1; 1 process that it left running killed; 0 processes left',
  );
  check({ type: 'something-new', text: 'x' }, '· something-new x');

  test('a long result is cut', () => {
    const text = Array.from({ length: 30 }, (_, at) => `line ${at}`).join('\n');
    const line = logLine(checkedLine({ type: 'tool_result', text, at: 1_700_000_000 }));
    assert.match(line, /… 18 more lines/u);
  });
});

suite('fitting', () => {
  const cases: readonly (readonly [string, number, string])[] = [
    ['hello', 5, 'hello'],
    ['hello!', 5, 'hell…'],
    ['hello world', 7, 'hello…'],
    ['日本語', 6, '日本語'],
    ['日本語', 5, '日本…'],
    ['日本語', 4, '日…'],
    ['👩‍👩‍👧‍👦 family', 4, '👩‍👩‍👧‍👦…'],
    ['anything', 1, '…'],
    ['anything', 0, ''],
    ['', 0, ''],
  ];
  for (const [text, width, expected] of cases) {
    test(`${text} fits into ${width} columns`, () => {
      assert.equal(fit(text, width), expected);
      assert.ok(displayWidth(fit(text, width)) <= width);
      assert.equal(displayWidth(fill(text, width)), width);
      assert.equal(displayWidth(fillStart(text, width)), width);
    });
  }

  test('text is wrapped', () => {
    assert.equal(wrap('  a: one two three', 10, '    '), '  a: one\n    two\n    three');
    assert.equal(wrap('averyveryverylongword x', 10), 'averyvery…\nx');
  });

  test('text that is measured separately has the same width everywhere', () => {
    for (let code = 0x20; code < 0x3000; code += 1) {
      const text = `a${String.fromCodePoint(code)}b`;
      assert.equal(displayWidth(text), stringWidth(text), code.toString(16));
    }
  });

  test('durations are formatted', () => {
    const texts = [-5, 0, 59.9, 60, 3599, 3600, 86_399, 86_400, 200_000].map(durationText);
    const expected = [
      '0s',
      '0s',
      '59s',
      '1m 00s',
      '59m 59s',
      '1h 00m',
      '23h 59m',
      '1d 00h',
      '2d 07h',
    ];
    assert.deepEqual(texts, expected);
  });

  test('bars are drawn', () => {
    const bars = [-1, 0, 50, 99, 100, 200].map((percent) => progressBar(percent, 4));
    assert.deepEqual(bars, ['░░░░', '░░░░', '██░░', '███░', '████', '████']);
  });
});
