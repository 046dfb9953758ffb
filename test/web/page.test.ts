// A person away from the desk: the panels in a real browser, wide and on a phone, with a real backend.

import assert from 'node:assert/strict';
import { eventually } from '../e2e/support/eventually.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { closeSharedBrowser } from '../vscode/host/browser.ts';
import { axeViolations } from '../webview/support/axe.ts';
import { desktop, openPage, phone, startWeb } from './support/web-program.ts';

const asks = 'demo: ask Which greeting? | Hello | Welcome\ndemo: write greeting.txt hello\n';

suite('the page of drover web', function () {
  this.timeout(180_000);
  const project = useProjects({ env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' } });
  suiteTeardown(closeSharedBrowser);

  test('a run is started, watched and reviewed in a wide window', async () => {
    const here = project({ settings: '[gate]\ncommand = "test -e greeting.txt"\n' });
    await here.expect(0, ['init', '--yes']);
    await here.add('Write a greeting', '--description', 'demo: write greeting.txt hello\n');
    const web = await startWeb(here);
    const { page, panel, problems } = await openPage(web.url, desktop);
    const tree = await panel('tree');
    await tree.getByRole('treeitem', { name: 'Write a greeting' }).waitFor();
    await tree.getByRole('button', { name: 'Run All Tasks' }).click();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await eventually(
      'the task has landed',
      async () => (await here.status()).counts.completed === 1,
    );
    await tree.getByRole('treeitem', { name: /Write a greeting/u }).click();
    const stream = await panel('stream');
    await stream.getByText('greeting.txt').first().waitFor();
    assert.equal(here.git('show', 'main:greeting.txt').trim(), 'hello');
    assert.deepEqual(await axeViolations(page), []);
    await page.getByRole('link', { name: 'Worktrees' }).click();
    const worktrees = await panel('worktrees');
    await worktrees.getByText('slot-1').first().waitFor();
    assert.deepEqual(await axeViolations(page), []);
    assert.deepEqual(problems, []);
    assert.equal(await web.stop(), 0);
  });

  test('a question is answered on a phone, and the task lands', async () => {
    const here = project({});
    await here.expect(0, ['init', '--yes']);
    const id = await here.add('Greet', '--description', asks);
    const web = await startWeb(here);
    const { page, panel, problems } = await openPage(web.url, phone);
    const inbox = await panel('inbox');
    const run = here.start(['run']);
    await inbox.getByText('Which greeting?').first().waitFor();
    assert.deepEqual(await axeViolations(page), []);
    await inbox.getByRole('button', { name: 'Welcome' }).tap();
    assert.equal((await run.ended).code, 0);
    await inbox.getByText('Nothing waits for you.').waitFor();
    assert.equal((await here.task(id)).status, 'completed');
    const [device] = JSON.parse(here.read('home/.local/state/drover/web/devices.json')) as [
      { name: string },
    ];
    const byPhone = await here.events('--by', device.name);
    assert.ok(byPhone.some(({ task_id: task }) => task === id));
    assert.deepEqual(problems, []);
    await web.stop();
  });

  test('a page finds its backend again after kill -9, with nothing lost or shown twice', async () => {
    const here = project({});
    await here.expect(0, ['init', '--yes']);
    await here.add('First');
    const web = await startWeb(here);
    const one = await openPage(web.url, desktop);
    const tree = await one.panel('tree');
    await tree.getByRole('treeitem', { name: 'First' }).waitFor();
    assert.equal(await here.killBackend(), true);
    await here.add('Second');
    await tree.getByRole('treeitem', { name: 'Second' }).waitFor();
    await one.context.setOffline(true);
    await here.add('Third');
    await one.context.setOffline(false);
    await tree.getByRole('treeitem', { name: 'Third' }).waitFor();
    assert.equal(await tree.getByRole('treeitem').count(), 3);
    await web.stop();
  });

  test('a paired device may do what its role allows, and is disconnected when it is removed', async () => {
    const here = project({});
    await here.expect(0, ['init', '--yes']);
    await here.add('First');
    const web = await startWeb(here);
    const first = await openPage(web.url, desktop);
    await first.page.getByRole('link', { name: 'Devices' }).click();
    await first.page.getByLabel('Name of the device').fill('My phone');
    await first.page.getByRole('button', { name: 'Show Code' }).click();
    const url = await first.page.getByText(/#token=/u).textContent();
    const second = await openPage(url ?? '', phone);
    await second.page.getByRole('link', { name: 'Tasks' }).click();
    const tree = await second.panel('tree');
    await tree.getByRole('button', { name: 'Run All Tasks' }).click();
    await tree.getByText('may only look').waitFor();
    // The link was used.
    const third = await openPage(url ?? '', desktop);
    await third.page.getByText('This link was used before').waitFor();
    await first.page.reload();
    await first.page.getByRole('button', { name: 'Remove My phone' }).click();
    await second.page.getByText('This device was removed.').waitFor();
    await second.page.reload();
    await second.page.getByText('This browser is not known here.').waitFor();
    await web.stop();
  });
});
