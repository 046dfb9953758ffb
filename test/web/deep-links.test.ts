// A question reaches a person who is elsewhere: by a webhook and by the browser, both with a link that
// opens the page at the question, and answers nothing.

import assert from 'node:assert/strict';
import { startWebReceiver, type WebReceiver } from '../doubles/web-receiver.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { closeSharedBrowser } from '../vscode/host/browser.ts';
import { openPage, phone, startWeb } from './support/web-program.ts';

const asks = 'demo: ask Which greeting? | Hello | Welcome\ndemo: write greeting.txt hello\n';

suite('links to a question', function () {
  this.timeout(120_000);
  const project = useProjects({ env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' } });
  let receiver: WebReceiver;
  setup(async () => (receiver = await startWebReceiver()));
  teardown(async () => await receiver.close());
  suiteTeardown(closeSharedBrowser);

  test('a webhook and a notification lead to it, and the link lets no other browser in', async () => {
    const here = project({
      env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' },
      settings: `[web]\nurl = "http://127.0.0.1:1"\n[webhooks]\nallow_private = true\n[webhooks.endpoints.chat]\nurl = "${receiver.url}"\nformat = "slack"\nevents = ["question.asked"]\n`,
    });
    await here.expect(0, ['init', '--yes']);
    await here.add('Other');
    await here.add('Greet', '--description', asks);
    const web = await startWeb(here);
    const { page, context, panel } = await openPage(web.url, phone);
    await context.grantPermissions(['notifications'], { origin: web.origin });
    await page.addInitScript(() => {
      Object.defineProperty(document, 'hidden', { get: () => true });
    });
    await page.reload();
    await page.getByRole('link', { name: 'Tasks' }).click();
    await (await panel('tree')).getByRole('treeitem', { name: 'Greet' }).waitFor();
    const run = here.start(['run']);
    const [delivery] = await eventually('the webhook', () =>
      receiver.received.length > 0 ? receiver.received : undefined,
    );
    const { text } = JSON.parse(delivery?.body ?? '') as { text: string };
    assert.match(
      text,
      /asks: Which greeting\? http:\/\/127\.0\.0\.1:1\/#\/~[0-9a-f]{12}\/inbox\/q-/u,
    );
    const { hash } = new URL(text.slice(text.lastIndexOf(' ') + 1));

    const [shown] = await eventually('the notification', async () => {
      const found = await page.evaluate(async () => {
        const worker = await navigator.serviceWorker.ready;
        const all = await worker.getNotifications();
        return all.map(({ title, body, data }) => ({ title, body, data: data as object }));
      });
      return found.length > 0 ? found : undefined;
    });
    assert.deepEqual(shown, { title: 'Greet', body: 'Which greeting?', data: { hash } });

    await page.goto(`${web.origin}/${hash}`);
    const inbox = await panel('inbox');
    const focused = inbox.locator('li:focus');
    await focused.getByText('Which greeting?').waitFor();
    const stranger = await openPage(`${web.origin}/${hash}`, phone);
    await stranger.page.getByText('This browser is not known here.').waitFor();

    await focused.getByRole('button', { name: 'Welcome' }).tap();
    assert.equal((await run.ended).code, 0);
    await web.stop();
  });
});
