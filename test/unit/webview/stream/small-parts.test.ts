// The small pure parts of the stream: following, diffs, steps, questions, prose, shortening,
// search, memory, frames.

import assert from 'node:assert/strict';
import { exitText } from '../../../../webview/shared/log/entry-text.ts';
import { questionView, taskView } from '../../../doubles/views.ts';
import { statusLook, statusLooks } from '../../../../webview/shared/status-words.ts';
import { announcement } from '../../../../webview/stream/session/announce.ts';
import { stepFacts, tokensText, usageFacts } from '../../../../webview/shared/log/attempt-facts.ts';
import {
  findEntries,
  hitInPage,
  hitPosition,
  nextHit,
} from '../../../../webview/stream/find/find-entries.ts';
import { follow, following } from '../../../../webview/stream/transcript/follow.ts';
import { iconCharacters } from '../../../../webview/shared/looks/icon.ts';
import { diffLines } from '../../../../webview/shared/text/line-diff.ts';
import { bindQuestions } from '../../../../webview/stream/session/question-binding.ts';
import { emptyMemory, readMemory } from '../../../../webview/shared/log/stream-memory.ts';
import {
  actionsFor,
  canPlanFirst,
  hintRefusal,
  sendLabel,
} from '../../../../webview/stream/header/task-actions.ts';
import { cutText } from '../../../../webview/shared/text/text-template.ts';
import {
  parseEdits,
  inputText,
  toolIcon,
  toolTitle,
} from '../../../../webview/shared/log/tool-view.ts';
import { Transcript, type Entry } from '../../../../webview/shared/log/transcript.ts';
import { attemptView } from '../../../webview/stream/attempt-view.ts';
import { readFileSync } from 'node:fs';
import { checkedLine } from '../../../../server/protocol/agent-events.ts';
import { taskStatuses } from '../../../../server/core/plan/state.ts';

function entriesOf(...events: Readonly<Record<string, unknown>>[]): readonly Entry[] {
  const transcript = new Transcript(0);
  transcript.append(
    events.map((event) => checkedLine({ type: 'text', at: 1, ...event })),
    true,
  );
  return transcript.entries;
}

suite('following the end', () => {
  const scrolled = (fromEndPx: number, movedPx: number): Parameters<typeof follow>[1] => ({
    type: 'scrolled',
    fromEndPx,
    movedPx,
  });

  test('a user who scrolls up is left alone and sees the number of new lines', () => {
    const away = follow(following, scrolled(300, -100));
    assert.equal(away.isFollowing, false);
    const told = follow(follow(away, { type: 'arrived', count: 3 }), { type: 'arrived', count: 2 });
    assert.deepEqual(told, { isFollowing: false, newCount: 5 });
    assert.deepEqual(follow(told, scrolled(10, 290)), following);
  });

  test('growing content does not stop the following', () => {
    assert.equal(follow(following, scrolled(300, 0)).isFollowing, true);
    assert.equal(follow(following, scrolled(300, 50)).isFollowing, true);
    assert.deepEqual(follow(following, { type: 'arrived', count: 9 }), following);
  });
});

suite('line differences', () => {
  const marks = { same: ' ', added: '+', removed: '-' } as const;
  const shown = (before: string, after: string): string[] =>
    diffLines(before, after).map(({ kind, text }) => marks[kind] + text);

  const cases: readonly (readonly [string, string, string, readonly string[]])[] = [
    ['nothing', 'a\n', 'a\n', [' a']],
    ['a new text', '', 'a\nb\n', ['+a', '+b']],
    ['a removed text', 'a\n', '', ['-a']],
    ['one line of three', 'a\nb\nc', 'a\nx\nc', [' a', '-b', '+x', ' c']],
    ['an insertion', 'a\nc', 'a\nb\nc', [' a', '+b', ' c']],
    [
      'context is three lines',
      '1\n2\n3\n4\nx\n5\n6\n7\n8',
      '1\n2\n3\n4\ny\n5\n6\n7\n8',
      [' 2', ' 3', ' 4', '-x', '+y', ' 5', ' 6', ' 7'],
    ],
    ['lines in common', 'a\nb\nc\nd', 'b\nx\nd', ['-a', ' b', '-c', '+x', ' d']],
  ];
  for (const [name, before, after, expected] of cases) {
    test(name, () => assert.deepEqual(shown(before, after), expected));
  }

  test('a change that is too large to compare is shown as all removed and all added', () => {
    const many = (word: string): string =>
      Array.from({ length: 2_000 }, (_, index) => `${word}${index}`).join('\n');
    const lines = diffLines(many('a'), many('b'));
    assert.equal(lines.filter(({ kind }) => kind === 'removed').length, 2_000);
    assert.equal(lines.filter(({ kind }) => kind === 'added').length, 2_000);
  });
});

