// Events of a log become entries that people can read.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseQuestions } from '../../../../server/agents/claude/permissions.ts';
import { Translator } from '../../../../server/agents/claude/translate.ts';
import { asObject } from '../../../../server/agents/kit/wire/json-line.ts';
import { checkedLine } from '../../../../server/protocol/agent-events.ts';
import type { LogLineView } from '../../../../server/protocol/log-line.ts';
import { entryLabel, entryText } from '../../../../webview/shared/log/entry-text.ts';
import {
  outputLinesMax,
  Transcript,
  type Entry,
} from '../../../../webview/shared/log/transcript.ts';

const at = 1_700_000_000_000;
const line = (event: Readonly<Record<string, unknown>> & { readonly type: string }): LogLineView =>
  checkedLine({ at, ...event });

function entriesOf(...events: Parameters<typeof line>[0][]): readonly Entry[] {
  const transcript = new Transcript(0);
  transcript.append(events.map(line), true);
  return transcript.entries;
}

const kinds = (entries: readonly Entry[]): string[] => entries.map((entry) => entry.body.kind);
const output = (text: string, stream = 'stdout'): Parameters<typeof line>[0] => ({
  type: 'output',
  stream,
  text,
});

suite('transcript', () => {
  test('the time of a call excludes the wait for a permission', () => {
    const asked = { type: 'question', requestId: 'q', kind: 'permission', text: 'May I?' };
    const [call] = entriesOf(
      { type: 'tool_call', id: 'a', name: 'Bash', title: 'npm test', input: {}, at },
      { ...asked, choices: ['Allow'], at: at + 200 },
      { type: 'answered', requestId: 'q', choice: 'Allow', at: at + 60_000 },
      { type: 'tool_result', id: 'a', isError: false, text: '', at: at + 61_000 },
    );
    assert.ok(call?.body.kind === 'tool' && call.body.result !== null);
    assert.equal(call.body.result.atMs - call.atMs - call.body.result.waitedMs, 1_200);
  });

  test('a result joins its call, whatever is in between', () => {
    const entries = entriesOf(
      { type: 'tool_call', id: 'a', name: 'Bash', title: 'Bash ls', input: { command: 'ls' } },
      { type: 'tool_call', id: 'b', name: 'Read', title: 'Read x', input: { file_path: 'x' } },
      { type: 'text', text: 'meanwhile' },
      { type: 'tool_result', id: 'b', isError: true, text: 'no such file' },
      { type: 'tool_result', id: 'a', isError: false, text: 'one\ntwo' },
    );
    assert.deepEqual(entries.map(entryText), [
      'Bash ls\nls\none\ntwo',
      'Read x\nfile_path: x\nno such file',
      'meanwhile',
    ]);
    assert.deepEqual(entries.map(entryLabel), [
      'Tool: Bash ls',
      'Tool: Read x, failed',
      'Agent says: meanwhile',
    ]);
  });

  test('a result without its call is shown alone', () => {
    const entries = entriesOf({ type: 'tool_result', id: 'x', isError: false, text: 'late' });
    assert.deepEqual(kinds(entries), ['result']);
  });

  test('output becomes blocks of one stream', () => {
    const entries = entriesOf(
      output('1'),
      output('2'),
      output('e', 'stderr'),
      { type: 'text', text: 't' },
      output('3'),
    );
    assert.deepEqual(entries.map(entryText), ['1\n2', 'e', 't', '3']);
    const many = entriesOf(...Array.from({ length: 100 }, (_, index) => output(String(index))));
    assert.deepEqual(
      many.map(({ key, body }) => [key, body.kind === 'output' ? body.lines.length : 0]),
      [
        [0, outputLinesMax],
        [outputLinesMax, outputLinesMax],
        [2 * outputLinesMax, 20],
      ],
    );
  });

  test('a growing block shows that it grows', () => {
    const transcript = new Transcript(0);
    transcript.append([line(output('1'))], true);
    const [entry] = transcript.entries;
    const before = entry?.revision;
    transcript.append([line(output('2'))], false);
    assert.equal(transcript.entries.length, 1);
    assert.notEqual(entry?.revision, before);
  });

  test('a question keeps its answer, a hint its state, and retries their number', () => {
    const asks = {
      type: 'question',
      kind: 'permission',
      text: 'May I?',
      choices: ['Allow', 'Deny'],
    };
    const entries = entriesOf(
      { ...asks, requestId: '1' },
      { ...asks, requestId: '2' },
      { type: 'answered', requestId: '1', choice: 'Allow' },
      { type: 'question_withdrawn', requestId: '2' },
      { type: 'hint', id: 'h', text: 'hurry', state: 'sent' },
      { type: 'hint', id: 'h', text: 'hurry', state: 'delivered' },
      { type: 'retry', attempt: 1, delayMs: 1000, status: 529, error: 'overloaded' },
      { type: 'retry', attempt: 2, delayMs: 2000, status: 529, error: 'overloaded' },
    );
    assert.deepEqual(entries.map(entryText), [
      'May I?\nAnswered: Allow',
      'May I?\nWithdrawn: no answer is needed anymore.',
      'hurry',
      'The provider answered 529: overloaded (2 times); tried again after 2 s',
    ]);
  });

  test('an unknown event is a note, and a broken one does no harm', () => {
    const entries = entriesOf(
      { type: 'from_the_future', text: 'hello' },
      { type: 'text', text: 7 },
      { type: 'tool_call' },
      { type: 'tool_result', id: null },
      { type: 'question', choices: 'none' },
      { type: 'output' },
      { type: 'retry', delayMs: 'soon' },
      { type: 'usage', usage: 'much' },
      { type: 'exit', code: '0' },
    );
    assert.deepEqual(kinds(entries), [
      'note',
      'tool',
      'result',
      'question',
      'output',
      'retry',
      'exit',
    ]);
    for (const entry of entries) assert.equal(typeof entryLabel(entry), 'string');
  });

  test('usage is remembered, but is not an entry', () => {
    const transcript = new Transcript(0);
    const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 100, costUsd: 0.1 };
    transcript.append([line({ type: 'usage', usage })], true);
    assert.equal(transcript.entries.length, 0);
    assert.deepEqual(transcript.usage, usage);
  });

  test('hostile text is text', () => {
    const [entry] = entriesOf({ type: 'text', text: '<b>\u202e\u001b[2J\u0000</b>' });
    assert.equal(entry === undefined ? '' : entryText(entry), '<b>U+202E␀</b>');
  });
});

