// Hostile words in titles and in an agent's messages, in the real VS Code: shown as text, nothing
// runs, nothing is refused by the content security policy because nothing is tried.

import assert from 'node:assert/strict';
import { eventually } from '../../e2e/support/eventually.ts';
import type { Project } from '../../e2e/support/project.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { message } from './support/messages.ts';
import { inTranscript, openDrover, webview } from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const markup = '<img src=x onerror="document.title=`ran`"><script>document.title="ran"</script>';
const link = '[click](command:workbench.action.closeWindow) <a href="command:x">x</a>';
const icon = '$(trash) $(sync~spin)';
const turned = 'abc\u202Egnp.exe\u2066';
const question = `May I ${markup} ${link}?`;

suite('hostile input in VS Code', () => {
  let project: Project;
  let bench: Workbench;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = demoProject({ stepMs: 50 });
    await project.expect(0, ['init']);
    const said = [markup, link, icon, turned, 'long '.repeat(1_000)];
    const lines = [...said.map((text) => `say ${text}`), `ask ${question} | ${markup} | no`];
    const title = `Hostile ${markup} ${link} ${icon} ${turned}`;
    await project.add(title, '--description', directives(...lines, 'write a.txt a'));
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      settings: { 'drover.showPreflight': false },
    });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
    await row(tree, 'Hostile').waitFor();
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await project?.end(false);
  });

  test('a title is shown as text in the tree', async () => {
    const label = (await row(tree, 'Hostile').getAttribute('aria-label')) ?? '';
    assert.ok(label.includes('<img src=x'));
    assert.ok(!label.includes('\u202E'));
    assert.deepEqual(await foreign(tree, 'drover-tree'), []);
  });

  test("an agent's messages and questions are shown as text, in the panel, the tab, the inbox and the message", async () => {
    await bench.page.keyboard.press('Control+Alt+Shift+R');
    const shown = await message(bench.page, 'May I');
    assert.equal(await shown.locator('img, script, a[href^="command:"]').count(), 0);
    await picture(bench.page, 'hostile-message');
    await eventually('the agent asks', async () => (await project.status()).questions.length === 1);
    await row(tree, 'Hostile').dblclick();
    const stream = await webview(bench.page, 'stream');
    await inTranscript(stream, 'May I').waitFor();
    assert.deepEqual(await foreign(stream, 'drover-stream'), []);
    const inbox = await webview(bench.page, 'inbox');
    await inbox.getByText('May I').first().waitFor();
    assert.deepEqual(await foreign(inbox, 'drover-inbox'), []);
    await picture(bench.page, 'hostile');
    const no = stream.getByRole('button', { name: 'no', exact: true }).first();
    // Rows above may still find their height, and move a button away under the mouse.
    await eventually('the answer is taken', async () => {
      await no.click({ timeout: 2_000 }).catch(() => undefined);
      return (await project.status()).questions.length === 0;
    });
    await eventually(
      'the task is done',
      async () => (await project.status()).counts.completed === 1,
    );
  });

  test('nothing ran, and the policy had nothing to refuse', async () => {
    for (const frame of bench.page.frames()) {
      assert.notEqual(await frame.title().catch(() => ''), 'ran');
    }
    assert.deepEqual(bench.violations, []);
  });
});

/** Elements of hostile words, and links that VS Code would run, in a webview. */
async function foreign(frame: Frame, element: string): Promise<readonly string[]> {
  return await frame.evaluate((name) => {
    const found: string[] = [];
    const look = (root: Element | ShadowRoot): void => {
      for (const each of root.querySelectorAll('*')) {
        const isForeign =
          each.matches('img, script, iframe, object, embed, style, [onerror], [onload]') ||
          /^(command|javascript):/i.test(each.getAttribute('href') ?? '');
        if (isForeign && each.localName !== 'style') found.push(each.outerHTML.slice(0, 200));
        if (each.shadowRoot !== null) look(each.shadowRoot);
      }
    };
    const top = document.querySelector(name);
    if (top?.shadowRoot) look(top.shadowRoot);
    return found;
  }, element);
}