suite('tools', () => {
  test('edits are shown', () => {
    const edit = { file_path: 'x', old_string: 'a', new_string: 'b' };
    assert.equal(parseEdits('Edit', edit).length, 1);
    assert.equal(parseEdits('MultiEdit', { file_path: 'x', edits: [edit, edit] }).length, 2);
    assert.equal(parseEdits('Write', { file_path: 'x', content: 'a\nb' })[0]?.lines.length, 2);
    for (const broken of [null, 'text', 7, [], {}, { old_string: 1 }, { edits: 'no' }]) {
      for (const name of ['Edit', 'MultiEdit', 'Write', 'NotebookEdit', 'Other']) {
        assert.deepEqual(parseEdits(name, broken), []);
      }
    }
  });

  test('titles, icons and inputs are shown', () => {
    assert.deepEqual(toolTitle('Bash', 'Bash npm test'), { name: 'Bash', about: 'npm test' });
    assert.deepEqual(toolTitle('', '\u202e'), { name: 'Tool', about: 'U+202E' });
    assert.equal(toolIcon('constructor'), 'tools');
    assert.equal(toolIcon('mcp__x__y'), 'plug');
    assert.equal(inputText('Bash', { command: 'ls', description: 'List' }), '# List\nls');
    assert.equal(inputText('X', { a: 'one', b: { c: 1 } }), 'a: one\nb:\n{\n  "c": 1\n}');
    assert.equal(inputText('X', null), '');
  });
});

