// Files that cannot be imported: all or nothing, and every invalid line with its number.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableHere, type Row } from './support/check.ts';
import { fixtures, runDrover } from './support/command.ts';

interface Problem {
  readonly line: number;
  readonly code: string;
  readonly kind: string;
  readonly id: string | null;
  readonly message: string;
}

/** Line, kind, id and the parts of the message, in order. */
const badProblems: readonly (readonly [number, string, string | null, ...string[]])[] = [
  [4, 'json', null],
  [5, 'object', null, 'list'],
  [6, 'type', 'BAD-06', 'type', 'missing'],
  [7, 'type', 'BAD-07', 'milestone', 'epic, story or task'],
  [8, 'id', null, 'id', 'missing'],
  [9, 'id', null, 'number', 'string'],
  [10, 'id-unsafe', '../../outside', '../../outside'],
  [11, 'id-unsafe', '--force', '--force'],
  [12, 'id-twice', 'BAD-OK', 'line 3'],
  [13, 'title', 'BAD-13', 'title', 'missing'],
  [14, 'title', 'BAD-14', 'blank'],
  [15, 'title', 'BAD-15', 'number', 'string'],
  [16, 'text', 'BAD-16', 'U+0000', 'description'],
  [17, 'priority', 'BAD-17', 'asap', 'critical', 'low'],
  [18, 'priority', 'BAD-18', '101', '0 to 100'],
  [19, 'priority', 'BAD-19', '2.5', 'whole number'],
  [20, 'priority', 'BAD-20', '-1', '0 to 100'],
  [21, 'reference', 'BAD-21', 'BAD-NOWHERE'],
  [22, 'reference', 'BAD-22', 'BAD-NOWHERE'],
  [23, 'reference-kind', 'BAD-23', 'BAD-EPIC', 'epic'],
  [24, 'reference', 'BAD-24', 'BAD-NOWHERE', 'blocked_by'],
  [25, 'loop', 'BAD-25', 'BAD-25 → BAD-25'],
  [26, 'loop', 'BAD-26', 'BAD-26 → BAD-27 → BAD-26'],
  [27, 'loop', 'BAD-27', 'BAD-27 → BAD-26 → BAD-27'],
  [29, 'loop', 'BAD-29', 'BAD-29 → BAD-OK → BAD-29'],
  [31, 'depth', 'BAD-31', 'two'],
  [32, 'field', 'BAD-32', 'acceptance_criteria', 'number'],
  [33, 'field', 'BAD-33', 'labels'],
  [34, 'field', 'BAD-34', 'estimated_hours', 'negative'],
  [35, 'field', 'BAD-35', 'story_points'],
  [36, 'field', 'BAD-36', 'test_mode', 'sometimes'],
  [37, 'field', 'BAD-37', 'test_scope', 'half'],
  [38, 'field', 'BAD-38', 'blocked_by'],
  [39, 'field', 'BAD-39', 'max_attempts', '0'],
  [40, 'reference-refused', 'BAD-40', 'BAD-17', 'line 17'],
];

function checkBadFile(answer: Readonly<Record<string, unknown>>): void {
  const errors = answer['errors'] as readonly Problem[];
  assert.deepEqual(
    errors.map(({ line, code, id }) => [line, code, id]),
    badProblems.map(([line, kind, id]) => [line, kind, id]),
  );
  errors.forEach((problem, index) => {
    const [line, kind, , ...words] = badProblems[index] ?? [0, '', null];
    assert.equal(problem.kind, kind);
    for (const word of words) {
      assert.ok(problem.message.includes(word), `line ${line}: no ${word} in ${problem.message}`);
    }
  });
  const warnings = answer['warnings'] as readonly Problem[];
  assert.deepEqual(
    warnings.map(({ line, id }) => [line, id]),
    [[41, 'BAD-41']],
  );
  assert.match(warnings[0]?.message ?? '', /prioritty/);
  assert.deepEqual(answer['imported'], { epics: 0, tasks: 0 });
}

/** Imports a file with this content. */
function file(
  title: string,
  content: string | Buffer,
  words: Row['words'],
  more: Partial<Row> = {},
): Row {
  return {
    title,
    prepare: (place) => writeFileSync(join(place.folder, 'plan.jsonl'), content),
    args: ['import', '../plan.jsonl'],
    code: 3,
    kind: 'bad_import',
    words: ['plan.jsonl', ...words],
    ...more,
  };
}

