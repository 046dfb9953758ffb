// Two devices and a client like VS Code at once, while the backend is killed and the phone loses its
// network without a word: nothing is lost, nothing happens or shows twice.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Client } from '../../server/protocol/api.ts';
import { startStallingProxy } from '../durable/stalling-proxy.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { panelClient } from '../e2e/support/panel-client.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { closeSharedBrowser, type Frame } from '../vscode/host/browser.ts';
import { directives } from '../vscode/stories/support/demo-project.ts';
import { desktop, type OpenedPage, openPage, phone, startWeb } from './support/web-program.ts';

suite('several devices at the page of drover web', function () {
  this.timeout(240_000);
  const project = useProjects({
    env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' },
    settings: '[agent.env]\nDROVER_DEMO_STEP_MS = "50"\n',
  });
  suiteTeardown(closeSharedBrowser);

  test('two devices and a client miss nothing over a killed backend and a dead network', async () => {
    const here = project();
    await here.expect(0, ['init', '--yes']);
    const go = join(here.folder, 'go');
    const count = directives(`say-until ${go} tick {{n}}`, 'write count.txt x');
    const counting = await here.add('Count', '--description', count);
    const ask = directives('ask Which color? | Red | Blue', 'write color.txt {{answer}}');
    const asking = await here.add('Choose', '--description', ask);
    const web = await startWeb(here);
    const desk = await openPage(web.url, desktop);
    const cable = await startStallingProxy(Number(new URL(web.origin).port));
    const mobile = await pairPhone(desk, cable.port);
    const heard = await Heard.begin(here);

    await heard.client.call('run.start', {});
    const inbox = await mobile.panel('inbox');
    await inbox.getByRole('button', { name: 'Blue' }).waitFor();
    await desk.page.goto(`${web.origin}/#/stream/${counting}`);
    const stream = await desk.panel('stream');
    await stream.getByText('tick 5', { exact: true }).waitFor();

    assert.equal(await here.killBackend(), true);
    await heard.again();
    await inbox.getByRole('button', { name: 'Blue' }).waitFor();

    cable.cut();
    await mobile.context.setOffline(true);
    const added = ['One', 'Two', 'Three'];
    for (const title of added) await here.add(title);
    const deskInbox = await desk.panel('inbox');
    const answered = deskInbox.getByRole('button', { name: 'Red' });
    await answered.click();
    await deskInbox.getByText('Nothing waits for you.').waitFor();
    cable.mendForNew();
    await mobile.context.setOffline(false);
    await inbox.getByText('Nothing waits for you.').waitFor();
    here.write('go', '');

    await mobile.page.getByRole('link', { name: 'Tasks' }).tap();
    const trees = [await desk.panel('tree'), await mobile.panel('tree')] as const;
    await eventually('the run is over', async () => (await here.status()).run?.active === false);
    for (const tree of trees) await tree.getByRole('treeitem', { name: 'Count' }).waitFor();
    const rows = await Promise.all(trees.map(async (tree) => await titles(tree)));
    assert.deepEqual(rows[0]?.toSorted(), ['Choose', 'Count', ...added].toSorted());
    assert.deepEqual(rows[1], rows[0]);

    assert.equal(here.git('show', 'main:color.txt'), 'Red');
    const events = await here.events();
    const answers = events.filter(({ type }) => type === 'question.answered');
    assert.deepEqual(
      answers.map(({ task_id: task }) => task),
      [asking],
    );
    await eventually('the client has heard the last event', () =>
      heard.numbers.includes(events.at(-1)?.seq ?? 0),
    );
    const following = events.map(({ seq }) => seq).filter((seq) => seq > heard.after);
    assert.deepEqual(heard.numbers, following);
    const ticks = await ticksOf(here, counting);
    assert.deepEqual(ticks, [...ticks.keys()]);
    heard.client.close();
    await cable.close();
    await web.stop();
  });
});

/** A phone that decides, behind a cable that can be cut. */
async function pairPhone(desk: OpenedPage, port: number): Promise<OpenedPage> {
  const { page } = desk;
  await page.getByRole('link', { name: 'Devices' }).click();
  await page.getByLabel('Name of the device').fill('My phone');
  await page.getByLabel('What it may do').selectOption('decide');
  await page.getByRole('button', { name: 'Show Code' }).click();
  const link = new URL((await page.getByText(/#token=/u).textContent()) ?? '');
  link.port = String(port);
  return await openPage(link.href, phone);
}

async function titles(tree: Frame): Promise<readonly string[]> {
  return await tree.locator('.row.task .title').allTextContents();
}

async function ticksOf(here: Project, id: string): Promise<readonly number[]> {
  const text = await here.expect(0, ['log', id]);
  return [...text.matchAll(/\btick (\d+)/gu)].map(([, number]) => Number(number));
}

/** A client that follows the feed by number, over as many connections as it takes. */
class Heard {
  readonly #here: Project;
  readonly after: number;
  readonly numbers: number[] = [];
  client: Client;

  private constructor(here: Project, client: Client, after: number) {
    this.#here = here;
    this.client = client;
    this.after = after;
  }

  static async begin(here: Project): Promise<Heard> {
    const client = await panelClient(here);
    const { seq } = await client.call('status', {});
    const heard = new Heard(here, client, seq);
    await heard.#follow();
    return heard;
  }

  async again(): Promise<void> {
    this.client.close();
    this.client = await panelClient(this.#here);
    await this.#follow();
  }

  async #follow(): Promise<void> {
    const after = this.numbers.at(-1) ?? this.after;
    await this.client.follow(
      after,
      (events) => this.numbers.push(...events.map(({ seq }) => seq)),
      () => {},
    );
  }
}
