// An evening with GitHub in VS Code: issues become a plan, the epic a pull request, its threads are
// answered in the diff, and its rules are shown.

import assert from 'node:assert/strict';
import type { FakeGithub } from '../../doubles/fake-github/fake-github.ts';
import { startFakeGithub } from '../../doubles/fake-github/fake-github.ts';
import { reviewRule } from '../../doubles/fake-github/rules.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { activeTab, answerInputBox, openDrover, runCommand, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const slug = 'acme/shop';
const token = 'ghp_dummy0123456789';
const epic = 'Sell shoes';

suite('GitHub in VS Code', () => {
  let project: Project;
  let bench: Workbench;
  let fake: FakeGithub;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(180_000);
    fake = await startFakeGithub({ token });
    fake.git.create(slug);
    fake.permissions.set('lead', 'write');
    fake.rules.push(reviewRule(1));
    fake.issues.push(
      { slug, number: 1, title: epic },
      { slug, number: 2, parent: `${slug}#1`, title: 'Store shoes', body: 'With their sizes.' },
      { slug, number: 3, parent: `${slug}#1`, title: 'Show shoes', blockedBy: [`${slug}#2`] },
      { slug, number: 4, parent: `${slug}#1`, title: 'Ship shoes', blockedBy: [`${slug}#9`] },
      { slug, number: 9, title: 'Rent a warehouse' },
    );
    const settings = '[forge]\npoll = "1s"\nquiet = "10m"\n';
    project = demoProject({ stepMs: 50, settings, env: { GH_ENTERPRISE_TOKEN: token } });
    project.git('remote', 'add', 'origin', `${fake.url}${slug}.git`);
    project.git('push', '-q', fake.git.path(slug), 'main');
    await project.expect(0, ['init']);
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      settings: { 'drover.showPreflight': false },
    });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await project?.drover(['server', 'stop', '--force']);
    await bench?.close();
    await project?.end(false);
    await fake?.close();
    assert.deepEqual(fake?.faults, []);
  });

  test('issues become a plan on a page, and are added from it', async function () {
    this.timeout(120_000);
    const { page } = bench;
    await runCommand(page, 'Drover: Import Issues');
    await answerInputBox(page, '1');
    const plan = await webview(page, 'plan');
    await plan.getByText('Ship shoes (gh-4) waits for acme/shop#9').waitFor();
    await plan.getByRole('checkbox', { name: 'Add Show shoes' }).waitFor();
    await picture(page, 'forge-import', true);
    await plan.getByRole('button', { name: 'Add 2 Tasks' }).click();
    await row(tree, epic).waitFor();
    const { tasks } = await project.status();
    assert.deepEqual(
      tasks.map(({ id, blocked_by: by }) => `${id} ${by.join()}`),
      ['gh-2 ', 'gh-3 gh-2'],
    );
  });

  test('the row of the epic names the wait of its pull request', async function () {
    this.timeout(180_000);
    await project.expect(2, ['run', '--epic', 'gh-1', '--land', 'pr']);
    const { page } = bench;
    await eventually('the pull request is ready', () => fake.pulls.at(-1)?.isDraft === false);
    await row(tree, `${epic} 2/2 completed, PR #41 waits for 1 approval`).waitFor();
    // A wider side bar has room for the sentence.
    await page.mouse.move(350, 400);
    await page.mouse.down();
    await page.mouse.move(600, 400, { steps: 5 });
    await page.mouse.up();
    await page.mouse.move(900, 300);
    await tree.getByText('PR #41 waits for 1 approval').first().waitFor();
    await picture(page, 'forge-row', true);
  });

  test('a thread is read and answered in the diff', async function () {
    this.timeout(180_000);
    const { page } = bench;
    const path = 'demo/gh-2.md';
    const said = { author: 'lead', at: new Date().toISOString() };
    fake.threads.push(
      {
        id: 'RT_1',
        isResolved: false,
        path,
        line: 1,
        comments: [{ ...said, id: 'RC_1', body: 'Name the <b>sizes</b> as well.' }],
      },
      {
        id: 'RT_2',
        isResolved: true,
        path,
        line: 2,
        comments: [{ ...said, id: 'RC_2', body: 'A typo.' }],
      },
    );
    await eventually('the threads are known', async () =>
      (await project.expect(0, ['pr', 'gh-1'])).includes('(RT_2)'),
    );
    await row(tree, epic).click();
    await runCommand(page, 'Drover: Review Change');
    await activeTab(page, epic).waitFor();
    await page.getByText('Name the <b>sizes</b> as well.').first().waitFor();
    await page.locator('.review-thread-reply-button').first().click();
    await page.keyboard.type('They are in the table.');
    await page.locator('.form-actions').getByRole('button', { name: 'Reply on GitHub' }).click();
    await eventually('GitHub has the reply', () => fake.threads[0]?.comments.length === 2);
    assert.match(fake.threads[0]?.comments[1]?.body ?? '', /^They are in the table\.\n/u);
    await page.getByText('drover', { exact: true }).first().waitFor();
    await picture(page, 'forge-threads', true);
    assert.deepEqual(bench.violations, []);
  });

  test('the rules of pull requests are a table, and the report names the time to the merge', async function () {
    this.timeout(180_000);
    const { page } = bench;
    await runCommand(page, 'Drover: Check Pull Request Rules');
    const rules = await webview(page, 'rules');
    await rules.getByRole('table', { name: 'Rules of pull requests' }).waitFor();
    await picture(page, 'forge-rules', true);
    const head = fake.git.tip(slug, 'drover/gh-1') ?? '';
    const mergeCommit = fake.git.merge(slug, 'main', head, 'merge');
    Object.assign(fake.pulls.at(-1) ?? {}, { state: 'closed', lastHead: head, mergeCommit });
    await project.epicLanded();
    await runCommand(page, 'Drover: Show Runs');
    const runs = await webview(page, 'run');
    await runs.getByText('PR #41 was merged').waitFor();
    await picture(page, 'forge-report', true);
    assert.deepEqual(bench.violations, []);
  });
});
