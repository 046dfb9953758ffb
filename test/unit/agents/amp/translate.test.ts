// The events of Amp's lines, one by one, including lines that no version should print.

import assert from 'node:assert/strict';
import { AmpTranslator, type AmpNews } from '../../../../server/agents/amp/translate.ts';
import { noUsage } from '../../../../server/agents/port.ts';

function translate(...lines: (object | string)[]): AmpNews[] {
  const translator = new AmpTranslator({ cwd: '/w', resumed: false, usageBefore: noUsage });
  return lines.map((line) =>
    translator.take(typeof line === 'string' ? line : JSON.stringify(line)),
  );
}

function assistant(content: unknown, more: object = {}): object {
  return { type: 'assistant', message: { role: 'assistant', content, ...more } };
}

const usage = { input_tokens: 5, output_tokens: 1, cache_read_input_tokens: 2 };

suite('lines of Amp', () => {
  const cases: readonly (readonly [string, object | string, AmpNews])[] = [
    ['an empty line', '  ', { events: [] }],
    ['no JSON', 'Oops', { events: [{ type: 'output', stream: 'stdout', text: 'Oops' }] }],
    [
      'JSON of something else',
      '[1]',
      { events: [{ type: 'output', stream: 'stdout', text: '[1]' }] },
    ],
    ['a type that nobody knows', { type: 'news', what: 1 }, { events: [] }],
    ['a system line that is no begin', { type: 'system', subtype: 'other' }, { events: [] }],
    ['content that is no list', assistant('text'), { events: [] }],
    ['a block that nobody knows', assistant([{ type: 'image' }, 3, null]), { events: [] }],
    [
      'our own prompt, which comes back',
      { type: 'user', message: { role: 'user', content: [{ type: 'text', text: 'do it' }] } },
      { events: [] },
    ],
    [
      'a path in the worktree',
      assistant([{ type: 'tool_use', id: 'a', name: 'Read', input: { path: '/w/src/a.ts' } }]),
      {
        events: [
          {
            type: 'tool_call',
            id: 'a',
            name: 'Read',
            title: 'Read src/a.ts',
            input: { path: '/w/src/a.ts' },
          },
        ],
      },
    ],
    [
      'a begin without a thread',
      { type: 'system', subtype: 'init' },
      { events: [{ type: 'started', agent: 'amp', sessionId: null, resumed: false }] },
    ],
    [
      'a good end',
      { type: 'result', subtype: 'success', is_error: false, result: 'ok' },
      { events: [], result: { subtype: 'success', isError: false, text: 'ok', deniedTools: [] } },
    ],
    [
      'an end that contradicts itself',
      { type: 'result', subtype: 'success', is_error: true, permission_denials: 'x' },
      { events: [], result: { subtype: 'success', isError: true, text: '', deniedTools: [] } },
    ],
    [
      'an end without a word',
      { type: 'result' },
      { events: [], result: { subtype: '', isError: true, text: '', deniedTools: [] } },
    ],
  ];
  for (const [title, line, news] of cases) {
    test(title, () => assert.deepEqual(translate(line), [news]));
  }

  test('the usage of one message counts once, however many lines report it', () => {
    const totals = translate(
      assistant([], { id: 'm1', usage }),
      assistant([], { id: 'm1', usage }),
      assistant([], { id: 'm2', usage }),
      assistant([], { usage }),
      assistant([], { usage }),
    ).map(({ events }) => {
      const [event] = events;
      return event?.type === 'usage' ? event.usage.inputTokens : null;
    });
    assert.deepEqual(totals, [5, 5, 10, 15, 20]);
  });
});
