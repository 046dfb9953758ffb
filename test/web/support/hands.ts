// How a person works on the page: with the mouse, with a finger on a phone, or with the keys alone.

import { eventually } from '../../e2e/support/eventually.ts';
import type { CDPSession, Frame, Locator, Page } from '../../vscode/host/browser.ts';
import { desktop, type OpenedPage, phone } from './web-program.ts';

export interface Hand {
  readonly screen: typeof desktop | typeof phone;
  press(opened: OpenedPage, target: Locator): Promise<void>;
  /** Opens a row of the tree, which shows the page of its task. */
  open(opened: OpenedPage, row: Locator): Promise<void>;
  /** Opens the menu of a row, and chooses this action. */
  choose(opened: OpenedPage, row: Locator, action: string): Promise<void>;
  /** Moves a task of the tree into an epic. */
  move(opened: OpenedPage, row: Locator, epic: Locator): Promise<void>;
}

const tabsMax = 120;

async function pick({ page }: OpenedPage, label: string, pressed: typeof press): Promise<void> {
  const buttons = page.getByRole('dialog').getByRole('button');
  await pressed(page, buttons.filter({ hasText: label }).first());
}

async function press(page: Page, target: Locator): Promise<void> {
  await reach(page, target);
  await page.keyboard.press('Enter');
}

/** Presses Tab until the target has the focus. */
async function reach(page: Page, target: Locator): Promise<void> {
  await target.waitFor();
  for (let count = 0; count < tabsMax; count += 1) {
    if (await target.evaluate(hasFocus)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`Tab does not reach ${String(target)}`);
}

function hasFocus(element: Element): boolean {
  const root = element.getRootNode() as Document | ShadowRoot;
  return document.hasFocus() && root.activeElement === element;
}

/** Goes to a row by the arrow keys, from the rows. */
async function reachRow({ page }: OpenedPage, row: Locator): Promise<void> {
  await row.waitFor();
  await reach(page, row.page().frameLocator('iframe[title="Tasks"]').getByRole('tree'));
  await page.keyboard.press('Home');
  const isActive = async (): Promise<boolean> =>
    await row.evaluate((each) => each.classList.contains('active'));
  for (let count = 0; count < tabsMax; count += 1) {
    if (await eventually('the row is active', isActive, 150).catch(() => false)) return;
    await page.keyboard.press('ArrowDown');
  }
  throw new Error(`no arrow key reaches ${String(row)}`);
}

export const mouse: Hand = {
  screen: desktop,
  press: async (_opened, target) => await target.click(),
  open: async (_opened, row) => await row.click(),
  choose: async (opened, row, action) => {
    await row.click({ button: 'right' });
    await pick(opened, action, async (_page, target) => await target.click());
  },
  move: async (_opened, row, epic) => await row.dragTo(epic),
};

export const keys: Hand = {
  screen: desktop,
  press: async ({ page }, target) => await press(page, target),
  open: async (opened, row) => {
    await reachRow(opened, row);
    await opened.page.keyboard.press('Enter');
  },
  choose: async (opened, row, action) => {
    await reachRow(opened, row);
    await opened.page.keyboard.press('Shift+F10');
    await pick(opened, action, press);
  },
  move: async (opened, row, epic) => {
    const title = (await epic.locator('.title').textContent())?.trim() ?? '';
    await reachRow(opened, row);
    await opened.page.keyboard.press('Alt+Shift+KeyM');
    const field = opened.page.getByRole('dialog').getByRole('textbox', { name: 'Filter' });
    await field.waitFor();
    await opened.page.keyboard.type(title);
    await pick(opened, title, press);
  },
};

export const finger: Hand = {
  screen: phone,
  press: async (_opened, target) => await target.tap(),
  open: async (_opened, row) => await row.tap(),
  choose: async (opened, row, action) => {
    const hold = await holdDown(opened, row);
    await opened.page.getByRole('dialog').waitFor();
    await hold.release();
    await pick(opened, action, async (_page, target) => await target.tap());
  },
  /** By the menu: a Chromium without a window drags nothing by touch. */
  move: async (opened, row, epic) => {
    const title = (await epic.locator('.title').textContent())?.trim() ?? '';
    await finger.choose(opened, row, 'Move to Epic…');
    await pick(opened, title, async (_page, target) => await target.tap());
  },
};

async function holdDown(
  { page, context }: OpenedPage,
  target: Locator,
): Promise<{ release: () => Promise<void> }> {
  const box = await target.boundingBox();
  if (box === null) throw new Error('nothing to hold');
  const session: CDPSession = await context.newCDPSession(page);
  const touchPoints = [{ x: box.x + 60, y: box.y + box.height / 2 }];
  await session.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints });
  return {
    release: async () => {
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await session.detach();
    },
  };
}

/** Shows a view; on a wide page the tree and the inbox always show. */
export async function show(hand: Hand, opened: OpenedPage, title: string): Promise<void> {
  const isBeside = hand.screen === desktop && (title === 'Tasks' || title === 'Inbox');
  const link = opened.page.getByRole('link', { name: new RegExp(`^${title}`, 'u') });
  if (!isBeside) await hand.press(opened, link);
}

export async function rowOf(tree: Frame, title: string): Promise<Locator> {
  const row = tree.getByRole('treeitem', { name: new RegExp(`^${title}(?![\\w-])`, 'u') });
  await row.waitFor();
  return row;
}