suite('the header of a stream', () => {
  test('steps are shown in order with their times', () => {
    const attempt = attemptView({
      steps: [
        { name: 'agent', started_at_ms: 3_000, ended_at_ms: null, outcome: 'running' },
        { name: 'gate', started_at_ms: 100, ended_at_ms: 300, outcome: 'failed' },
        { name: 'gate', started_at_ms: 400, ended_at_ms: 450, outcome: 'done' },
      ],
    });
    assert.deepEqual(
      stepFacts(attempt, 5_000).map(
        ({ name, state, durationMs }) => `${name} ${state} ${durationMs}`,
      ),
      [
        'worktree skipped null',
        'setup skipped null',
        'agent running 2000',
        'commit skipped null',
        'gate done 250',
        'land waiting null',
      ],
    );
    assert.ok(stepFacts(null, 0).every(({ state }) => state === 'waiting'));
  });

  test('figures are shown', () => {
    assert.deepEqual([5, 1_500, 45_000, 2_300_000].map(tokensText), [
      '5 tokens',
      '1.5k tokens',
      '45k tokens',
      '2.3M tokens',
    ]);
    const heard = { inputTokens: 4_000, cacheReadTokens: 1_000, outputTokens: 1, costUsd: 0.1 };
    assert.deepEqual(usageFacts(attemptView({ cost: 0.4 }), heard), {
      tokens: 5_001,
      costUsd: 0.4,
    });
  });

  test('a finished task accepts a follow-up, but its sub-tasks do not', () => {
    const done = taskView({ id: 't', status: 'completed' });
    assert.deepEqual([hintRefusal(done), sendLabel(done)], [null, 'Make a Follow-up Task']);
    assert.match(hintRefusal({ ...done, parent_id: 'p' }) ?? '', /^Done\./);
    const statuses = taskStatuses.filter((status) => canPlanFirst(taskView({ id: 't', status })));
    assert.deepEqual(statuses, ['ready', 'blocked', 'completed']);
  });

  test('only a person who has taken over a paused task returns it to its agent', () => {
    const paused = taskView({ id: 'a', status: 'paused', phase: null });
    assert.ok(!actionsFor(paused).includes('giveBack'));
    assert.ok(actionsFor({ ...paused, phase: 'by_hand' }).includes('giveBack'));
  });

  test('an agent that Drover stopped has not failed, whatever its exit code', () => {
    const exit = { kind: 'exit', code: 1, signal: null } as const;
    assert.equal(exitText(exit), 'Ended with exit code 1');
    assert.equal(exitText({ ...exit, stopped: true }), 'Stopped');
    assert.equal(exitText({ ...exit, stopped: true }, true), 'Paused');
  });

  test('the actions for each status are offered', () => {
    const offered = taskStatuses.map((status) => {
      const task = taskView({
        id: 't',
        status,
        worktree_path: '/w',
        base_sha: 'a',
        phase: 'agent',
      });
      return `${status}: ${actionsFor(task).join(' ')}${hintRefusal(task) === null ? ' hint' : ''}`;
    });
    assert.deepEqual(offered, [
      'ready: run pause cancel hint',
      'claimed: pause cancel openWorktree hint',
      'in_progress: pause cancel takeOver openWorktree review hint',
      'blocked: run pause cancel hint',
      'paused: resume cancel takeOver openWorktree hint',
      'waiting: run pause cancel openWorktree hint',
      'needs_review: cancel openWorktree review hint',
      'conflict: merge retry openWorktree review hint',
      'completed: review hint',
      'failed: retry openWorktree hint',
      'cancelled: retry',
    ]);
    const part = taskView({ id: 'p', parent_id: 't', status: 'in_progress' });
    assert.deepEqual(actionsFor(part), []);
  });

  test('every icon is in the font', () => {
    const path = '../../../../node_modules/@vscode/codicons/dist/codicon.csv';
    const rows = readFileSync(new URL(path, import.meta.url), 'utf8').split('\n');
    const known = new Map(rows.map((row) => [row.split(',')[0], row.split(',')[2]?.trim()]));
    for (const [name, character] of Object.entries(iconCharacters)) {
      assert.equal(character.charCodeAt(0).toString(16), known.get(name)?.toLowerCase(), name);
    }
    const byHand = statusLook({
      status: 'paused',
      phase: 'by_hand',
      blocked_reason: null,
      review_kind: null,
      block: null,
    });
    for (const { icon } of [...Object.values(statusLooks), byHand]) {
      assert.ok(Object.hasOwn(iconCharacters, icon), icon);
    }
  });
});

suite('questions and their rows', () => {
  const asks = (requestId: string, text = 'May I?'): Record<string, unknown> => ({
    type: 'question',
    kind: 'permission',
    requestId,
    text,
    choices: ['Allow', 'Deny'],
  });
  const question = (id: string, requestId: string): ReturnType<typeof questionView> =>
    questionView({ id, task_id: 't', attempt: 1, request_id: requestId, text: 'May I?' });

  const bound = (
    entries: readonly Entry[],
    ...questions: ReturnType<typeof questionView>[]
  ): unknown => {
    const { byKey, unbound } = bindQuestions(entries, questions, 't', 1);
    return [[...byKey].map(([key, { id }]) => [key, id]), unbound.map(({ id }) => id)];
  };

  test('a question is found by the number of its request, even if the text is the same', () => {
    const entries = entriesOf(asks('1'), asks('2'), asks('3', 'Else?'));
    assert.deepEqual(bound(entries, question('q2', '2'), question('q1', '1')), [
      [
        [0, 'q1'],
        [1, 'q2'],
      ],
      [],
    ]);
  });

  test("neither an answered question nor a dead agent's question is found", () => {
    const entries = entriesOf(asks('old'), asks('1'), asks('2'), {
      type: 'answered',
      requestId: '2',
      choice: 'Allow',
    });
    assert.deepEqual(bound(entries, question('q', '1')), [[[1, 'q']], []]);
  });

  test("a question whose row is not loaded is alone, and other tasks' questions are ignored", () => {
    const review = questionView({ id: 'r', task_id: 't', kind: 'review', text: 'Review' });
    const other = questionView({ id: 'o', task_id: 'x', text: 'May I?' });
    assert.deepEqual(bound([], question('q', '1'), review, other), [[], ['q']]);
  });
});

