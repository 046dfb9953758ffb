// The page of runs alone in Chromium: one run in full, the history with its search, keys, and a thousand attempts.

import assert from 'node:assert/strict';
import type { Report } from '../../../server/core/history/report.ts';
import type { RunList } from '../../../server/core/history/run-list.ts';
import type { TranscriptSearch } from '../../../server/core/history/transcript-search.ts';
import type { HostState } from '../../../webview/messages/messages.ts';
import { largeRun, runLines, smallRun } from '../../doubles/reports.ts';
import { taskView } from '../../doubles/views.ts';
import { checkAxe } from '../support/axe.ts';
import { boardOf, smallBoard } from '../support/boards.ts';
import { type FakeHost, Refusal } from '../support/fake-host.ts';
import { hostState } from '../support/host-state.ts';
import { stateThemes } from '../support/themes.ts';
import {
  openWebview,
  screenshot,
  type OpenOptions,
  type OpenWebview,
} from '../support/webview-page.ts';

/** Two attempts among the newest 640 of a thousand, one among the others. */
function transcripts({
  after,
}: {
  readonly after?: string;
  readonly words: string;
}): TranscriptSearch {
  const hit = {
    task_id: 'print',
    title: 'Print the tree',
    attempt: 2,
    run_id: 'run-1',
    agent: null,
  };
  const text = '…the total of the CART';
  const found = { ...hit, at_ms: Date.UTC(2026, 0, 2, 9), offset: 4_711, type: 'text', text };
  if (after !== undefined) {
    return { hits: [{ ...found, attempt: 1 }], searched: 360, attempts: 1_000, next: null };
  }
  const other = { ...found, task_id: 'check', title: 'Check types', type: 'tool_call' };
  return { hits: [found, other], searched: 640, attempts: 1_000, next: 'older' };
}

