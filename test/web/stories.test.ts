// A whole day of a person at the page, with the mouse, on a phone, and with the keys alone: plan, run,
// watch, answer, approve a plan, read why a gate failed, send back, land, undo.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { closeSharedBrowser } from '../vscode/host/browser.ts';
import { directives } from '../vscode/stories/support/demo-project.ts';
import { picture } from '../vscode/stories/support/workbench.ts';
import { axeViolations } from '../webview/support/axe.ts';
import { finger, type Hand, keys, mouse, rowOf, show } from './support/hands.ts';
import { type OpenedPage, openPage, startWeb } from './support/web-program.ts';

const settings = `max_workers = 4
max_attempts = 1
[agent.env]
DROVER_DEMO_STEP_MS = "100"
[gate]
command = "if test -e broken.txt && ! test -e ~/allowed; then echo 'broken.txt must not exist'; exit 1; fi"
[land]
mode = "review"
`;

/** Those of docs/web.md. */
const pictures: ReadonlySet<string> = new Set([
  'phone-inbox',
  'phone-stream',
  'page-agents',
  'page-devices',
  'page-worktrees',
]);

suite('a day at the page of drover web', function () {
  this.timeout(400_000);
  const project = useProjects({
    env: { DROVER_AGENT_TYPE: 'demo', DROVER_AGENT_PATH: '' },
    settings,
  });
  suiteTeardown(closeSharedBrowser);

  for (const [name, hand] of Object.entries({ mouse, finger, keys })) {
    test(`with the ${name}`, async () => await day(project(), hand));
  }
});

