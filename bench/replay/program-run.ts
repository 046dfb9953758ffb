// Another program, or a person by hand, replays one window. The bench's README.md describes the
// contract.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Replay } from '../../test/replay/figures.ts';
import { copyOf, git } from '../repositories.ts';
import { asReplay, type Landed } from './outcome.ts';
import type { ReplayBench, WindowRun } from './window-run.ts';
import { writeScripts } from './scripts.ts';

const byHand = join(import.meta.dirname, 'by-hand.sh');
const lookMs = 200;

export async function replayByProgram(bench: ReplayBench, planned: WindowRun): Promise<Replay> {
  const { window, tasks, options } = planned;
  const folder = mkdtempSync(join(bench.folder, 'replay-'));
  const scripts = writeScripts(folder, tasks, { ...options, base: window.base });
  const copy = copyOf(bench.folder, options.mirror);
  const { repository, home } = copy;
  try {
    git(repository, 'checkout', '-q', '-B', 'main', window.base);
    const list = join(copy.folder, 'tasks.jsonl');
    const records = tasks.map(({ id, title, blockedBy }) =>
      JSON.stringify({ id, title, blocked_by: blockedBy }),
    );
    writeFileSync(list, `${records.join('\n')}\n`);
    const beganMs = Date.now();
    const command = planned.mode === 'by-hand' ? byHand : (options.program ?? '');
    const child = spawn('sh', ['-c', command], {
      cwd: repository,
      env: {
        PATH: process.env['PATH'],
        HOME: home,
        REPLAY_TASKS: list,
        REPLAY_AGENT: scripts.agent,
        REPLAY_GATE: scripts.gate,
        REPLAY_AGENTS: String(options.agents),
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const landed = await landingsUntil(once(child, 'exit'), repository, window.base);
    const open = tasks.filter(({ id }) => !landed.some((each) => each.id === id));
    return asReplay({
      ...planned,
      landed,
      beganMs,
      repository,
      journal: scripts.journal(),
      parallelGates: null,
      conflicts: null,
      unusedGateMs: null,
      forecast: null,
      kills: 0,
      open: open.map(({ id }) => `${id} has not landed`),
    });
  } finally {
    copy.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Work has landed once a commit on `main` names its task and no gate can revert it. */
async function landingsUntil(
  end: Promise<unknown>,
  repository: string,
  base: string,
): Promise<readonly Landed[]> {
  const firstMs = new Map<string, number>();
  let isOver = false;
  const over = end.then(() => (isOver = true));
  for (;;) {
    await Promise.race([over, delay(lookMs)]);
    const isLast = isOver;
    const named = git(repository, 'log', '--format=%s', `${base}..main`).match(/replay-c\d+/g);
    for (const id of firstMs.keys()) if (named?.includes(id) !== true) firstMs.delete(id);
    for (const id of named ?? []) if (!firstMs.has(id)) firstMs.set(id, Date.now());
    if (isLast) return [...firstMs].map(([id, atMs]) => ({ id, atMs, commit: null }));
  }
}
