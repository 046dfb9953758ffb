// Imports an agent's commits from its lent folder repeatedly, in a process as small as a backend,
// because starting a process copies the parent's memory map. Prints milliseconds as JSON.

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { gitInside } from '../test/git/lent-git.ts';
import { git } from './repositories.ts';
import { elapsedMs, openSlot, type Slot, valueOf } from './slots.ts';

const { values } = parseArgs({
  options: {
    folder: { type: 'string', default: '' },
    /** Number of files in the commit. */
    changes: { type: 'string', default: '20' },
    /** Imports that are not counted, because a backend is usually warm. */
    warm: { type: 'string', default: '5' },
    rounds: { type: 'string', default: '20' },
  },
});
const changes = Number(values.changes);
const warm = Number(values.warm);
const rounds = Number(values.rounds);

async function importMs({ repository, path }: Slot, round: number): Promise<number> {
  const lent = valueOf(await repository.lend(path));
  mkdirSync(join(path, 'made'), { recursive: true });
  for (let at = 0; at < changes; at += 1)
    writeFileSync(join(path, 'made', `${at}.txt`), `round ${round}, file ${at}\n`.repeat(100));
  const inside = gitInside(path, lent);
  inside('add', '-A');
  inside('commit', '-q', '-m', `round ${round}`);
  const ms = await elapsedMs(async () => valueOf(await repository.takeBack(path)));
  const subject = git(path, 'log', '-1', '--format=%s');
  if (subject !== `round ${round}`) throw new Error(`not imported: ${subject}`);
  return ms;
}

async function main(): Promise<void> {
  const slot = await openSlot(values.folder, 100, 'task');
  const times: number[] = [];
  try {
    for (let round = 0; round < warm + rounds; round += 1) {
      const ms = await importMs(slot, round);
      if (round >= warm) times.push(ms);
    }
  } finally {
    slot.copy.remove();
  }
  process.stdout.write(`${JSON.stringify(times)}\n`, () => process.exit(0));
}

void main();
