// A person adds context: a picture from the clipboard and a selection of an editor in a
// description, which the agent then gets.

import assert from 'node:assert/strict';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject } from './support/demo-project.ts';
import { openDrover, runCommand, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const title = 'Show the cart';
const code = 'export const cart: readonly string[] = [];\n';

suite('images and selections in a description', () => {
  let project: Project;
  let bench: Workbench;
  let stream: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 100 });
    await project.expect(0, ['init']);
    await project.add(title);
    writeFileSync(join(project.root, 'cart.ts'), code);
    bench = await openWorkbench({ env: project.env, folder: project.root });
    await openDrover(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  const description = async (): Promise<string> =>
    (await project.status()).tasks.find((task) => task.title === title)?.description ?? '';

  test('a picture from the clipboard is pasted, described, stored and shown', async () => {
    const { page } = bench;
    await page.bringToFront();
    await page.evaluate(async () => {
      const canvas = new OffscreenCanvas(480, 180);
      const brush = canvas.getContext('2d');
      if (brush === null) throw new Error('nothing to paint with');
      brush.fillStyle = '#f4f1ea';
      brush.fillRect(0, 0, 480, 180);
      brush.fillStyle = '#1e8c5a';
      brush.fillRect(24, 24, 160, 132);
      brush.fillStyle = '#333333';
      brush.font = '24px sans-serif';
      brush.fillText('Your cart is empty', 210, 96);
      const image = await canvas.convertToBlob({ type: 'image/png' });
      await navigator.clipboard.write([new ClipboardItem({ 'image/png': image })]);
    });
    await row(await treeOf(page), title).dblclick();
    stream = await webview(page, 'stream');
    await stream.getByRole('button', { name: 'Describe what the agent' }).click();
    const field = stream.getByRole('textbox', { name: 'Description' });
    await field.fill('An empty cart looks like this:');
    await page.keyboard.press('Control+V');
    await stream.getByRole('status').getByText('Describe it').waitFor();
    await page.keyboard.type('An empty cart');
    await picture(page, 'look-description-edit');
    await page.keyboard.press('Control+Enter');
    await stream.getByRole('img', { name: 'An empty cart' }).waitFor();
    await picture(page, 'look-description-image');
    const folder = join(project.root, '.drover/attachments');
    const [kept] = readdirSync(folder);
    assert.ok(kept !== undefined, 'the image is kept');
    assert.equal(readFileSync(join(folder, kept)).subarray(1, 4).toString(), 'PNG');
    await eventually('the description names it', async () =>
      (await description()).endsWith(`\n\n![An empty cart](attachment:${kept})`),
    );
  });

  test('text copied in an editor names its source', async () => {
    const { page } = bench;
    await runCommand(page, 'View: Split Editor Right');
    await page.keyboard.press('Control+P');
    await page.keyboard.type('cart.ts');
    await page.locator('.quick-input-list .monaco-list-row', { hasText: 'cart.ts' }).waitFor();
    await page.keyboard.press('Enter');
    await page.locator('.view-line', { hasText: 'export const cart' }).click();
    await page.keyboard.press('Home');
    await page.keyboard.press('Shift+End');
    await page.keyboard.press('Control+C');
    stream = await webview(page, 'stream');
    await stream.getByRole('button', { name: 'Edit the description' }).click();
    const field = stream.getByRole('textbox', { name: 'Description' });
    await field.press('Control+End');
    await page.keyboard.press('Control+V');
    await eventually('it is quoted', async () =>
      (await field.inputValue()).endsWith(
        '`cart.ts`, line 1:\n\n```typescript\nexport const cart: readonly string[] = [];\n```',
      ),
    );
    await picture(page, 'look-description-selection');
    await page.keyboard.press('Control+Enter');
    await eventually('it is saved', async () =>
      (await description()).includes('`cart.ts`, line 1'),
    );
    assert.deepEqual(bench.violations, []);
  });
});
