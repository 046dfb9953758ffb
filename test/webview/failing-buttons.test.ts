// Every button of every webview says why it failed: in its page, or by a message of VS Code.

import assert from 'node:assert/strict';
import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';
import type { HostState, WebviewName } from '../../webview/messages/messages.ts';
import { runView } from '../doubles/views.ts';
import { everyWebview, openAny } from './support/every-webview.ts';
import { smallBoard } from './support/boards.ts';
import { Refusal } from './support/fake-host.ts';
import { openWebview, type OpenWebview } from './support/webview-page.ts';

const broken = '.drover.toml, line 1: `land` is a value; use a table: [land]';

suite('webview: failing buttons', () => {
  const saidBy = async ({ host, page }: OpenWebview, words: string): Promise<boolean> => {
    const isNotified = host
      .of('notify')
      .some(({ params }) => (params as { text: string }).text.includes(words));
    return isNotified || (await page.getByText(words).count()) > 0;
  };
  const settle = async ({ page }: OpenWebview): Promise<void> => {
    await page.evaluate(
      () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))),
    );
  };
  const untilSaid = async (view: OpenWebview, words: string): Promise<boolean> => {
    for (let tries = 0; tries < 40; tries += 1) {
      if (await saidBy(view, words)) return true;
      await settle(view);
    }
    return false;
  };

  for (const [name] of everyWebview) {
    // The inbox has no button of its own there: the tree stands above it.
    if (name !== 'inbox')
      test(`the next step of ${name} says that .drover.toml is broken, and opens it`, async () => {
        const view = await openAny(name, {
          state: {
            board: null,
            connection: {
              kind: 'unavailable',
              reason: 'not_initialised',
              message: 'Not set up.',
              action: { command: 'drover.initialise', title: 'Set Up Drover' },
            },
          },
          prepare: (host) => {
            host.action('command', ({ id }) => {
              if (id === 'drover.initialise') throw new Refusal('bad_configuration', broken);
              return {};
            });
            host.action('notify', ({ buttons }) => ({ button: buttons?.[0] ?? null }));
          },
        });
        await view.page.getByRole('button', { name: 'Set Up Drover' }).click();
        assert.ok(await untilSaid(view, broken), 'the reason is shown');
        const open = view.page.getByRole('button', { name: 'Open .drover.toml' });
        if ((await open.count()) > 0) await open.click();
        assert.deepEqual(await view.host.waitFor('command', 1), {
          id: 'drover.openProjectSettings',
        });
        await view.close();
      });

    test(`no button of ${name} fails silently`, async () => {
      const silent = await pressAll(name);
      assert.deepEqual(silent, []);
    });
  }

  test("in a narrow tree, a button does not squeeze a failure's text, which disappears with the next try", async () => {
    const view = await openWebview('tree', {
      state: {
        board: null,
        connection: {
          kind: 'unavailable',
          reason: 'not_initialised',
          message: 'Not set up.',
          action: { command: 'drover.initialise', title: 'Set Up Drover' },
        },
      },
    });
    let isBroken = true;
    view.host.action('command', () => {
      if (isBroken) throw new Refusal('bad_configuration', broken);
      return {};
    });
    await view.page.setViewportSize({ width: 300, height: 600 });
    const setUp = view.page.getByRole('button', { name: 'Set Up Drover' });
    await setUp.click();
    const words = view.page.getByText(broken);
    await words.waitFor();
    const box = await words.boundingBox();
    const note = await view.page.locator('.note.error').boundingBox();
    assert.ok(box !== null && note !== null);
    assert.ok(box.width > 150, `${box.width} px wide`);
    assert.ok(box.y >= note.y && box.y + box.height <= note.y + note.height, 'all of it is shown');
    isBroken = false;
    await setUp.click();
    await words.waitFor({ state: 'detached' });
    await view.close();
  });

  const unavailable = {
    kind: 'unavailable',
    reason: 'not_initialised',
    message: 'Not set up.',
    action: { command: 'drover.initialise', title: 'Set Up Drover' },
  } as const;
  const board = { ...smallBoard(), run: null };
  const everyTask = (change: (task: TaskView) => Partial<TaskView>): StatusSnapshot => {
    return { ...board, tasks: board.tasks.map((task) => ({ ...task, ...change(task) })) };
  };
  const worked = everyTask(({ updated_at: at }) => ({ updated_at: at + 1, status: 'in_progress' }));
  const cures: readonly (readonly [string, Partial<HostState>, Partial<HostState>])[] = [
    [
      'the repository was set up on the command line',
      { board: null, connection: unavailable },
      { board, connection: { kind: 'connected', version: '1', root: '/r' } },
    ],
    [
      'a dependency was removed on another page',
      { board },
      { board: everyTask(() => ({ blocked_by: [] })) },
    ],
    [
      'a task was renamed',
      { board },
      { board: everyTask(({ title }) => ({ title: `${title}!` })) },
    ],
    ['a run has started', { board }, { board: { ...board, run: runView() } }],
  ];
  for (const [what, state, cured] of cures) {
    test(`the message of a failure disappears with its cause: ${what}`, async () => {
      const view = await openWebview('tree', { state });
      view.host.refuses = () => new Refusal('bad_configuration', broken);
      if (state.board === null)
        await view.page.getByRole('button', { name: 'Set Up Drover' }).click();
      else {
        const row = view.page.getByRole('treeitem', { name: /^A server/ });
        await row.hover();
        await row.getByRole('button', { name: /^Run epic/ }).click();
      }
      const note = view.page.getByText(broken);
      await note.waitFor();
      if (state.board !== null) {
        // Agents that work change the board all the time.
        await view.host.pushState({ board: worked });
        await view.page
          .getByRole('treeitem', { name: /working/ })
          .first()
          .waitFor();
        assert.equal(await note.count(), 1);
      }
      await view.host.pushState(cured);
      await note.waitFor({ state: 'detached', timeout: 15_000 });
      await view.close();
    });
  }

  /** The buttons whose request was refused without a word, with the request. */
  async function pressAll(name: WebviewName): Promise<readonly string[]> {
    const view = await openAny(name);
    const words = everyWebview.find(([each]) => each === name)?.[1] ?? '';
    await view.page.getByText(words).first().waitFor();
    view.host.backend('past.status', () => ({ ...smallBoard(), at_ms: 0 }));
    // The buttons of a row show once it is chosen.
    if (name === 'tree') await view.page.getByRole('treeitem', { name: /^A server/ }).click();
    const refused: { readonly name: string; readonly words: string }[] = [];
    view.host.refuses = (asked) => {
      const reason = `Refused for test ${refused.length}, please.`;
      refused.push({ name: asked, words: reason });
      return new Refusal('bad_configuration', reason);
    };
    // A page reads these by itself; without them it does less, and no press was in vain.
    const isUnasked = new Set(['sentMessages']);
    const silent: string[] = [];
    let pressed = 0;
    for (let index = 0; index < 60; index += 1) {
      const button = view.page.getByRole('button').nth(index);
      if ((await button.count()) === 0) break;
      const title = (await button.getAttribute('aria-label')) ?? (await button.innerText());
      const before = refused.length;
      try {
        await button.click({ timeout: 1_000 });
      } catch {
        continue; // hidden or disabled
      }
      pressed += 1;
      await settle(view);
      for (const { name: request, words: reason } of refused.slice(before)) {
        if (isUnasked.has(request)) continue;
        if (!(await untilSaid(view, reason))) silent.push(`${title}: ${request}`);
      }
    }
    assert.ok(pressed > 0, 'buttons were pressed');
    await view.close();
    return silent;
  }
});
