// Compares a reused slot with a newly created one, and measures the removal of a worktree.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { openGitAdapter } from '../server/git/repository/adapter.ts';
import type { Bench } from './bench.ts';
import { engineRun } from './engine-figures.ts';
import { median, short, type Figure } from './figures.ts';
import { copyOf, git, repositoryOf, smallAgent } from './repositories.ts';

const part = 'pool';

export async function benchPool(bench: Bench): Promise<Figure[]> {
  const files = Math.max(...bench.options.files);
  return [await warmAgainstCold(bench, files), ...(await removal(bench, files))];
}

async function warmAgainstCold(bench: Bench, files: number): Promise<Figure> {
  const { folder, programs } = bench;
  const source = repositoryOf(folder, files);
  const agent = smallAgent(folder);
  const ratios: number[] = [];
  const colds: number[] = [];
  const warms: number[] = [];
  const rounds = Math.min(bench.options.pairs, 3);
  for (let round = 0; round < rounds; round += 1) {
    bench.say(`pool, ${files} files: round ${round + 1} of ${rounds}`);
    const one = await engineRun(programs, folder, { source, agent, tasks: 5, workers: 1 });
    const cold = median(one.ready.filter((wait) => wait.created).map((wait) => wait.ms));
    const warm = median(one.ready.filter((wait) => !wait.created).map((wait) => wait.ms));
    colds.push(cold);
    warms.push(warm);
    ratios.push(cold / warm);
  }
  return {
    part,
    what: `${files} files: ready for the agent, new slot against a used one`,
    value: median(ratios),
    unit: '×',
    target: { atLeast: 10 },
    detail: `${short(median(colds))} against ${short(median(warms))} ms; ratios ${ratios.map(short).join(' ')}`,
  };
}

async function removal(bench: Bench, files: number): Promise<Figure[]> {
  const copy = copyOf(bench.folder, repositoryOf(bench.folder, files));
  try {
    bench.say(`pool, ${files} files: removal`);
    const adapter = openGitAdapter();
    const opened = await adapter.open(copy.repository);
    if (!opened.ok) throw new Error(opened.error.message);
    const worktrees = join(copy.folder, 'worktrees');
    mkdirSync(worktrees);
    const path = join(worktrees, 'slot-1');
    const sha = git(copy.repository, 'rev-parse', 'main');
    const request = { path, branch: 'drover/x/1', sha, keepBranch: false };
    const made = await opened.value.prepareSlot({
      ...request,
      dropIgnored: false,
      sparse: null,
      use: 'task',
    });
    if (!made.ok) throw new Error(made.error.message);
    const startedAt = performance.now();
    const removed = await opened.value.removeWorktree({ path, label: 'x', force: false });
    const goneMs = performance.now() - startedAt;
    if (!removed.ok) throw new Error(removed.error.message);
    await adapter.settled();
    const deletedMs = performance.now() - startedAt;
    return [
      {
        part,
        what: `${files} files: removal of a worktree, until it is gone`,
        value: goneMs,
        unit: 'ms',
        target: null,
        detail: `deleted in the background after ${short(deletedMs)} ms`,
      },
    ];
  } finally {
    copy.remove();
  }
}
