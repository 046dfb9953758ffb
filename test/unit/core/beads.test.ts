import assert from 'node:assert/strict';
import fc from 'fast-check';
import { criteriaFromText, criteriaToText } from '../../../server/core/exchange/beads-format.ts';
import { mergeBeads, type BeadsInput } from '../../../server/core/exchange/export-beads.ts';
import { toYaml } from '../../../server/core/exchange/export-yaml.ts';
import { parseBeads } from '../../../server/core/exchange/import-beads.ts';
import type { SessionPlan } from '../../../server/core/exchange/import-session.ts';
import type { Task } from '../../../server/core/plan/task.ts';
import { emptyProject } from '../../../server/core/exchange/import-types.ts';

const time = '2026-01-01T00:00:00Z';

const bd = (id: string, more: object = {}): string =>
  JSON.stringify({ id, title: id, status: 'open', priority: 2, issue_type: 'task', ...more });
const bead = (id: string, more: object = {}): string => {
  const data = { title: id, description: '', status: 'open', priority: 5, labels: [], ...more };
  return JSON.stringify({ type: 'bead', id, timestamp: time, data });
};
const link = (from: string, to: string, type = 'blocked_by'): string => {
  const data = { from, to, link_type: type };
  return JSON.stringify({ type: 'link', id: `link-${from}-${to}`, timestamp: time, data });
};

function read(lines: readonly string[]): SessionPlan {
  return parseBeads(lines, emptyProject);
}

/** The tasks in a store after the import. */
function tasksOf(plan: SessionPlan, updatedAt = 0): Task[] {
  return plan.tasks.map((task) => ({
    ...task,
    status: 'ready',
    blockedReason: null,
    reviewKind: null,
    attempts: 0,
    nextAttemptAt: null,
    waitingUntil: null,
    phase: null,
    baseSha: null,
    branch: null,
    commitSha: null,
    landedSha: null,
    worktreePath: null,
    conflictFiles: [],
    heldFiles: [],
    rescueRefs: [],
    verdict: 'unknown',
    verdictReason: null,
    lastError: null,
    costUsd: 0,
    ...plan.states.get(task.id),
    agent: null,
    testMode: 'strict',
    testScope: 'diff',
    maxAttempts: 3,
    createdAt: 0,
    updatedAt,
  }));
}

function merge(text: string, tasks: readonly Task[], shape: BeadsInput['shape'] = 'bd') {
  return mergeBeads({
    text,
    tasks,
    epics: [],
    shape,
    timeText: (ms) => new Date(ms).toISOString(),
    timeOf: (rfc) => Date.parse(rfc),
  });
}

