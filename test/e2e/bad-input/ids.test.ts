// Ids that must never become a branch, a folder or an option, and ids that name nothing.

import { tableHere, type Row } from './support/check.ts';
import type { Place } from './support/place.ts';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Imports one story with the id. */
function imported(id: string, words: Row['words']): Row {
  return {
    title: `import of the id ${JSON.stringify(id).slice(0, 40)}`,
    prepare: (place: Place) => {
      const record = { type: 'story', id, title: 'Greet' };
      writeFileSync(join(place.folder, 'bad.jsonl'), `${JSON.stringify(record)}\n`);
    },
    args: ['import', '../bad.jsonl'],
    code: 3,
    kind: 'bad_import',
    words: [':1', ...words, '--skip-invalid'],
  };
}

const unsafe: readonly Row[] = [
  imported('../../outside', ['../../outside', 'letter or digit']),
  imported('--force', ['--force', 'letter or digit']),
  imported('a..b', ['a..b', '`..`']),
  imported('x.lock', ['x.lock', '`.lock`']),
  imported('x.', ['x.', 'end with `.`']),
  imported('con', ['con', 'Windows']),
  imported('NUL.txt', ['NUL.txt', 'Windows']),
  imported('x'.repeat(65), ['x'.repeat(65), '64 characters']),
  imported('', ['id', 'empty']),
  imported('tâche', ['tâche', 'ASCII']),
  imported('a b', ['a b', 'letters, digits']),
  imported('a/b', ['a/b', 'letters, digits']),
  imported('epic', ['epic', "reserved for Drover's own branches"]),
];

/** A command with an id that does not exist. */
function unknown(args: readonly string[], words: Row['words'] = []): Row {
  return {
    title: `${args.join(' ')}: nothing has this id`,
    args,
    code: 3,
    kind: 'unknown_id',
    words: [
      args.find((word) => /^(?:NOWHERE|\.\.)/.test(word)) ?? 'NOWHERE',
      /drover (?:status|epic list)/,
      ...words,
    ],
  };
}

const unknownIds: readonly Row[] = [
  unknown(['edit', 'NOWHERE', '--title', 'x']),
  unknown(['why', 'NOWHERE']),
  unknown(['pr', 'NOWHERE']),
  unknown(['log', 'NOWHERE']),
  unknown(['log', 'NOWHERE', '--prompt']),
  unknown(['diff', 'NOWHERE']),
  unknown(['epic', 'show', 'NOWHERE']),
  unknown(['epic', 'edit', 'NOWHERE', '--title', 'x']),
  unknown(['epic', 'close', 'NOWHERE']),
  unknown(['status', '--epic', 'NOWHERE']),
];

/** The requests that a backend handles; the first one starts it. */
const unknownToBackends: readonly Row[] = [
  unknown(['pause', 'NOWHERE']),
  unknown(['run', '--epic', 'NOWHERE']),
  unknown(['resume-task', 'NOWHERE']),
  unknown(['cancel', 'NOWHERE']),
  unknown(['retry', 'NOWHERE']),
  unknown(['reset', 'NOWHERE']),
  unknown(['hint', 'NOWHERE', 'Look']),
  unknown(['answer', 'NOWHERE', 'keep']),
  unknown(['approve', 'NOWHERE']),
  unknown(['send-back', 'NOWHERE', 'No']),
  unknown(['resolve', 'NOWHERE', '--note', 'done']),
  unknown(['cancel', '../../outside'], ['../../outside']),
];

tableHere('ids that are refused', unsafe);
tableHere('ids that name nothing', unknownIds);
tableHere('ids that name nothing to a backend', unknownToBackends);
