// The grid of all agents alone in Chromium.

import assert from 'node:assert/strict';
import { questionView, taskView } from '../../doubles/views.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf, numbered } from '../support/boards.ts';
import { type ThemeName, stateThemes } from '../support/themes.ts';
import { openWebview, screenshot, type OpenWebview } from '../support/webview-page.ts';
import { FakeLog, outputLine, outputLines } from './fake-log.ts';

suite('webview: grid', () => {
  let view: OpenWebview;
  let logs: Map<string, FakeLog>;

  const tile = (name: string): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('button', { name });

  async function open(
    count: number,
    theme: ThemeName = 'Dark 2026',
    startedAt = (index: number) => 1_700_000_000 + index,
  ): Promise<void> {
    const tasks = numbered(
      Array.from({ length: count }, (_, index) => ({
        id: `task-${index}`,
        title: `Task number ${index}`,
        status: 'in_progress' as const,
        phase: index === 1 ? 'gate' : 'agent',
        agent: 'claude',
        attempts: 1,
        started_at: startedAt(index),
      })),
    );
    logs = new Map(tasks.map(({ id }) => [id, new FakeLog(outputLines(100))]));
    const questions = [questionView({ id: 'q', task_id: 'task-2', text: 'May I?' })];
    view = await openWebview('grid', {
      theme,
      state: { board: { ...boardOf(tasks), questions: count > 2 ? questions : [] } },
      prepare: (host) => {
        host.backend('log.read', (params) => {
          const log = logs.get(params.id);
          if (log === undefined) throw new Error(`no log of ${params.id}`);
          return log.read(params);
        });
        host.action('openStream', () => ({}));
        host.action('runAll', () => ({}));
      },
    });
  }

  for (const theme of stateThemes) {
    test(`it shows every agent with its last lines: ${theme}`, async () => {
      await open(16, theme);
      await tile('Task number 15').waitFor();
      await view.page.getByText('line 99').nth(15).waitFor();
      await view.page.getByText('waits for you').waitFor();
      await screenshot(view.page, `grid-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('it shows new lines, a click and Enter open a stream, and arrow keys move', async () => {
    await open(4);
    await tile('Task number 3').waitFor();
    logs.get('task-1')?.write(outputLine(100, 'something new'));
    await view.page.getByText('something new').waitFor();
    // The agent of task-2 asks, so its tile is the first.
    await view.page.keyboard.press('Tab');
    await view.page.keyboard.press('ArrowRight');
    await view.page.keyboard.press('ArrowRight');
    await view.page.keyboard.press('ArrowLeft');
    await view.host.until('the tile is selected', () => view.host.selection[0] === 'task-0');
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'task-0' });
    await view.page.getByText('line 99').nth(3).click();
    assert.deepEqual(await view.host.waitFor('openStream', 1), { task: 'task-3' });
    await view.close();
  });

  test('a question is answered on its tile, and none of twelve tiles is cut off', async () => {
    await open(12);
    view.host.backend('answer', () => taskView({ id: 'task-2' }));
    for (const [width, height] of [
      [1_000, 700],
      [853, 533],
      [240, 600],
    ] as const) {
      await view.page.setViewportSize({ width, height });
      await view.page.getByText('line 99').first().waitFor();
      await screenshot(view.page, `grid-${width}`);
      const asking = view.page.locator('drover-tile').first();
      const outer = await asking.boundingBox();
      assert.ok(outer !== null);
      for (const name of ['allow', 'deny']) {
        const box = await asking.getByRole('button', { name }).boundingBox();
        assert.ok(box !== null && box.height > 0 && box.width > 0, `${name} at ${width} px`);
        assert.ok(
          box.x >= outer.x && box.x + box.width <= outer.x + outer.width,
          `${name} at ${width} px`,
        );
        assert.ok(box.y + box.height <= outer.y + outer.height, `${name} at ${width} px`);
      }
      if (width !== 1_000) continue;
      const last = await view.page.locator('drover-tile').last().boundingBox();
      assert.ok(last !== null && last.y + last.height <= height, 'all twelve are in sight');
    }
    await view.page.getByRole('button', { name: 'deny' }).click();
    assert.deepEqual(await view.host.waitFor('answer'), { id: 'q', choice: 'deny' });
    assert.deepEqual(view.host.of('openStream'), []);
    await view.close();
  });

  test('a tile is removed when its agent ends, and an empty grid shows the next step', async () => {
    await open(1);
    await tile('Task number 0').waitFor();
    await view.host.pushState({ board: boardOf([]) });
    await view.page.getByText('No agents are running.').waitFor();
    await checkAxe(view.page);
    await view.page.getByRole('button', { name: 'Run All' }).click();
    assert.deepEqual(await view.host.waitFor('runAll'), {});
    await view.close();
  });

  test('quiet agents, more than are drawn at a time, all update their time', async () => {
    const atOnce = Math.floor(Date.now() / 1000) - 20;
    await open(40, 'Dark 2026', () => atOnce);
    await view.page.getByText('line 99').nth(39).waitFor({ state: 'attached' });
    const times = (): Promise<string[]> =>
      view.page.locator('.facts > span:last-child').allTextContents();
    const first = await times();
    assert.equal(first.length, 40);
    let now = first;
    while (now.some((time, at) => time === first[at])) now = await times();
    await view.close();
  });

  test('it shows how much it skipped', async () => {
    await open(1);
    await view.page.getByText('line 99').waitFor();
    logs.get('task-0')?.write(...outputLines(20_000, 100));
    await view.page.getByText('line 20099').waitFor();
    await view.page.getByText(/about [\d,]+ lines skipped in this view/).waitFor();
    await view.close();
  });
});
