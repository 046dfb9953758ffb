// Adding and changing tasks and epics with invalid values.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableHere, type Row } from './support/check.ts';
import type { Place } from './support/place.ts';

function refused(kind: string, args: readonly string[], ...words: Row['words']): Row {
  const title = args.map((word) => JSON.stringify(word).slice(0, 40)).join(' ');
  return { title, args, code: 3, kind, words };
}

const control = String.fromCharCode(7);
const escape = String.fromCharCode(27);

const fields: readonly Row[] = [
  refused('bad_title', ['add', ''], 'title must not be blank'),
  refused('bad_title', ['add', '   \t '], 'title must not be blank'),
  refused('bad_title', ['edit', 'A', '--title', ''], 'title must not be blank'),
  refused('bad_title', ['epic', 'add', ' '], 'title must not be blank'),
  refused('bad_title', ['epic', 'edit', 'EPIC-1', '--title', ' '], 'title must not be blank'),
  refused('bad_value', ['add', `ring ${control} it`], 'title', 'U+0007', 'remove it'),
  refused('bad_value', ['add', `${escape}[31mred`], 'title', 'U+001B'),
  refused('bad_value', ['add', 'one\ntwo'], 'title', 'U+000A'),
  refused('bad_title', ['add', 'x'.repeat(1_001)], '1001 characters', '1000', 'description'),
  refused('bad_title', ['add', 'x'.repeat(100_000)], '100000 characters'),
  refused('bad_value', ['add', 'Greet', '-d', `ring ${control}`], 'description', 'U+0007'),
  refused('bad_value', ['epic', 'add', 'Greet', '-d', escape], 'description', 'U+001B'),
  refused('bad_value', ['add', 'Greet', '--max-attempts', '0'], 'attempts', '0', 'from 1 to 10'),
  refused('bad_value', ['add', 'Greet', '--max-attempts', '11'], 'attempts', '11', 'from 1 to 10'),
  refused('bad_value', ['add', 'Greet', '--max-attempts', '-1'], 'attempts', '-1', 'from 1 to 10'),
  refused('bad_value', ['edit', 'A', '--max-attempts', '0'], 'attempts', '0', 'from 1 to 10'),
  refused('bad_value', ['add', 'Greet', '--type', 'chore'], 'type', 'chore', 'feature', 'refactor'),
  refused('bad_value', ['add', 'Greet', '--agent', 'gpt'], 'agent', 'gpt', 'claude', 'command'),
  refused('bad_value', ['add', 'Greet', '--test-mode', 'often'], 'test mode', 'often', 'strict'),
  refused('bad_value', ['add', 'Greet', '--test-scope', 'half'], 'test scope', 'half', 'diff'),
  refused('bad_value', ['add', 'Greet', '--label', ' '], 'labels', 'blank'),
  refused('bad_value', ['add', 'Greet', '--accept', ''], 'acceptance criteria', 'blank'),
];

const places: readonly Row[] = [
  refused('unknown_id', ['add', 'Greet', '-e', 'NOWHERE'], 'Epic "NOWHERE"', 'drover epic list'),
  refused('unknown_id', ['add', 'Greet', '-e', 'A'], 'Epic "A"', 'drover epic list'),
  refused('unknown_id', ['edit', 'A', '-e', 'NOWHERE'], 'Epic "NOWHERE"', 'drover epic list'),
  refused('unknown_id', ['add', 'Greet', '-P', 'NOWHERE'], 'Task "NOWHERE"', 'drover status'),
  refused('unknown_id', ['add', 'task-nowhere.1 Greet'], 'task-nowhere', 'drover status'),
  refused('unknown_id', ['add', 'task-nowhere.1.2.3 Greet'], 'task-nowhere.1.2', 'drover status'),
  refused('depth', ['add', 'Greet', '-P', 'SUBSUB'], 'SUBSUB', '2 levels'),
  refused('bad_state', ['add', 'Greet', '-P', 'COMPLETED'], 'COMPLETED', 'completed', 'reset'),
  refused('bad_state', ['add', 'Greet', '-P', 'CANCELLED'], 'CANCELLED', 'retry'),
  refused(
    'bad_value',
    ['add', 'Greet', '-P', 'PARENT', '-e', 'EPIC-1'],
    'PARENT',
    'EPIC-1',
    'leave',
  ),
  refused('bad_value', ['edit', 'SUB', '-e', 'EPIC-1'], 'SUB', 'PARENT'),
  refused('cycle', ['edit', 'PARENT', '-P', 'SUB'], 'PARENT', 'SUB'),
  refused(
    'unknown_id',
    ['add', 'Greet', '--blocked-by', 'A,NOWHERE'],
    '"NOWHERE"',
    'drover status',
  ),
  refused('unknown_id', ['edit', 'A', '--add-blocker', 'NOWHERE'], '"NOWHERE"', 'drover status'),
  refused('unknown_id', ['edit', 'B', '--remove-blocker', 'C'], '"C"', 'blockers are A'),
  refused('cycle', ['edit', 'A', '--add-blocker', 'A'], 'A → A'),
  refused('cycle', ['edit', 'A', '--blocked-by', 'B'], /A → B → A|B → A → B/),
  refused('cycle', ['edit', 'A', '--add-blocker', 'C'], /A → C → B → A|C → B → A → C/),
  refused('cycle', ['edit', 'SUB', '--add-blocker', 'PARENT'], /PARENT.* → /, 'SUB'),
  refused('cycle', ['add', 'Greet', '-P', 'A', '--blocked-by', 'C'], /C → B → A|A → .*C → B/),
];

/** A description from a file that the row creates. */
function fromFile(
  title: string,
  make: (file: string, place: Place) => void,
  words: Row['words'],
  more: Partial<Row> = {},
): Row {
  return {
    title,
    prepare: (place) => make(join(place.folder, 'notes.md'), place),
    args: ['add', 'Greet', '--description-file', '../notes.md'],
    code: 3,
    words: ['notes.md', ...words],
    ...more,
  };
}

const files: readonly Row[] = [
  fromFile('a description file that is not there', () => {}, ['does not exist'], { kind: 'file' }),
  fromFile('a folder as description file', (file) => mkdirSync(file), ['folder'], { kind: 'file' }),
  fromFile(
    'a description file that is not UTF-8',
    (file) => writeFileSync(file, Buffer.from([0x68, 0xff, 0xfe, 0x0a])),
    ['UTF-8', 'save'],
    { kind: 'file' },
  ),
  fromFile(
    'a description file of 10 MB',
    (file) => writeFileSync(file, 'word '.repeat(2 * 1024 * 1024)),
    ['1048576 bytes', 'shorten'],
    { kind: 'file' },
  ),
  {
    title: 'a description of 10 MB on standard input',
    args: ['add', 'Greet', '--description-file', '-'],
    call: { stdin: 'word '.repeat(2 * 1024 * 1024) },
    code: 3,
    kind: 'file',
    words: ['description', 'standard input', '1048576 bytes'],
  },
  {
    title: 'a description on standard input that is not UTF-8',
    args: ['add', 'Greet', '--description-file', '-'],
    call: { stdin: Buffer.from([0x68, 0xff]) },
    code: 3,
    kind: 'file',
    words: ['standard input', 'UTF-8'],
  },
  {
    title: 'a description file on a device without end',
    args: ['add', 'Greet', '--description-file', '/dev/zero'],
    call: { timeoutMs: 20_000 },
    code: 3,
    kind: 'file',
    words: ['/dev/zero', 'file'],
  },
];

tableHere('fields of tasks and epics', fields);
tableHere('places of tasks', places);
tableHere('descriptions from files', files);
