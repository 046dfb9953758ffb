// The page of a plan alone in Chromium: chosen, edited and added, by mouse and by keyboard.

import assert from 'node:assert/strict';
import { smallPlan, type PlanLine } from '../../doubles/plans.ts';
import { checkAxe } from '../support/axe.ts';
import { Refusal } from '../support/fake-host.ts';
import {
  openWebview,
  screenshot,
  type OpenOptions,
  type OpenWebview,
} from '../support/webview-page.ts';

suite('webview: plan', () => {
  let view: OpenWebview;

  const open = async (options: OpenOptions = {}): Promise<void> => {
    view = await openWebview('plan', {
      ...options,
      prepare: (host) => {
        host.action('readPlan', () => ({ plan: smallPlan() }));
        host.action('checkPlan', () => ({ problem: null, fresh: 5, changed: 0, unchanged: 0 }));
        options.prepare?.(host);
      },
    });
    await view.page.getByRole('heading', { level: 1 }).waitFor();
  };
  const added = async (): Promise<readonly PlanLine[]> => {
    const { text } = (await view.host.waitFor('addPlan')) as { text: string };
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as PlanLine);
  };

  test('issues name their source, and omitted issues are listed', async () => {
    const { epics, tasks, jsonl } = smallPlan();
    const left = { id: 'gh-7', title: 'Ship it', waits_for: ['acme/api#4'] };
    const plan = { source: 'issues', repository: 'acme/shop', epics, tasks, jsonl } as const;
    await open({
      prepare: (host) => host.action('readPlan', () => ({ plan: { ...plan, left_out: [left] } })),
    });
    const { page } = view;
    await page.getByText('Issues of acme/shop. Tick what is added').waitFor();
    await page.getByText('Ship it (gh-7) waits for acme/api#4').waitFor();
    await screenshot(page, 'plan-of-issues');
    await checkAxe(page);
    await page.getByRole('button', { name: 'Add 5 Tasks' }).click();
    assert.equal((await added()).filter(({ id }) => id === 'gh-7').length, 0);
  });

  test('issues that wait in a circle are named until an edge is removed, and known ones are counted', async () => {
    const { epics, tasks, jsonl } = smallPlan();
    const issues = { source: 'issues', repository: 'acme/shop', epics, tasks, jsonl } as const;
    await open({
      prepare: (host) => {
        host.action('readPlan', () => ({ plan: { ...issues, left_out: [] } }));
        host.action('checkPlan', ({ text }) =>
          text.includes('"blocked_by":["redirect"]')
            ? { problem: 'expiry: expiry → redirect → expiry', fresh: 0, changed: 0, unchanged: 0 }
            : { problem: null, fresh: 2, changed: 1, unchanged: 2 },
        );
      },
    });
    const { page } = view;
    await page.getByRole('alert').getByText('expiry → redirect → expiry').waitFor();
    await checkAxe(page);
    await page
      .getByRole('button', { name: 'Remove the dependency of Build expiry on Build redirect' })
      .click();
    await page.getByText('2 tasks of these are new, 1 is changed, 2 are unchanged').waitFor();
    assert.equal(await page.getByRole('alert').count(), 0);
    await view.close();
  });

  test('tasks that name the same files are listed, and one click adds the dependency', async () => {
    const small = smallPlan();
    const tasks = small.tasks.map((task) =>
      ['expiry', 'page'].includes(task.id) ? { ...task, description: 'In src/links.ts.' } : task,
    );
    await open({
      prepare: (host) => host.action('readPlan', () => ({ plan: { ...small, tasks } })),
    });
    const { page } = view;
    await page.getByText('name the same files and do not wait for each other').waitFor();
    await page.getByText('Build page and Build expiry: src/links.ts').waitFor();
    await screenshot(page, 'plan-same-files');
    await checkAxe(page);
    await page
      .getByRole('button', { name: 'Add Dependency: “Build page” waits for “Build expiry”' })
      .click();
    await page
      .getByRole('button', { name: 'Remove the dependency of Build page on Build expiry' })
      .waitFor();
    assert.equal(await page.getByText('name the same files').count(), 0);
    await page.getByRole('button', { name: 'Add 5 Tasks' }).click();
    const waiting = (await added()).find(({ id }) => id === 'page');
    assert.ok(waiting?.blocked_by?.includes('expiry'));
    await view.close();
  });

  test('the mouse excludes tasks, edits texts and dependencies, and adds the rest', async () => {
    await open();
    const { page, host } = view;
    host.action('pick', ({ items }) => ({
      id: items.find(({ label }) => label === 'Build license')?.id ?? null,
    }));
    await page.getByRole('checkbox', { name: 'Add Build redirect' }).click();
    const title = page.getByRole('textbox', { name: 'Title of Build expiry' });
    await title.fill('Let links expire');
    await title.blur();
    await page
      .getByRole('button', { name: 'Remove the dependency of Build page on Store the links' })
      .click();
    await page.getByRole('button', { name: 'Add a task that Let links expire waits for' }).click();
    await page
      .getByRole('button', { name: 'Remove the dependency of Let links expire on Build license' })
      .waitFor();
    await page.getByText('0 criteria · About expiry.').click();
    await page
      .getByRole('textbox', { name: 'Description of Let links expire' })
      .fill('After a day.');
    const criterion = page.getByRole('textbox', { name: 'Add a criterion to Let links expire' });
    await criterion.fill('A clock tests it');
    await criterion.press('Enter');
    await page.getByRole('textbox', { name: 'Criterion 1 of Let links expire' }).waitFor();
    await screenshot(page, 'plan-edited');
    await checkAxe(page);
    await page.getByRole('button', { name: 'Add 4 Tasks' }).click();
    const lines = await added();
    assert.deepEqual(
      lines.map(({ id }) => id),
      ['epic-links', 'epic-help', 'storage', 'expiry', 'page', 'license'],
    );
    const expiry = lines.find(({ id }) => id === 'expiry');
    assert.deepEqual(
      [expiry?.title, expiry?.description, expiry?.acceptance_criteria],
      ['Let links expire', 'After a day.', ['A clock tests it']],
    );
    assert.deepEqual([...(expiry?.blocked_by ?? [])].sort(), ['license', 'storage']);
    await view.close();
  });

  test('the keyboard moves from box to box, and Ctrl+Enter adds the plan', async () => {
    await open();
    const { page } = view;
    await page.getByRole('checkbox', { name: 'Add the tasks of Short links' }).focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Add 4 Tasks' }).waitFor();
    const isMixed = await page
      .getByRole('checkbox', { name: 'Add the tasks of Short links' })
      .evaluate((box: HTMLInputElement) => box.indeterminate);
    assert.equal(isMixed, true);
    await page.keyboard.press('Control+Enter');
    assert.ok(!(await added()).some(({ id }) => id === 'redirect'));
    await view.close();
  });

  test('Ctrl+Enter also adds a text that is still being typed', async () => {
    await open();
    const { page } = view;
    await page.getByRole('textbox', { name: 'Title of Build page' }).fill('Write the page');
    await page.keyboard.press('Control+Enter');
    const line = (await added()).find(({ id }) => id === 'page');
    assert.equal(line?.title, 'Write the page');
    await view.close();
  });

  test('changes survive a reload, and a refusal is shown', async () => {
    await open({
      prepare: (host) => {
        host.action('addPlan', () => {
          throw new Refusal('refused', 'Nothing was added: line 2: the epic is closed.');
        });
      },
    });
    const { page } = view;
    await page.getByRole('checkbox', { name: 'Add the tasks of Short links' }).click();
    await page.getByRole('button', { name: 'Add 2 Tasks' }).waitFor();
    await view.reload();
    await page.getByRole('button', { name: 'Add 2 Tasks' }).click();
    await page.getByRole('alert').getByText('Nothing was added: line 2').waitFor();
    await page.getByRole('button', { name: 'Discard' }).click();
    await view.host.waitFor('dropPlan');
    await view.close();
  });

  test('an added plan reports that it was added', async () => {
    view = await openWebview('plan', {
      prepare: (host) => host.action('readPlan', () => ({ plan: null })),
    });
    await view.page.getByText('This plan was added or discarded').waitFor();
    await view.close();
  });
});