suite('transcript of real agents', () => {
  const folder = join(import.meta.dirname, '../../../fixtures/agents');

  /** Events as the driver logs them, without its answers. */
  function recorded(name: string): LogLineView[] {
    const translator = new Translator({
      cwd: '/repo',
      sessionId: 's',
      resumed: false,
      usageBefore: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, costUsd: null },
    });
    const lines = readFileSync(join(folder, `${name}.jsonl`), 'utf8').split('\n');
    return lines
      .filter((text) => text !== '' && !text.startsWith('> '))
      .flatMap((text) => translator.take(asObject(JSON.parse(text)) ?? {}))
      .flatMap((notice): LogLineView[] => {
        if (notice.kind === 'event') return [{ at, ...notice.event }];
        if (notice.kind !== 'permission') return [];
        return parseQuestions(notice.request, notice.plan).map((question) => ({ at, ...question }));
      });
  }

  const cases: readonly (readonly [string, readonly string[]])[] = [
    [
      'claude-happy',
      [
        'Agent says: I will create hello.txt.',
        'Tool: Write hello.txt',
        'Agent says: Now I check the tree.',
        'Tool: Bash git status --porcelain',
        'Agent says: Done: hello.txt was written.',
      ],
    ],
    [
      'claude-429-retried',
      [
        'Retry: The provider answered 429: rate_limit; tried again after 1 s',
        'Agent says: ok then',
      ],
    ],
    [
      'claude-control-question',
      [
        'Agent says: q',
        'Tool: AskUserQuestion',
        'Question: Which DB? - sqlite: a - postgres: b',
        'Agent says: answer was: Your questions have been answered: "Which DB?"="postgres". You can now continue with these answers in mind.',
      ],
    ],
    [
      'claude-sigterm',
      [
        'Agent says: writing',
        'Tool: Write a.txt',
        'Agent says: sleeping',
        'Tool: Bash echo start; sleep 20; echo end, failed',
      ],
    ],
  ];
  for (const [name, expected] of cases) {
    test(name, () => {
      const transcript = new Transcript(0);
      transcript.append(recorded(name), true);
      assert.deepEqual(transcript.entries.map(entryLabel), [
        'Agent: Claude Code started (claude-opus-5-5)',
        ...expected,
      ]);
    });
  }
});
