// A second implementation of the part of `bd` that a sync calls: a database beside the file, which
// the old version flushes and imports with `sync`, and the new version with `export` and `import`.

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';

const version = process.env.BD_VERSION ?? '0.49.6';
const isOld = version.startsWith('0.');
const [database, file] = ['.beads/beads.db', '.beads/issues.jsonl'];
const [command, ...args] = process.argv.slice(2);

const read = () => (existsSync(database) ? JSON.parse(readFileSync(database, 'utf8')) : {});
const write = (issues) => {
  // No reader sees a partial file.
  writeFileSync(`${database}.${process.pid}`, JSON.stringify(issues));
  renameSync(`${database}.${process.pid}`, database);
};
const isKept = ([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0);
const textOf = (issues) =>
  Object.values(issues)
    .map((issue) => `${JSON.stringify(Object.fromEntries(Object.entries(issue).filter(isKept)))}\n`)
    .join('');

function takeOver(path) {
  const issues = read();
  for (const line of readFileSync(path, 'utf8').split('\n').filter(Boolean)) {
    const issue = JSON.parse(line);
    const before = issues[issue.id];
    // Labels are added, and none is removed.
    const labels = [...new Set([...(issue.labels ?? []), ...(before?.labels ?? [])])];
    if (before === undefined || textOf({ before }) !== `${line}\n`)
      issues[issue.id] = { ...issue, labels, updated_at: new Date().toISOString() };
  }
  write(issues);
}

function fail(words) {
  process.stderr.write(`${words}\n`);
  process.exit(1);
}

switch (`${isOld ? 'old' : 'new'} ${command} ${args[0] ?? ''}`.trim()) {
  case 'old version':
  case 'new version':
    process.stdout.write(`bd version ${version} (dev)\n`);
    break;
  case 'old sync --flush-only':
    if (!existsSync(file) || readFileSync(file, 'utf8') !== textOf(read()))
      writeFileSync(file, textOf(read()));
    break;
  case 'old sync --import-only':
    takeOver(file);
    break;
  case 'new export':
    process.stdout.write(textOf(read()));
    break;
  default:
    if (!isOld && command === 'import') takeOver(args[0]);
    else if (command === 'update' && args[1] === '--remove-label') {
      const issues = read();
      const { labels = [] } = issues[args[0]];
      issues[args[0]].labels = labels.filter((label) => label !== args[2]);
      write(issues);
    } else if (command === 'set') {
      const [id, ...changes] = args;
      const issues = read();
      const change = Object.fromEntries(changes.map((one) => one.split('=')));
      const fresh = { id, title: id, status: 'open', priority: 2, issue_type: 'task' };
      issues[id] = { ...(issues[id] ?? fresh), ...change, updated_at: new Date().toISOString() };
      write(issues);
    } else fail(`unknown command ${command} ${args.join(' ')}`);
}
