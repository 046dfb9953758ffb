// Invalid command lines: exit code 64, the invalid argument, and a suggestion.

import { tableHere, type Row } from './support/check.ts';

function wrong(args: readonly string[], ...words: Row['words']): Row {
  return { title: args.join(' ') || '(nothing)', args, code: 64, words };
}

const rows: readonly Row[] = [
  wrong(['statsu'], 'statsu', 'Did you mean status?'),
  wrong(['frobnicate'], 'frobnicate', 'drover --help'),
  wrong(['epic', 'ad', 'x'], /'ad'/, 'Did you mean add?'),
  wrong(['epic'], 'epic', /add.*list.*show.*edit.*close/),
  wrong(['worktree'], 'worktree', /list.*prune/),
  wrong(['worktree', 'purge'], /'purge'/, 'prune'),
  wrong(['add'], /'title'/, 'drover add <title>'),
  wrong(['pause'], /'id'/, 'drover pause <id>'),
  wrong(['answer', 'Q-OPEN'], /'choice'/, 'drover answer <question-id> <choice>'),
  wrong(['send-back', 'A'], /'text'/, 'drover send-back <id> <text>'),
  wrong(['import'], /'file'/, 'drover import <file>'),
  wrong(['status', 'extra'], 'extra', 'drover status'),
  wrong(['pause', 'A', 'B'], /\bB\b/, 'drover pause <id>'),
  wrong(['add', 'one', 'two'], 'two', 'quotes'),
  wrong(['status', '--tre'], '--tre', 'Did you mean --tree?'),
  wrong(['run', '--worker', '2'], '--worker', 'Did you mean --workers?'),
  wrong(['run', '--workers'], '--workers', 'argument missing'),
  wrong(['run', '--workers', 'abc'], '--workers', 'abc', 'whole number'),
  wrong(['run', '--workers', '1.5'], '--workers', '1.5', 'whole number'),
  wrong(['run', '--land', 'bogus'], '--land', 'bogus', 'task, epic, review'),
  wrong(['add', 'x', '-p', 'asap'], '--priority', 'asap', 'whole number'),
  wrong(['add', 'x', '-p', '2.5'], '--priority', '2.5', 'whole number'),
  wrong(['add', 'x', '--max-attempts', 'x'], '--max-attempts', 'whole number'),
  wrong(['add', 'x', '-d', 'a', '--description-file', 'b'], '--description-file', '--description'),
  wrong(['add', 'x', '--gate', 'a', '--test-command', 'b'], '--gate', '--test-command'),
  wrong(['import', 'x.jsonl', '--format', 'xml'], '--format', 'xml', 'auto, session, jsonl, beads'),
  wrong(['export', '-f', 'xml'], '--format', 'xml', 'session, json, yaml, beads, jsonl'),
  wrong(['events', '--after', 'x'], '--after', 'whole number'),
  wrong(['log', 'A', '--attempt', 'first'], '--attempt', 'whole number'),
  wrong(['server'], 'server', '--stdio', '--socket', 'stop'),
  wrong(['server', '--stdio', '--socket', '/tmp/x'], '--stdio', '--socket'),
  wrong(['completion', 'tcsh'], 'tcsh', 'bash, zsh, fish'),
  wrong(['--frob'], '--frob', 'drover --help'),
];

tableHere('wrong use of the command line', rows);
