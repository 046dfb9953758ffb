// Keys of the task tree that VS Code's keybindings decide about: each acts once, on the row that it
// was pressed on, and not at all if it was removed.

import assert from 'node:assert/strict';
import type { TaskView } from '../../../server/protocol/views.ts';
import type { FakeHost } from '../support/fake-host.ts';
import { smallBoard } from '../support/boards.ts';
import { openWebview, type OpenWebview } from '../support/webview-page.ts';

suite('webview: keys of the tree', () => {
  let view: OpenWebview;

  const row = (name: RegExp): ReturnType<typeof view.page.getByRole> =>
    view.page.getByRole('treeitem', { name });
  const press = (key: string): Promise<void> => view.page.keyboard.press(key);
  const open = async (prepare: (host: FakeHost) => void = () => {}): Promise<void> => {
    view = await openWebview('tree', { state: { board: smallBoard() }, prepare });
    const taskOf = (id: string): TaskView =>
      smallBoard().tasks.find((task) => task.id === id) as TaskView;
    view.host.backend('task.edit', ({ id }) => taskOf(id));
    view.host.backend('task.remove', ({ ids }) => ({ removed: ids }));
    await row(/^Write the parser/).waitFor();
  };

  test('a key acts only as VS Code has it configured, and once', async () => {
    await open();
    const { host } = view;
    await row(/^Write a README/).click();
    host.removedKeys.add('drover.remove');
    host.removedKeys.add('drover.rename');
    await press('Delete');
    await press('F2');
    // Typed behind them: it is the tree's own.
    await press('d');
    await host.until('the letter acts', () => host.selection[0] === 'icons');
    assert.equal(await view.page.locator('input.text').count(), 0);
    assert.deepEqual(host.of('task.remove'), []);
    // Another key that the person has given to the command, or the palette.
    await host.do('remove');
    assert.deepEqual(await host.waitFor('task.remove'), { ids: ['icons'] });
    host.removedKeys.clear();
    await row(/^Write a README/).click();
    await press('Delete');
    assert.deepEqual(await host.waitFor('task.remove', 1), { ids: ['readme'] });
    await press('Enter');
    await host.waitFor('openStream');
    assert.equal(host.of('task.remove').length, 2);
    assert.equal(host.of('openStream').length, 1);
    await view.close();
  });

  test('text typed after a key goes to its field, however slow the extension is', async () => {
    await open();
    const { host } = view;
    const far = Promise.withResolvers<void>();
    host.keysAfter = far.promise;
    await row(/^Write a README/).click();
    await press('F2');
    await view.page.keyboard.type('Write the docz');
    await press('Backspace');
    await view.page.keyboard.type('s');
    await press('Enter');
    await press('ArrowDown');
    await press('Delete');
    assert.deepEqual(host.selection, ['readme']);
    far.resolve();
    const renamed = { id: 'readme', title: 'Write the docs' };
    assert.deepEqual(await host.waitFor('task.edit'), renamed);
    assert.deepEqual(await host.waitFor('task.remove'), { ids: ['icons'] });
    assert.deepEqual(host.of('openStream'), []);
    const further = Promise.withResolvers<void>();
    host.keysAfter = further.promise;
    await row(/^Write a README/).click();
    await press('Control+f');
    await view.page.keyboard.type('wide');
    further.resolve();
    await row(/^Write a README/).waitFor({ state: 'detached' });
    assert.equal(await view.page.getByLabel('Filter tasks').inputValue(), 'wide');
    await view.close();
  });

  test('a key applies to the row that was selected when it was pressed', async () => {
    await open();
    const { host } = view;
    const far = Promise.withResolvers<void>();
    host.keysAfter = far.promise;
    await row(/^Write a README/).click();
    await press('Delete');
    await row(/^Draw icons/).click();
    await host.until('the other row is chosen', () => host.selection[0] === 'icons');
    far.resolve();
    assert.deepEqual(await host.waitFor('task.remove'), { ids: ['readme'] });
    await view.close();
  });

  test('a key acts at once, and only once, if VS Code does not know yet that the rows have the focus', async () => {
    const told = Promise.withResolvers<{ counts: boolean }>();
    await open((host) => host.action('keysHere', () => told.promise));
    const { host } = view;
    await row(/^Write a README/).click();
    await press('F2');
    await view.page.keyboard.type('Write the docs');
    await press('Enter');
    const renamed = { id: 'readme', title: 'Write the docs' };
    assert.deepEqual(await host.waitFor('task.edit'), renamed);
    await press('Delete');
    assert.deepEqual(await host.waitFor('task.remove'), { ids: ['readme'] });
    told.resolve({ counts: true });
    await view.page.locator('drover-tree[data-keys=here]').waitFor({ state: 'attached' });
    await press('Delete');
    await host.waitFor('task.remove', 1);
    assert.equal(host.of('task.remove').length, 2);
    await view.close();
  });

  test('Insert on the rows does not reach the window, whose editors would switch to overtype', async () => {
    await open();
    await view.page.evaluate(() => {
      window.addEventListener('keydown', ({ key }) => document.body.append(` ${key}`));
    });
    await row(/^Write a README/).click();
    await press('Insert');
    await press('F7');
    const seen = await view.page.evaluate(() => document.body.innerText);
    assert.match(seen, /F7/);
    assert.doesNotMatch(seen, /Insert/);
    await view.close();
  });

  test('a key that does not belong to the rows does nothing to them', async () => {
    await open();
    await row(/^Write a README/).click();
    await press('Control+f');
    const field = view.page.getByLabel('Filter tasks');
    await field.fill('e');
    for (const key of ['Home', 'Delete', 'Enter', 'F2']) await press(key);
    await view.page.getByLabel('Filter by state').focus();
    for (const key of ['Delete', 'F2']) await press(key);
    await press('Control+f');
    await row(/^Write a README/).click();
    await press('Enter');
    await view.host.waitFor('openStream');
    assert.equal(view.host.of('openStream').length, 1);
    assert.deepEqual(view.host.of('task.remove'), []);
    assert.equal(await view.page.locator('input.text').count(), 0);
    await view.close();
  });
});