suite('beads import', () => {
  test('both formats can be mixed in one file', () => {
    const plan = read([
      '{"type":"epic","id":"E","timestamp":"x","data":{"title":"E","status":"open"}}',
      bead('A', { epic_id: 'E', labels: ['x', 'drover:failed'] }),
      bead('A.2', { status: 'active', priority: 9 }),
      link('A', 'B'),
      link('A', 'B', 'relates_to'),
      '',
      bd('B', { priority: 0, issue_type: 'bug', acceptance_criteria: '- one\n- two' }),
      '{"odd":1}',
    ]);
    assert.deepEqual(plan.problems, []);
    assert.deepEqual(
      plan.warnings.map(({ line }) => line),
      [8],
    );
    assert.deepEqual(
      plan.tasks.map((task) => [
        task.id,
        task.epicId,
        task.parentId,
        task.priority,
        ...task.blockedBy,
      ]),
      [
        ['A', 'E', null, 5, 'B'],
        ['B', null, null, 10],
        ['A.2', 'E', 'A', 9],
      ],
    );
    assert.equal(plan.states.get('A')?.status, 'failed');
    assert.deepEqual(plan.tasks[0]?.labels, ['x']);
    assert.deepEqual(plan.tasks[1]?.acceptanceCriteria, ['one', 'two']);
    assert.equal(plan.tasks[1]?.type, 'bug');
  });

  test('the states of bd are read', () => {
    const cases: readonly [object, string | null][] = [
      [{ status: 'open' }, 'ready'],
      [{ status: 'in_progress' }, 'ready'],
      [{ status: 'blocked' }, 'blocked'],
      [{ status: 'closed', close_reason: 'done' }, 'completed'],
      [{ status: 'closed', close_reason: 'wontfix: no' }, 'cancelled'],
      [{ status: 'closed', close_reason: 'duplicate' }, 'cancelled'],
      [{ status: 'deferred' }, 'paused'],
      [{ status: 'tombstone' }, null],
      [{ status: 'pinned' }, null],
    ];
    for (const [more, wanted] of cases) {
      const plan = read([bd('A', more)]);
      assert.equal(plan.states.get('A')?.status ?? null, wanted, JSON.stringify(more));
      assert.equal(plan.warnings.length, wanted === null ? 1 : 0);
    }
    assert.equal(read([bd('A', { status: 'blocked' })]).states.get('A')?.blockedReason, 'beads');
  });

  test('the dependencies of bd are read', () => {
    const on = (id: string, type: string) => ({ issue_id: 'T', depends_on_id: id, type });
    const plan = read([
      bd('E', { issue_type: 'epic' }),
      bd('P', { dependencies: [{ issue_id: 'P', depends_on_id: 'E', type: 'parent-child' }] }),
      bd('T', {
        dependencies: [
          on('P', 'parent-child'),
          on('X', 'blocks'),
          on('Y', 'related'),
          on('G', 'blocks'),
          on('E', 'blocks'),
        ],
      }),
      bd('X'),
      bd('G', { status: 'tombstone' }),
    ]);
    assert.deepEqual(plan.problems, []);
    assert.deepEqual(
      plan.tasks.map(({ id, epicId, parentId, blockedBy }) => [id, epicId, parentId, ...blockedBy]),
      [
        ['P', 'E', null],
        ['X', null, null],
        ['T', 'E', 'P', 'X'],
      ],
    );
    // A task that waits for an epic shows that by its hold, so it is not a warning.
    assert.deepEqual(
      plan.warnings.map(({ id, message }) => [id, message.replace(/^.*: /u, '')]),
      [
        ['T', 'the second is not imported'],
        ['G', 'its status is `tombstone`'],
      ],
    );
  });

  test('invalid lines are refused', () => {
    const cases: readonly [readonly string[], readonly string[]][] = [
      [['{'], ['1 - json']],
      [[bd('../x')], ['1 ../x id-unsafe']],
      [[bd('A'), bead('A')], ['2 A id-twice']],
      [[bd('A', { title: ' ' })], ['1 A title']],
      [[bd('A', { notes: 'a\0' })], ['1 A text']],
      [[bead('A'), link('A', 'nobody')], ['1 A reference']],
      [
        [bead('A'), bead('B'), link('A', 'B'), link('B', 'A')],
        ['1 A loop', '2 B loop'],
      ],
    ];
    for (const [lines, wanted] of cases) {
      const got = read(lines).problems.map(({ line, id, kind }) => `${line} ${id ?? '-'} ${kind}`);
      assert.deepEqual(got, wanted, lines.join('\n'));
    }
  });

  test('criteria can be one text or a list', () => {
    const cases: readonly [string, readonly string[]][] = [
      ['', []],
      ['one', ['one']],
      ['- a\n* b\n\n1. c\n- [x] d', ['a', 'b', 'c', 'd']],
      ['first\n- second', ['first\n- second']],
    ];
    for (const [text, wanted] of cases) assert.deepEqual(criteriaFromText(text), wanted);
    assert.equal(criteriaToText(['a', 'b']), '- a\n- b');
  });
});

