// Parts of the workbench as Playwright finds them: commands, messages, and the extension's own webviews.

import type { WebviewName } from '../../../../webview/messages/messages.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import type { Frame, Locator, Page } from '../../host/browser.ts';

const partMaxMs = 60_000;
/** Then the icon is checked again. */
const treeMaxMs = 10_000;

/**
 * Opens Drover's container in the side bar, and waits for its tree. A click on the open one closes it: VS Code, which
 * restores its side bar, may have opened it a moment before the click. Then it is clicked again.
 */
export async function openDrover(page: Page): Promise<void> {
  const label = 'a.action-label[aria-label^="Drover"]';
  const icon = page.locator(`.activitybar ${label}`);
  await icon.waitFor({ timeout: partMaxMs });
  const open = page.locator(`.activitybar .action-item.checked ${label}`);
  const isOpen = async (): Promise<boolean> => (await open.count()) > 0;
  const shows = async (): Promise<boolean> =>
    (await isOpen()) && (await webviews(page, 'tree')).length > 0;
  await eventually('Drover shows in the side bar', async () => {
    // Its badge lies over it, and passes the click on.
    if (!(await isOpen())) await icon.click({ force: true });
    return await eventually('the tree shows', shows, treeMaxMs).catch(() => false);
  });
}

/** Runs a command of the palette: by a click, for a view that shows at this very moment would get the Enter key. */
export async function runCommand(page: Page, title: string): Promise<void> {
  await eventually(`the palette offers ${title}`, async () => {
    try {
      await (await offeredCommand(page, title)).click({ timeout: 3_000 });
      return true;
    } catch {
      await page.keyboard.press('Escape');
      return false;
    }
  });
}

/**
 * The palette's row of a command; throws if it does not appear. A view that is just being shown
 * takes the focus, and with it the palette away; and the palette offers the commands that were
 * possible as it opened. Then it is opened again.
 */
export async function offeredCommand(page: Page, title: string): Promise<Locator> {
  await page.keyboard.press('F1');
  const input = page.locator('.quick-input-widget input.input');
  await input.fill(`>${title}`, { timeout: 3_000 });
  const offered = quickPickRow(page, title);
  await offered.waitFor({ timeout: 3_000 });
  return offered;
}

/** Opens a task's panel by the palette and the list of tasks; no list appears for the task that is selected. */
export async function openStream(page: Page, title: string): Promise<void> {
  const tab = activeTab(page, title);
  await eventually(`the stream of ${title} opens`, async () => {
    await runCommand(page, 'Drover: Open Stream');
    try {
      await quickPickRow(page, title).waitFor({ timeout: 3_000 });
      await page.keyboard.type(title);
      await page.keyboard.press('Enter');
      await tab.waitFor({ timeout: 3_000 });
      return true;
    } catch {
      // A panel that loads at this very moment takes the focus, and with it the list away.
      await page.keyboard.press('Escape');
      return await tab.isVisible();
    }
  });
}

/** Text in the list of a stream's panel, apart from what the panel announces to screen readers. */
export function inTranscript(stream: Frame, words: string): Locator {
  return stream.locator('drover-transcript').getByText(words).first();
}

export function quickPickRow(page: Page, text: string | RegExp): Locator {
  return page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
}

/** Types into VS Code's input box, and confirms. */
export async function answerInputBox(page: Page, text: string): Promise<void> {
  const input = page.locator('.quick-input-widget input.input');
  await input.waitFor();
  await input.fill(text);
  await page.keyboard.press('Enter');
}

/** The tab in front. */
export function activeTab(page: Page, title: string): Locator {
  return page.locator('.tabs-container .tab.active', { hasText: title }).first();
}

const effectMaxMs = 5_000;

/**
 * Clicks a row of one of VS Code's own lists until the effect is there. When its rows move, such a list shows another row
 * in the same element, also between the search and the click: then the click was another row's.
 */
export async function clickUntil(listRow: Locator, effect: Locator): Promise<void> {
  await eventually('the click on a row has its effect', async () => {
    try {
      await listRow.click({ timeout: effectMaxMs });
      await effect.waitFor({ timeout: effectMaxMs });
      return true;
    } catch {
      return false;
    }
  });
}

/** VS Code's modal message. */
export function dialog(page: Page): Locator {
  return page.locator('.monaco-dialog-box');
}

/**
 * The document of one of the extension's webviews. VS Code makes a new one when the webview is hidden and shown: ask
 * again after that.
 */
export async function webview(page: Page, name: WebviewName, index = 0): Promise<Frame> {
  return await eventually(`the webview ${name} shows`, async () => {
    return (await webviews(page, name))[index];
  });
}

/** All documents of the webviews of one kind that are there. */
export async function webviews(page: Page, name: WebviewName): Promise<Frame[]> {
  const found: Frame[] = [];
  for (const frame of page.frames()) {
    if (await holds(frame, `drover-${name}`)) found.push(frame);
  }
  return found;
}

async function holds(frame: Frame, selector: string): Promise<boolean> {
  try {
    return await frame.evaluate((wanted) => document.querySelector(wanted) !== null, selector);
  } catch {
    return false; // the frame has gone, or has no document yet
  }
}

/** A place in the window's own coordinates, for the real mouse. */
export async function middleOf(target: Locator): Promise<{ x: number; y: number }> {
  await target.scrollIntoViewIfNeeded();
  const box = await target.boundingBox();
  if (box === null) throw new Error('what should be reached by the mouse is not visible');
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Drags with the real mouse: down, a small move, the way in steps, up. `key` is held meanwhile. */
export async function drag(page: Page, from: Locator, to: Locator, key?: string): Promise<void> {
  const start = await middleOf(from);
  const end = await middleOf(to);
  await page.mouse.move(start.x, start.y);
  if (key !== undefined) await page.keyboard.down(key);
  await page.mouse.down();
  await page.mouse.move(start.x + 4, start.y + 4, { steps: 3 });
  await page.mouse.move(end.x, end.y, { steps: 12 });
  await page.mouse.move(end.x, end.y + 1);
  await page.mouse.up();
  if (key !== undefined) await page.keyboard.up(key);
}

const menuClosesMs = 500;

/**
 * Chooses an item of the open menu. VS Code ignores a click on a menu that has only just appeared:
 * then the menu is still there, and the item is clicked again.
 */
export async function chooseFromMenu(page: Page, name: string): Promise<void> {
  const item = page.getByRole('menuitem', { name });
  for (let isOpen = true; isOpen;) {
    await item.click();
    isOpen = await item.waitFor({ state: 'hidden', timeout: menuClosesMs }).then(
      () => false,
      () => true,
    );
  }
}
