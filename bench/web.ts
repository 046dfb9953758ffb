// The page of `drover web` in a real browser: what it costs at rest, how soon it shows something, and
// sixteen agents that print all the time. Needs `npm run build`, for the page's own files.

import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { launchBrowser, type Page } from '../test/vscode/host/browser.ts';
import { eventsOf, projectOf, startBackend, type BackendProject } from './backend.ts';
import type { Bench } from './bench.ts';
import { short, type Figure } from './figures.ts';
import { linesPerSecond, lostLines, talkingAgent } from './idle.ts';
import { ownUse, treeUse } from './process-use.ts';
import { repositoryOf } from './repositories.ts';

const command = join(import.meta.dirname, '..', 'dist', 'cli.js');

export async function benchWeb(bench: Bench): Promise<Figure[]> {
  const { brief } = bench.options;
  const { streams, seconds } = brief ? { streams: 2, seconds: 1 } : { streams: 16, seconds: 10 };
  const [settleMs, watchMs] = brief ? [500, 500] : [12_000, 20_000];
  const agent = talkingAgent(bench.folder, seconds);
  const project = await projectOf(bench, repositoryOf(bench.folder, 100), agent);
  const browser = await launchBrowser();
  try {
    const backend = await startBackend(bench, project);
    await backend.client.call('task.add', { title: 't0' });
    const { pid, url } = await startPage(project);
    const page = await browser.newPage();
    await page.goto(url);
    await row(page, 't0').waitFor();
    bench.say(`web: ${(settleMs + watchMs) / 1000} s of nothing`);
    await delay(settleMs);
    const uses = (): number => treeUse(backend.pid).cpuMs + treeUse(pid).cpuMs;
    const before = uses();
    await delay(watchMs);
    const idleMs = uses() - before;
    const paints = await inTurn(brief ? 1 : 10, () => firstPaint(page));
    // As many as the tree shows without scrolling.
    const pixels = await inTurn(brief ? 1 : 12, async (n) => {
      const shown = whenShown(page, `new ${n}`);
      await shown.ready;
      const addedMs = Date.now();
      await backend.client.call('task.add', { title: `new ${n}` });
      return (await shown.atMs) - addedMs;
    });
    bench.say(`web: ${streams} agents, ${linesPerSecond} lines a second each, ${seconds} s`);
    for (let i = 1; i < streams; i += 1) await backend.client.call('task.add', { title: `t${i}` });
    await page.getByRole('link', { name: 'Agents' }).click();
    const run = { workers: streams, target: 'main', env: project.environment };
    const { tasks } = await backend.client.call('status', {});
    const talking = tasks.filter(({ title }) => title.startsWith('t')).map(({ id }) => id);
    await backend.client.call('run.start', { ...run, tasks: talking });
    let largestMb = 0;
    const watch = setInterval(() => {
      largestMb = Math.max(largestMb, ownUse(backend.pid).rssMb);
    }, 200);
    await eventsOf(backend.client, 'task.completed', streams, 180_000);
    clearInterval(watch);
    const lines = linesPerSecond * seconds;
    const lost = talking.reduce((sum, id) => sum + lostLines(project.repository, id, lines), 0);
    await backend.kill('SIGTERM');
    return figures({
      idle: (idleMs / watchMs) * 100,
      paintMs: median(paints),
      pixelMs: median(pixels),
      worstPixelMs: Math.max(...pixels),
      lost,
      largestMb,
    });
  } finally {
    await browser.close();
    project.remove();
  }
}

interface Measured {
  readonly idle: number;
  readonly paintMs: number;
  readonly pixelMs: number;
  readonly worstPixelMs: number;
  readonly lost: number;
  readonly largestMb: number;
}

function figures(got: Measured): Figure[] {
  const figure = (what: string, value: number, unit: string, atMost: number, detail?: string) => ({
    part: 'web' as const,
    what,
    value,
    unit,
    target: { atMost },
    ...(detail === undefined ? {} : { detail }),
  });
  const worst = `worst ${short(got.worstPixelMs)} ms`;
  return [
    figure('CPU time of an idle backend with an open page', got.idle, '%', 0.3),
    figure('reload of the page to the first rows', got.paintMs, 'ms', 400),
    figure('a change to its row on the page', got.pixelMs, 'ms', 100, worst),
    figure('lines lost while the page shows all streams', got.lost, '', 0),
    figure('largest resident memory of the backend', got.largestMb, 'MB', 200),
  ];
}

async function startPage(project: BackendProject): Promise<{ pid: number; url: string }> {
  const child = spawn(process.execPath, ['--no-warnings', command, 'web', '--json'], {
    cwd: project.repository,
    env: project.environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  project.processes.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const { url } = JSON.parse(line) as { url: string };
    return { pid: child.pid ?? 0, url };
  }
  throw new Error('drover web ended. Run "npm run build" first.');
}

function row(page: Page, title: string) {
  return page.frameLocator('iframe[title="Tasks"]').getByRole('treeitem', { name: title });
}

/** From the start of a reload until the rows are drawn. */
async function firstPaint(page: Page): Promise<number> {
  const startMs = Date.now();
  await page.reload({ waitUntil: 'commit' });
  return (await whenShown(page, 't0').atMs) - startMs;
}

/** The time (Unix ms) of the frame in which the tree has this row. */
function whenShown(page: Page, title: string): { ready: Promise<void>; atMs: Promise<number> } {
  const tree = page.frameLocator('iframe[title="Tasks"]').locator('drover-tree');
  const atMs = tree.evaluate(
    (element, wanted) =>
      new Promise<number>((resolve) => {
        const { requestAnimationFrame: atFrame } = globalThis as unknown as {
          requestAnimationFrame: (look: () => void) => void;
        };
        const look = (): void => {
          const rows = [...(element.shadowRoot?.querySelectorAll('.row .title') ?? [])];
          if (rows.some(({ textContent }) => textContent.trim() === wanted)) resolve(Date.now());
          else atFrame(look);
        };
        look();
      }),
    title,
  );
  return { ready: tree.evaluate(() => {}), atMs };
}

async function inTurn(
  count: number,
  measure: (n: number) => Promise<number>,
): Promise<readonly number[]> {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) all.push(await measure(n));
  return all;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