suite('long texts', () => {
  const limits = { lines: 2, lineChars: 10 };
  const cases: readonly (readonly [string, string, string, string])[] = [
    ['short', 'a\nb', 'a\nb', ''],
    ['many lines', 'a\nb\nc\nd', 'a\nb', '2 more lines'],
    ['a long line', 'x'.repeat(15), `${'x'.repeat(10)}…`, '5 more characters'],
    ['no half characters', `${'x'.repeat(9)}😀y`, `${'x'.repeat(9)}…`, '2 more characters'],
  ];
  for (const [name, text, shown, rest] of cases) {
    test(name, () =>
      assert.deepEqual(cutText(text, limits), { text: shown, isCut: rest !== '', rest }),
    );
  }
});

suite('search', () => {
  const query = { text: 'Error', matchesCase: false };

  test('the shown text is searched, not its color codes', () => {
    const entries = entriesOf(
      { text: 'no' },
      { text: 'an \u001b[31mer\u001b[0mror' },
      { text: 'ERROR' },
    );
    assert.deepEqual(findEntries(entries, query), [1, 2]);
    assert.deepEqual(findEntries(entries, { ...query, matchesCase: true }), []);
    assert.deepEqual(findEntries(entries, { text: '', matchesCase: false }), []);
  });

  test('the search moves from match to match', () => {
    const hits = [2, 5, 9];
    assert.equal(nextHit(hits, null, 'older'), 9);
    assert.equal(nextHit(hits, null, 'newer'), 2);
    assert.equal(nextHit(hits, 5, 'older'), 2);
    assert.equal(nextHit(hits, 5, 'newer'), 9);
    assert.equal(nextHit(hits, 2, 'older'), null);
    assert.deepEqual([hitPosition(hits, 5), hitPosition(hits, 4)], [2, null]);
  });

  test('the search works in a page that is not loaded', () => {
    const events = ['a', 'error 1', 'error 2', 'b'].map((text) => ({ type: 'text', text, at: 1 }));
    assert.equal(hitInPage(events, query, 'older'), 2);
    assert.equal(hitInPage(events, query, 'newer'), 1);
    assert.equal(hitInPage(events.slice(0, 1), query, 'newer'), null);
  });
});

suite('memory', () => {
  test('restored state is checked', () => {
    for (const broken of [undefined, null, 7, 'x', [], { place: 1, folds: 'no', attempt: -1 }]) {
      assert.deepEqual(readMemory(broken), emptyMemory);
    }
    const place = { attempt: 1, offset: 10, index: 2, px: -3 };
    const memory = { attempt: 2, place, folds: ['a'], draft: 'hi', page: 'task' };
    assert.deepEqual(readMemory(JSON.parse(JSON.stringify(memory))), memory);
    assert.equal(readMemory({ place: { ...place, offset: 1.5 } }).place, null);
    assert.equal(readMemory({ ...memory, page: 'another' }).page, null);
  });
});

suite('announcements', () => {
  test('announcements are short, contain the last event, and never output', () => {
    const entries = entriesOf(
      { text: `first ${'long '.repeat(100)}` },
      { type: 'output', text: 'noise' },
    );
    const said = announcement(entries, -1) ?? '';
    assert.match(said, /^Agent says: first long/);
    assert.ok(said.length < 200);
    assert.equal(announcement(entries, 0), null);
  });
});
