// Invalid settings: nothing starts, and each invalid setting is named with its location.

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check, type Row } from './support/check.ts';
import { shareOf, table } from './support/lanes.ts';

/** `run` with this `.drover.toml`. */
function toml(title: string, text: string | Buffer, ...words: Row['words']): Row {
  return {
    title,
    prepare: (place) => writeFileSync(join(place.root, '.drover.toml'), text),
    args: ['run'],
    call: { env: { DROVER_AGENT_TYPE: 'demo' } },
    code: 3,
    kind: 'bad_configuration',
    words: ['.drover.toml', ...words],
  };
}

const files: readonly Row[] = [
  toml('a syntax error', 'max_workers = 2\nagent = "demo\n', 'line 2', 'not TOML'),
  toml('a wrong type', '# one\nmax_workers = "many"\n', 'line 2', 'max_workers', 'from 1 to 64'),
  toml('a fraction', 'max_workers = 2.5\n', 'line 1', 'max_workers', '2.5', 'whole number'),
  toml('out of range', 'max_workers = 65\n', 'line 1', 'max_workers', '65', 'from 1 to 64'),
  toml('a duration without a unit', 'task_timeout = "60"\n', 'line 1', 'task_timeout', '1h30m'),
  toml('a duration as a number', 'task_timeout = 60\n', 'line 1', 'task_timeout', '1h30m'),
  toml('a duration too short', 'task_timeout = "1ms"\n', 'task_timeout', 'from 1s to 24h'),
  toml('a size that is none', 'max_output_size = "big"\n', 'max_output_size', '10MB'),
  toml('an unknown agent', 'agent = "gpt"\n', 'line 1', 'agent', 'gpt', 'claude'),
  toml('agent twice', 'agent = "demo"\n\n[agent]\nkind = "demo"\n', '[agent]', 'kind = "…"'),
  toml('a table as a value', 'gate = "npm test"\n', 'line 1', 'gate', '[gate]'),
  toml('a list of tables', '[[gate]]\ncommand = "x"\n', 'line 1', 'gate', 'one table'),
  toml('a key twice', 'max_workers = 1\nmax_workers = 2\n', 'line 2', 'multiple times'),
  toml('a path that leads out', '[setup]\ncopy = ["../x"]\n', 'line 2', 'setup.copy', 'inside'),
  toml('a landing mode', '[land]\nmode = "later"\n', 'line 2', 'land.mode', 'task, epic, review'),
  toml('no UTF-8', Buffer.from('# a\nagent = "\xff"\n', 'latin1'), 'line 2', 'UTF-8'),
  toml('2 MB', `# ${'x'.repeat(2 * 1024 * 1024)}\n`, '1 MB'),
  {
    ...toml('a folder', '', 'folder', 'file'),
    prepare: (place) => {
      mkdirSync(join(place.root, '.drover.toml'));
    },
  },
  toml('brackets without end', `a = ${'['.repeat(200_000)}${']'.repeat(200_000)}\n`, 'levels'),
  {
    ...toml('a link to a device without end', '', 'symbolic link', 'plain file'),
    prepare: (place) => symlinkSync('/dev/zero', join(place.root, '.drover.toml')),
  },
  {
    ...toml('a pipe that no program writes to', '', 'pipe', 'plain file'),
    prepare: (place) => {
      execFileSync('mkfifo', [join(place.root, '.drover.toml')]);
    },
  },
  {
    ...toml('a wrong value stops init too', 'max_workers = 0\n', 'line 1', 'max_workers'),
    base: 'repository',
    args: ['init'],
  },
  {
    ...toml('the file of the user', '', 'line 1', 'max_workers', 'from 1 to 64'),
    prepare: (place) => {
      mkdirSync(join(place.home, '.config', 'drover'), { recursive: true });
      writeFileSync(join(place.home, '.config', 'drover', 'config.toml'), 'max_workers = 0\n');
    },
    words: ['config.toml', 'line 1', 'max_workers', 'from 1 to 64'],
  },
];

/** A warning is not a refusal: the run does its work and prints the warning on standard error. */
function warned(title: string, text: string, ...words: Row['words']): Row {
  return {
    title,
    base: 'empty',
    prepare: (place) => writeFileSync(join(place.root, '.drover.toml'), text),
    args: ['run'],
    call: { env: { DROVER_AGENT_TYPE: 'demo' } },
    code: 0,
    works: true,
    words: ['warning', '.drover.toml', ...words],
  };
}

const warnings: readonly Row[] = [
  warned('an unknown key', '# one\nmax_worker = 2\n', 'line 2', 'max_worker', '`max_workers`?'),
  warned('an unknown key in a table', '[gate]\ncomand = "x"\n', 'line 2', '`gate.command`?'),
  warned('an unknown table', '[gates]\nx = 1\n', 'line 2', '`gates.x`'),
];

function variable(title: string, env: Record<string, string>, ...words: Row['words']): Row {
  return { title, args: ['run'], call: { env }, code: 3, kind: 'bad_configuration', words };
}

const variables: readonly Row[] = [
  variable('DROVER_WORKERS=many', { DROVER_WORKERS: 'many' }, 'DROVER_WORKERS', 'many', '64'),
  variable('DROVER_WORKERS=0', { DROVER_WORKERS: '0' }, 'DROVER_WORKERS', '0', 'from 1'),
  variable(
    'a database that is no SQLite',
    { DROVER_DATABASE_URL: 'mysql://localhost/drover' },
    'DROVER_DATABASE_URL',
    'mysql://localhost/drover',
    'sqlite:///absolute/path',
  ),
  variable(
    'a database with a relative path',
    { DROVER_DATABASE_URL: 'sqlite://drover.db' },
    'DROVER_DATABASE_URL',
    'sqlite:///absolute/path',
  ),
  {
    ...variable(
      'a database that is no SQLite, for a command that looks',
      { DROVER_DATABASE_URL: 'postgres://localhost/x' },
      'DROVER_DATABASE_URL',
    ),
    args: ['status'],
  },
  {
    ...variable('another database', { DROVER_DATABASE_URL: 'drover.db' }, 'DROVER_DATABASE_URL'),
    args: ['add', 'Greet'],
  },
];

table('.drover.toml', shareOf(files), check);
table('keys that nobody knows', shareOf(warnings), check);
table('variables of the environment', shareOf(variables), check);
