// Takes back what an agent committed in its lent folder, again and again, in a process as small as a
// backend: what starts a process copies the map of its own memory. Prints milliseconds as JSON.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openGitAdapter } from '../server/git/adapter.ts';
import type { LocalRepository } from '../server/git/repository.ts';
import { gitInside } from '../test/git/lent-git.ts';
import { git } from './repositories.ts';

const { values } = parseArgs({
  options: {
    repository: { type: 'string', default: '' },
    home: { type: 'string', default: '' },
    slot: { type: 'string', default: '' },
    files: { type: 'string', default: '20' },
    /** Imports that are not counted: a backend has long been warm. */
    warm: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '20' },
  },
});
const { slot } = values;
const [files, warm, rounds] = [values.files, values.warm, values.rounds].map(Number) as [
  number,
  number,
  number,
];

async function openSlot(): Promise<LocalRepository> {
  const environment = { PATH: process.env['PATH'] ?? '', HOME: values.home };
  const opened = await openGitAdapter({ environment }).open(values.repository);
  if (!opened.ok) throw new Error(opened.error.message);
  const prepared = await opened.value.prepareSlot({
    path: slot,
    branch: 'drover/t/1',
    sha: git(values.repository, 'rev-parse', 'main'),
    keepBranch: false,
    dropIgnored: false,
    sparse: null,
    use: 'task',
  });
  if (!prepared.ok) throw new Error(prepared.error.message);
  return opened.value;
}

async function importMs(repository: LocalRepository, round: number): Promise<number> {
  const lent = await repository.lend(slot);
  if (!lent.ok) throw new Error(lent.error.message);
  mkdirSync(join(slot, 'made'), { recursive: true });
  for (let at = 0; at < files; at += 1)
    writeFileSync(join(slot, 'made', `${at}.txt`), `round ${round}, file ${at}\n`.repeat(100));
  const inside = gitInside(slot, lent.value);
  inside('add', '-A');
  inside('commit', '-q', '-m', `round ${round}`);
  const startedMs = performance.now();
  const taken = await repository.takeBack(slot);
  const ms = performance.now() - startedMs;
  if (!taken.ok) throw new Error(taken.error.message);
  const subject = git(slot, 'log', '-1', '--format=%s');
  if (subject !== `round ${round}`) throw new Error(`not imported: ${subject}`);
  return ms;
}

async function main(): Promise<void> {
  const repository = await openSlot();
  const times: number[] = [];
  for (let round = 0; round < warm + rounds; round += 1) {
    const ms = await importMs(repository, round);
    if (round >= warm) times.push(ms);
  }
  process.stdout.write(`${JSON.stringify(times)}\n`);
  process.exit(0);
}

void main();