suite('webview: run', () => {
  let view: OpenWebview;

  const open = async (
    report: Report = smallRun(),
    options: OpenOptions = {},
    runs = 12,
  ): Promise<void> => {
    view = await openWebview('run', {
      ...options,
      prepare: (host) => {
        host.backend('runs.list', () => runLines(runs));
        host.backend('report', ({ id = 'run-1' }) => ({ ...report, id }));
        host.backend('transcripts.search', (params) => transcripts(params));
        options.prepare?.(host);
      },
    });
    await view.page.getByRole('heading', { level: 1 }).waitFor();
  };
  /** Without an answer for the list. */
  const openUnanswered = async (
    prepare: (host: FakeHost) => void,
    state: Partial<HostState> = {},
  ): Promise<void> => {
    view = await openWebview('run', {
      state,
      prepare: (host) => {
        host.backend('report', () => smallRun());
        prepare(host);
      },
    });
  };
  const bar = (name: RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('listbox', { name: /^Attempts/ }).getByRole('option', { name });
  const focused = async (): Promise<string> =>
    await view.page.evaluate(() => {
      let element = document.activeElement;
      while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      return element?.getAttribute('aria-label') ?? '';
    });

  for (const theme of stateThemes) {
    test(`a complete run has no accessibility violation: ${theme}`, async () => {
      await open(smallRun(), { theme, viewport: { width: 1_280, height: 1_400 } });
      await bar(/^Print the tree, attempt 1/).click();
      await screenshot(view.page, `run-full-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('it shows landings, failures and their reasons, the critical path, time and cost', async () => {
    await open();
    const { page } = view;
    await page.getByText(/finished after 23 min\. 2 tasks landed on main\./).waitFor();
    const path = page.getByRole('region', { name: 'Critical path' });
    await path.getByRole('cell', { name: 'Write the parser landed' }).waitFor();
    const left = page.getByRole('region', { name: 'Not landed', exact: true });
    await left.getByRole('cell', { name: 'Check types' }).waitFor();
    const cost = page.getByRole('region', { name: 'Cost by agent and model' });
    await cost.getByRole('row', { name: /claude:opus 3 36,000 2,700 \$1\.50/ }).waitFor();
    await page.getByText(/The gate ran 3 times: 2 passed, 1 failed/).waitFor();
    await view.close();
  });

  test("it names an epic's branch by the epic's title", async () => {
    const report = smallRun();
    const landed = report.landed.map((each) => ({ ...each, branch: 'drover/epic/syntax' }));
    await open({ ...report, landed });
    await view.page.getByText(/2 tasks landed on the branch of “.+”/).waitFor();
    assert.equal(await view.page.getByText('drover/epic').count(), 0);
    await view.close();
  });

  test('a landed commit opens its change, a task its page, and an attempt its stream', async () => {
    await open();
    const { page, host } = view;
    const landed = page.getByRole('region', { name: 'Landed', exact: true });
    await landed.getByRole('button', { name: 'sha-pars' }).click();
    assert.deepEqual(await host.waitFor('review'), { id: 'parse' });
    await landed.getByRole('button', { name: 'Print the tree' }).click();
    assert.deepEqual(await host.waitFor('openStream'), { task: 'print' });
    await bar(/^Check types, attempt 2/).dblclick();
    assert.deepEqual(await host.waitFor('openStream', 1), { task: 'check', attempt: 2 });
    await view.close();
  });

  test('keys move through the timeline, and Enter opens the attempt', async () => {
    await open();
    await bar(/^Write the parser/).focus();
    await view.page.keyboard.press('ArrowDown');
    assert.match(await focused(), /^Check types, attempt 1/);
    await view.page.keyboard.press('End');
    assert.match(await focused(), /^Print the tree, attempt 1 .* on the critical path$/);
    await view.page.getByRole('status').getByText('Print the tree, attempt 1').waitFor();
    await view.page.keyboard.press('Enter');
    assert.deepEqual(await view.host.waitFor('openStream'), { task: 'print', attempt: 1 });
    await view.close();
  });

  test('failed tasks are retried together', async () => {
    const board = boardOf([taskView({ id: 'check', status: 'failed' })]);
    const report = smallRun();
    const left = report.left.map((task) => ({ ...task, id: 'check', status: 'failed' as const }));
    await open({ ...report, left }, { state: { board } });
    await view.page.getByRole('button', { name: 'Retry 1 failed task and run' }).click();
    assert.deepEqual(await view.host.waitFor('retryFailed'), { ids: ['check'] });
    await view.close();
  });

  test('an earlier run is selected with keys and stays selected, and the search is sent once', async () => {
    await open();
    const { page, host } = view;
    await page.getByRole('listbox', { name: 'Runs' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('option', { name: /A language/, selected: true }).waitFor();
    await host.until('the second run is read', () =>
      host.of('report').some(({ params }) => (params as { id: string }).id === 'run-2'),
    );
    await view.reload();
    await host.until(
      'the second run is read again',
      () => host.of('report').filter(({ params }) => (params as { id: string }).id === 'run-2')[1],
    );
    const search = page.getByRole('searchbox', { name: /^Search runs/ });
    await search.fill('parser');
    await host.until('the search', () =>
      host
        .of('runs.list')
        .some(({ params }) => (params as { search?: string }).search === 'parser'),
    );
    await screenshot(page, 'run-search');
    await view.close();
  });

  test('a search also searches transcripts, and a match opens the stream at its position', async () => {
    await open(smallRun(), { viewport: { width: 1_280, height: 800 } });
    const { page, host } = view;
    await page.getByRole('searchbox', { name: /^Search runs/ }).fill('Cart total');
    const found = page.getByRole('region', { name: 'In transcripts' });
    await found
      .getByText('2 attempts found in the transcripts of the newest 640 of 1000')
      .waitFor();
    const row = found.getByRole('row', { name: /Print the tree \(2\)/ });
    assert.equal(await row.getByText('Agent says').count(), 1);
    assert.deepEqual(await row.locator('mark').allTextContents(), ['total', 'CART']);
    await found.getByRole('button', { name: 'Search older transcripts (360 left)' }).click();
    await found.getByText('3 attempts found in the transcripts of 1000 attempts.').waitFor();
    assert.deepEqual(host.of('transcripts.search').at(-1)?.params, {
      words: 'Cart total',
      after: 'older',
    });
    await row.getByRole('button').click();
    assert.deepEqual(await host.waitFor('openStream'), {
      task: 'print',
      attempt: 2,
      place: { offset: 4_711, words: 'Cart total' },
    });
    await view.close();
  });

  for (const theme of stateThemes) {
    test(`search results have no accessibility violation: ${theme}`, async () => {
      await open(smallRun(), { theme, viewport: { width: 1_280, height: 800 } });
      await view.page.getByRole('searchbox', { name: /^Search runs/ }).fill('Cart total');
      await view.page.getByRole('button', { name: /^Search older transcripts/ }).waitFor();
      await screenshot(view.page, `run-found-${theme.toLowerCase().replaceAll(' ', '-')}`);
      await checkAxe(view.page);
      await view.close();
    });
  }

  test('results of an earlier search are not shown', async () => {
    const late = Promise.withResolvers<TranscriptSearch>();
    await open(smallRun(), {
      prepare: (host) => {
        host.backend('transcripts.search', (params) =>
          params.words === 'slow' ? late.promise : { ...transcripts(params), hits: [] },
        );
      },
    });
    const { page, host } = view;
    const field = page.getByRole('searchbox', { name: /^Search runs/ });
    await field.fill('slow');
    await host.waitFor('transcripts.search');
    await page.getByText('Searching …').waitFor();
    await field.fill('quick');
    await page.getByText('Nothing found in the transcripts of').waitFor();
    late.resolve(transcripts({ words: 'slow' }));
    await field.fill('');
    await page.getByRole('region', { name: 'In transcripts' }).waitFor({ state: 'detached' });
    assert.equal(await page.getByText('of the CART').count(), 0);
    await view.close();
  });

  test('an active run is read again when the board changes', async () => {
    await open({ ...smallRun(), state: 'active' });
    const { host, page } = view;
    await page.getByText(/running for/).waitFor();
    const { state } = host;
    host.backend('report', ({ id = 'run-1' }) => ({ ...smallRun(), id }));
    await host.pushState({ board: { ...(state.board ?? smallBoard()), seq: 200 } });
    await page.getByText(/finished after/).waitFor();
    await view.close();
  });

  test('a missing run and an unreadable run are reported', async () => {
    await open(smallRun(), {}, 0);
    await view.page.getByText('No run has been started yet.').waitFor();
    await view.close();
    view = await openWebview('run', {
      memory: { run: 'run-gone', search: '' },
      prepare: (host) => {
        host.backend('runs.list', () => runLines(1));
        host.backend('report', ({ id }) => {
          if (id === 'run-gone') throw new Refusal('unknown_id', 'No run and no epic "run-gone".');
          return smallRun();
        });
      },
    });
    await view.page.getByRole('alert').getByText('No run and no epic').waitFor();
    await view.page.getByRole('button', { name: 'Show the latest run' }).click();
    await view.page.getByRole('heading', { name: 'Run of A language' }).waitFor();
    await view.close();
  });

  test('the list and the report of the newest run are requested together, before the board arrives', async () => {
    const late = Promise.withResolvers<RunList>();
    const board = Promise.withResolvers<Record<string, never>>();
    await openUnanswered((host) => {
      host.backend('runs.list', () => late.promise);
      host.action('hello', () => board.promise);
    });
    const { host, page } = view;
    assert.deepEqual(await host.waitFor('report'), {});
    assert.equal(host.of('runs.list').length, 1);
    late.resolve(runLines(12));
    await host.pushState({});
    await page.getByRole('heading', { name: 'Run of A language' }).waitFor();
    assert.equal(host.of('report').length, 1);
    board.resolve({});
    await view.close();
  });

  test('requests that were refused before the backend connected are repeated, and no error is shown', async () => {
    const { board, connection } = hostState('run');
    let isThere = false;
    const refuse = (): void => {
      if (!isThere) throw new Refusal('gone', 'The connection to the backend was lost.');
    };
    await openUnanswered(
      (host) => {
        host.backend('runs.list', () => (refuse(), runLines(2)));
        host.backend('report', () => (refuse(), smallRun()));
      },
      { board: null, connection: { kind: 'connecting' } },
    );
    const { host, page } = view;
    await host.waitFor('report');
    isThere = true;
    await host.pushState({ board, connection });
    await page.getByRole('heading', { name: 'Run of A language' }).waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await view.close();
  });

  test('the bar under the pointer shows its text', async () => {
    await open();
    await bar(/^Check types, attempt 1/).hover();
    assert.match(
      (await view.page.locator('svg rect title').allTextContents()).join(),
      /^Check types, attempt 1/,
    );
    await view.page.getByRole('heading', { name: 'Timeline' }).hover();
    await bar(/^Write the parser/).hover();
    assert.match(
      (await view.page.locator('svg rect title').allTextContents()).join(),
      /^Write the parser, attempt 1[^,]*/,
    );
    await view.close();
  });

  test('a thousand attempts are drawn within half a second', async () => {
    const report = largeRun(1_000);
    await open(report, { state: { board: boardOf([]) } }, 500);
    assert.equal(
      await view.page
        .getByRole('listbox', { name: /^Attempts/ })
        .getByRole('option')
        .count(),
      1_000,
    );
    // One element for each attempt; their parts are drawn together.
    const drawn = await view.page.locator('drover-timeline svg *').count();
    assert.ok(drawn < 1_100, `${drawn} elements for 1,000 attempts`);
    const { ms } = (await view.host.waitFor('measured')) as { ms: number };
    // The page's own cost is measured with it; the limit leaves room for a shared machine.
    assert.ok(ms < 5_000, `first paint after ${ms} ms`);
    console.log(`      (first paint ${ms.toFixed(0)} ms)`);
    await screenshot(view.page, 'run-large');
    const rows = await view.page.locator('.row').count();
    assert.ok(rows < 60, `${rows} of 500 runs are on the page`);
    await view.close();
  });

  test('the page fits into a narrow panel', async () => {
    await open(smallRun(), { viewport: { width: 600, height: 900 } });
    const overflow = await view.page.evaluate(() => {
      const report = document.querySelector('drover-run')?.shadowRoot?.querySelector('.report');
      return report === null || report === undefined ? -1 : report.scrollWidth - report.clientWidth;
    });
    assert.equal(overflow, 0);
    await screenshot(view.page, 'run-narrow');
    await view.close();
  });
});