suite('beads export', () => {
  const file = [
    '  {"id": "A", "title":"A","status":"open","priority":1,  "issue_type":"chore","mine":[1]}',
    '{"odd": true}',
    'not json',
    bd('B', { updated_at: '2030-01-01T00:00:00Z', design: 'D', notes: 'N' }),
    bd('T', { status: 'tombstone' }),
    bead('C'),
    bd('D', { status: 'deferred' }),
    bd('F', { status: 'closed', close_reason: 'duplicate', closed_at: time }),
    '',
  ].join('\n');

  test('if nothing changed, the file is identical byte for byte', () => {
    const readable = file.replace('not json\n', '');
    const plan = read(readable.split('\n'));
    assert.deepEqual(plan.problems, []);
    assert.deepEqual(merge(readable, tasksOf(plan)), { text: readable, losers: [] });
    const withoutEnd = readable.trimEnd();
    assert.equal(merge(withoutEnd, tasksOf(plan)).text, withoutEnd);
  });

  test('lines in the older format also stay until their task changes, whatever they omit', () => {
    const lines = [
      '{"type":"epic","id":"E","data":{"title":"E","status":"open"}}',
      '{"type":"bead","id":"A","data":{"title":"A","status":"active","epic_id":"E"}}',
      '{"type":"bead","id":"A.2","data":{"title":"A2","status":"open","description":"d\\n"}}',
      '{"type":"bead","id":"B","data":{"title":"B","status":"closed","closed_at":"2020-01-01T00:00:00Z","reason":"as asked"}}',
      '',
    ];
    const text = lines.join('\n');
    const tasks = tasksOf(read(lines));
    assert.equal(merge(text, tasks).text, text);
    const changed = tasks.map((task) => ({ ...task, title: `${task.id}!`, epicId: null }));
    const after = merge(text, changed).text.split('\n');
    const data = after.slice(1, 4).map((line) => (JSON.parse(line) as { data: object }).data);
    assert.deepEqual(data, [
      { title: 'A!', status: 'active', description: '', priority: 0, labels: [] },
      { title: 'A.2!', status: 'open', description: 'd\n', priority: 0, labels: [] },
      {
        title: 'B!',
        status: 'closed',
        description: '',
        priority: 0,
        labels: [],
        closed_at: '2020-01-01T00:00:00Z',
        reason: 'as asked',
      },
    ]);
  });

  test('only changed records are written, and unknown keys and lines stay', () => {
    const tasks = tasksOf(
      read(file.replace('not json\n', '').split('\n')),
      Date.parse('2026-06-01'),
    );
    const changed = tasks.map((task) =>
      ['C', 'D', 'F'].includes(task.id)
        ? task
        : { ...task, status: 'completed' as const, title: `${task.id}!` },
    );
    const { text, losers } = merge(file, changed);
    const before = file.split('\n');
    const after = text.split('\n');
    assert.deepEqual(losers, ['B']);
    assert.deepEqual(
      after.map((line, index) => line === before[index]),
      [false, true, true, true, true, true, true, true, true],
    );
    const written = JSON.parse(after[0] ?? '') as Record<string, unknown>;
    assert.equal(written['status'], 'closed');
    assert.equal(written['closed_at'], '2026-06-01T00:00:00.000Z');
    assert.deepEqual(
      [written['mine'], written['priority'], written['issue_type']],
      [[1], 1, 'chore'],
    );
  });

  test("new records are appended in the file's format", () => {
    const tasks = tasksOf(read([bead('A'), bead('B', { status: 'open' }), link('B', 'A')]));
    const fresh = merge('', tasks);
    assert.equal(fresh.text.split('\n').length, 3);
    const back = read(fresh.text.split('\n'));
    assert.deepEqual(
      back.tasks.map(({ id, blockedBy }) => [id, ...blockedBy]),
      [['A'], ['B', 'A']],
    );
    const added = merge(`${bead('A')}\n`, tasks).text.split('\n');
    assert.deepEqual(added.slice(0, 3), [
      bead('A'),
      added[1],
      JSON.stringify({ ...JSON.parse(link('B', 'A')), timestamp: '1970-01-01T00:00:00.000Z' }),
    ]);
    const dropped = tasks.map((task) => ({ ...task, blockedBy: [], updatedAt: Date.parse(time) }));
    const text = [bead('A'), bead('B'), link('B', 'A'), ''].join('\n');
    assert.match(merge(text, dropped).text, /relates_to/);
  });

  test("Drover's states survive a round trip through either format", () => {
    const states = [
      'ready',
      'paused',
      'failed',
      'conflict',
      'needs_review',
      'completed',
      'cancelled',
    ] as const;
    for (const shape of ['bd', 'drover'] as const) {
      const [task] = tasksOf(read([bd('A')]));
      assert.ok(task !== undefined);
      for (const status of states) {
        const { text } = merge('', [{ ...task, status }], shape);
        assert.equal(read(text.split('\n')).states.get('A')?.status, status, `${shape} ${status}`);
        const closed = status === 'completed' || status === 'cancelled';
        assert.equal(text.includes('closed_at'), closed);
      }
    }
  });
});

suite('YAML', () => {
  test('it is written in block style with quoted strings', () => {
    const value = { a: 1, 'b c': [], list: [{ x: 'y: z', deep: ['1', null] }, [true]], no: {} };
    assert.equal(
      toYaml(value),
      [
        'a: 1',
        '"b c": []',
        'list:',
        '  - x: "y: z"',
        '    deep:',
        '      - "1"',
        '      - null',
        '  - - true',
        '"no": {}',
        '',
      ].join('\n'),
    );
    fc.assert(fc.property(fc.jsonValue(), (json) => toYaml(json).endsWith('\n')));
  });
});