const lines = (...records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('');

const story = (id: string, more: object = {}): object => ({
  type: 'story',
  id,
  title: `Story ${id}`,
  ...more,
});

const escape = String.fromCharCode(27);

const contents: readonly Row[] = [
  file('a title with NUL', lines(story('X', { title: 'a\u0000b' })), [':1', 'U+0000', 'title']),
  file('a title with an escape', lines(story('X', { title: `${escape}[2J` })), [':1', 'U+001B']),
  file('a title of 10 MB', lines(story('X', { title: 'x'.repeat(10 << 20) })), [':1', '8 MB']),
  file('a title of 1 MB', lines(story('X', { title: 'x'.repeat(1 << 20) })), [
    ':1',
    'title',
    '1,000',
  ]),
  file('a line of more than 8 MB', lines(story('X', { description: 'x'.repeat(9 << 20) })), [
    ':1',
    '8 MB',
  ]),
  file('a loop', lines(story('X', { blocked_by: ['Y'] }), story('Y', { blocked_by: ['X'] })), [
    'X → Y → X',
  ]),
  file('a self-blocker', lines(story('X', { blocked_by: ['X'] })), [':1', 'X → X']),
  file('a parent that is not there', lines({ ...story('X'), type: 'task', parent_id: 'NOPE' }), [
    ':1',
    'NOPE',
  ]),
  file(
    'a sub-task of a completed task',
    lines({ ...story('X'), type: 'task', parent_id: 'COMPLETED' }),
    [':1', 'COMPLETED', 'completed'],
  ),
  file('a level too deep', lines({ ...story('X'), type: 'task', parent_id: 'SUBSUB' }), [
    ':1',
    'third level',
    'two',
  ]),
  file('an id that differs', lines(story('A', { title: 'Greet in German' })), [
    ':1',
    'A',
    '--update',
    '--rename',
  ]),
  file(
    'a line that is not UTF-8',
    Buffer.concat([
      Buffer.from(lines(story('X'))),
      Buffer.from('{"type":"story","id":"Y","title":"\xff"}\n', 'latin1'),
    ]),
    [':2', 'UTF-8'],
  ),
  file('UTF-16', Buffer.from(lines(story('X')), 'utf16le'), [':1', /UTF-16|UTF-8|JSON/]),
  file('a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 255, 254]), [':1', 'UTF-8']),
  file('a text', 'hello\n', [':1', 'JSON']),
  file('deeply nested JSON', `${'['.repeat(200_000)}\n`, [':1', 'JSON']),
  file(
    'a key of the object prototype',
    '{"type":"story","id":"X","title":"t","__proto__":1}\n',
    [],
    {
      code: 0,
      kind: undefined as never,
      works: true,
      words: ['__proto__', ':1'],
    },
  ),
];

const formats: readonly Row[] = [
  file('a session read as JSONL', '{"version":"1.0","tasks":[]}\n', [':1', 'id'], {
    args: ['import', '../plan.jsonl', '--format', 'jsonl'],
  }),
  file('JSONL read as a session', lines(story('X')), ['version'], {
    args: ['import', '../plan.jsonl', '--format', 'session'],
  }),
  file('JSONL read as Beads imports nothing', lines(story('X')), ['no epic and no task'], {
    args: ['import', '../plan.jsonl', '--format', 'beads'],
    code: 1,
    works: true,
  }),
  file('a session of another version', '{"version":"7.0","tasks":[]}', ['7.0', '1.0'], {
    args: ['import', '../plan.jsonl', '--format', 'session'],
  }),
  file('a session cut in half', '{"version":"1.0","tasks":[{"id":', ['JSON'], {
    args: ['import', '../plan.jsonl', '--format', 'session'],
  }),
];

const files: readonly Row[] = [
  {
    title: 'the sample with 35 problems',
    args: ['import', join(fixtures, 'bad.jsonl')],
    code: 3,
    kind: 'bad_import',
    words: ['bad.jsonl:4', '34 more', '--skip-invalid'],
    more: checkBadFile,
  },
  {
    title: 'the sample with 35 problems, dry',
    args: ['import-jsonl', join(fixtures, 'bad.jsonl'), '--dry-run'],
    code: 3,
    kind: 'bad_import',
    words: ['bad.jsonl:4', '34 more'],
    more: checkBadFile,
  },
  {
    title: 'a file that is not there',
    args: ['import', '../nowhere.jsonl'],
    code: 3,
    kind: 'file',
    words: ['../nowhere.jsonl', 'does not exist'],
  },
  {
    title: 'a folder as file',
    prepare: (place) => {
      mkdirSync(join(place.folder, 'plan.jsonl'));
    },
    args: ['import', '../plan.jsonl'],
    code: 3,
    kind: 'file',
    words: ['../plan.jsonl', 'folder'],
  },
  {
    title: 'a device without end as file',
    args: ['import', '/dev/zero'],
    code: 3,
    kind: 'file',
    words: ['/dev/zero', 'bytes'],
  },
  {
    title: 'a good file with --dry-run writes nothing',
    args: ['import', join(fixtures, 'small-epic.jsonl'), '--dry-run'],
    code: 0,
    words: [],
  },
  {
    title: 'a good file a second time writes nothing',
    prepare: async (place) => {
      const args = ['import', join(fixtures, 'small-epic.jsonl')];
      const first = await runDrover({ cwd: place.root, home: place.home, args });
      assert.equal(first.code, 0, first.stderr);
    },
    args: ['import', join(fixtures, 'small-epic.jsonl')],
    code: 0,
    words: [],
  },
  file(
    'a byte order mark and CRLF are allowed',
    `\ufeff${lines(story('X')).replace('\n', '\r\n')}`,
    [],
    {
      code: 0,
      works: true,
      words: [],
    },
  ),
  file('an empty file imports nothing', '', ['no epic and no task'], {
    code: 1,
    works: true,
  }),
  file(
    'a file of which every record is left out imports nothing',
    lines({ type: 'task', title: 'without an id' }),
    ['no epic and no task'],
    { args: ['import', '../plan.jsonl', '--skip-invalid'], code: 1, works: true },
  ),
];

tableHere('contents of import files', contents);
tableHere('formats of import files', formats);
tableHere('import files', files);
