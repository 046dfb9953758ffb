// Measures the page of a task from the click of a person, the page of a long run, and a search in the history.

import { eventually } from '../../e2e/support/eventually.ts';
import { panelClient } from '../../e2e/support/panel-client.ts';
import { runCommand, webview, webviews } from '../stories/support/parts.ts';
import { row, treeOf } from '../stories/support/tree.ts';
import type { Workbench } from '../stories/support/workbench.ts';
import { addLongRun } from './long-history.ts';
import { demo, measured, median, open, print } from './support.ts';

const searches = 5;
const attempts = 1_000;
const pages = 6;

/** The page of a task, from the click of a person; a long run's page; a search in the history. */
async function measureHistory(): Promise<void> {
  const project = demo();
  await project.expect(0, ['init']);
  for (let index = 0; index < pages; index += 1) await project.add(`Page ${index}`);
  await addLongRun(`${project.root}/.drover/drover.db`, attempts);
  const bench = await open(project);
  try {
    await measurePages(bench);
    await runCommand(bench.page, 'Drover: Show Runs');
    const run = await webview(bench.page, 'run');
    const { ms } = await measured(run, 'run.firstPaint');
    print(`run summary of ${attempts} attempts: script to first paint`, ms, '<= 500');
    const client = await panelClient(project);
    const searchMs: number[] = [];
    for (let round = 0; round < searches; round += 1) {
      const fromMs = performance.now();
      const { found } = await client.call('runs.list', { search: `part ${round} done` });
      if (found === 0) throw new Error('the search has found no run');
      searchMs.push(performance.now() - fromMs);
    }
    client.close();
    const what = `search in titles and errors of ${attempts} attempts`;
    print(`${what}: asked to answered, median of ${searches}`, median(searchMs), '<= 1000');
  } finally {
    await bench.close();
    await project.end(false);
  }
}

async function measurePages({ page }: Workbench): Promise<void> {
  const tree = await treeOf(page);
  const wholeMs: number[] = [];
  const scriptMs: number[] = [];
  for (let index = 0; index < pages; index += 1) {
    await row(tree, `Page ${index}`).hover();
    const clickedMs = Date.now();
    await row(tree, `Page ${index}`).dblclick();
    await page.locator('.tabs-container .tab.active', { hasText: `Page ${index}` }).waitFor();
    const { ms, atMs } = await measured(await webview(page, 'stream'), 'task.firstPaint');
    wholeMs.push(atMs - clickedMs);
    scriptMs.push(ms);
    await runCommand(page, 'View: Close Editor');
    await eventually('its page is gone', async () => (await webviews(page, 'stream')).length === 0);
  }
  const [firstMs = Number.NaN, ...othersMs] = wholeMs;
  print('task page: click to painted, the first one', firstMs, 'none');
  print(`task page: click to painted, median of ${pages - 1}`, median(othersMs), '<= 150');
  print(`task page: script to first paint, median of ${pages}`, median(scriptMs), 'none');
}

suite('task page and history, in numbers', () => {
  test('task page and history', measureHistory);
});