async function day(here: Project, hand: Hand): Promise<void> {
  await here.expect(0, ['init', '--yes']);
  const go = join(here.folder, 'go');
  const until = `say-until ${go} tick {{n}}`;
  const add = async (title: string, ...words: readonly string[]): Promise<string> =>
    await here.add(title, '--description', directives(...words));
  const alpha = await add('Alpha', until, 'write alpha.txt one');
  const beta = await add(
    'Beta',
    until,
    'ask Which color? | Red | Blue',
    'write beta.txt {{answer}}',
  );
  const gamma = await add('Gamma', `when-planning ${until}`, 'write gamma.txt g');
  await here.expect(0, ['edit', gamma, '--plan']);
  const delta = await add('Delta', until, 'write broken.txt x');

  const web = await startWeb(here);
  const opened = await openPage(web.url, hand.screen);
  const { page, problems } = opened;
  const clean = async (view: string): Promise<void> =>
    assert.deepEqual(await axeViolations(page), [], view);
  const shoot = async (view: string): Promise<void> => {
    const name = `${hand === finger ? 'phone' : 'page'}-${view}`;
    if (!pictures.has(name)) return;
    await page.locator('.note').first().waitFor({ state: 'detached' });
    for (const frame of page.frames()) await frame.evaluate(() => document.fonts.ready);
    await picture(page, name, true);
  };

  await show(hand, opened, 'Tasks');
  const epic = await plan(here, hand, opened, alpha);
  for (const id of [beta, gamma, delta]) await here.expect(0, ['edit', id, '--epic', epic]);
  await clean('tasks');

  const tree = await opened.panel('tree');
  await hand.press(opened, tree.getByRole('button', { name: 'Run the Epic' }));
  await hand.press(opened, page.getByRole('dialog').getByRole('button', { name: 'Run' }));

  await show(hand, opened, 'Agents');
  const grid = await opened.panel('grid');
  await eventually(
    'four agents print',
    async () => (await grid.getByText(/^.*tick \d+/u).count()) >= 4,
  );
  await clean('agents');
  await shoot('agents');
  here.write('go', '');

  await show(hand, opened, 'Inbox');
  const inbox = await opened.panel('inbox');
  await hand.press(opened, inbox.getByRole('button', { name: 'Blue' }));
  const item = (words: string) => inbox.getByRole('listitem', { name: words });
  await item('Plan: Gamma').waitFor();
  await clean('inbox');
  await shoot('inbox');
  await hand.press(opened, item('Plan: Gamma').getByRole('button', { name: 'Approve' }));
  await eventually('Gamma is built', async () => (await here.task(gamma)).commit_sha !== null);

  await eventually('Delta failed', async () => (await here.task(delta)).status === 'failed');
  await show(hand, opened, 'Tasks');
  await hand.open(opened, await rowOf(tree, 'Delta'));
  const stream = await opened.panel('stream');
  await stream.getByRole('button', { name: 'Gate Output' }).waitFor();
  await stream.getByRole('article').first().waitFor();
  await shoot('stream');
  await hand.press(opened, stream.getByRole('button', { name: 'Gate Output' }));
  await page.getByText('broken.txt must not exist').first().waitFor();
  await clean('gate output');
  await hand.press(opened, page.getByRole('button', { name: 'Close' }));

  await show(hand, opened, 'Inbox');
  here.write('home/allowed', '');
  await hand.press(
    opened,
    item('Failed: Delta').getByRole('button', { name: 'Retry', exact: true }),
  );
  const landing = async (): Promise<string | null> =>
    (await here.status()).epics.find(({ id }) => id === epic)?.landing_state ?? null;
  await eventually('the epic waits', async () => (await landing()) === 'needs_review');
  await show(hand, opened, 'Inbox');
  await hand.press(opened, item('Review: Letters').getByRole('button', { name: 'Review' }));
  await page.getByText('alpha.txt').first().waitFor();
  await clean('review');
  await hand.press(opened, page.getByRole('button', { name: 'Send Back…' }));
  await page.getByRole('textbox', { name: 'What to change' }).waitFor();
  await page.keyboard.type(directives('write more.txt two'));
  await hand.press(opened, page.getByRole('button', { name: 'Send Back', exact: true }));
  await eventually('it is work again', async () => (await landing()) !== 'needs_review');
  await eventually('the epic waits again', async () => (await landing()) === 'needs_review');
  await show(hand, opened, 'Inbox');
  await hand.press(opened, item('Review: Letters').getByRole('button', { name: 'Review' }));
  await page.getByText('more.txt').first().waitFor();
  await hand.press(opened, page.getByRole('button', { name: 'Approve' }));
  await eventually('it has landed', () =>
    here.git('ls-tree', '-r', '--name-only', 'main').includes('more.txt'),
  );
  await eventually('the landing is recorded', async () => (await landing()) === 'landed');

  await show(hand, opened, 'Tasks');
  await hand.choose(opened, await rowOf(tree, 'Letters'), 'Undo Landing…');
  await hand.press(opened, page.getByRole('dialog').getByRole('button', { name: 'Undo' }));
  await eventually(
    'it is undone',
    () => !here.git('ls-tree', '-r', '--name-only', 'main').includes('alpha.txt'),
  );
  await show(hand, opened, 'Worktrees');
  await (await opened.panel('worktrees')).getByText('slot-1').first().waitFor();
  await clean('worktrees');
  await shoot('worktrees');
  await show(hand, opened, 'Devices');
  await hand.press(opened, page.getByRole('button', { name: 'Show Code' }));
  await page.getByRole('img', { name: 'The link as a QR code' }).waitFor();
  await clean('devices');
  await shoot('devices');
  assert.deepEqual(problems, []);
  await web.stop();
}

/** A new epic, into which the first task is moved; resolves with its id. */
async function plan(here: Project, hand: Hand, opened: OpenedPage, first: string): Promise<string> {
  const tree = await opened.panel('tree');
  await hand.press(opened, opened.page.getByRole('button', { name: 'New Epic' }));
  await tree.getByRole('textbox', { name: 'Title of the new epic' }).waitFor();
  await opened.page.keyboard.type('Letters');
  await opened.page.keyboard.press('Enter');
  const epic = await rowOf(tree, 'Letters');
  await hand.move(opened, await rowOf(tree, 'Alpha'), epic);
  await eventually('Alpha is in the epic', async () => (await here.task(first)).epic_id !== null);
  return (await here.status()).epics[0]?.id ?? '';
}
