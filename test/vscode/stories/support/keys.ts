// The window without a mouse: the key that shows the tasks, Tab, and the place of the focus.

import { eventually } from '../../../e2e/support/eventually.ts';
import type { Frame, Page } from '../../host/browser.ts';
import { webviews } from './parts.ts';

export const showTasks = 'Control+Alt+Shift+T';

/** Shows the tasks by their key. */
export async function reachTree(page: Page): Promise<Frame> {
  return await eventually('the tree shows', async () => {
    await page.keyboard.press(showTasks);
    const shown = async (): Promise<Frame | undefined> => (await webviews(page, 'tree'))[0];
    return await eventually('the tree shows', shown, 3_000).catch(() => null);
  });
}

/** The key shows the view; from the focused place, Tab moves forth and back in it. */
export async function reach(
  what: string,
  page: Page,
  tree: Frame,
  isReached: () => Promise<boolean>,
): Promise<void> {
  const soon = (): Promise<boolean> => eventually(what, isReached, 500).catch(() => false);
  const hasFocus = (): Promise<boolean> => tree.evaluate(() => document.hasFocus());
  await eventually(what, async () => {
    for (const key of ['Tab', 'Shift+Tab']) {
      if (await isReached()) return true;
      await page.keyboard.press(showTasks);
      await eventually('the view has the focus', hasFocus, 2_000).catch(() => false);
      if (await soon()) return true;
      while (await hasFocus()) {
        await page.keyboard.press(key);
        if (await soon()) return true;
      }
    }
    return false;
  });
}

/** Presses Tab until a button has the focus. */
export async function tabTo(page: Page, frame: Frame, name: string): Promise<void> {
  await reach(`Tab reaches ${name}`, page, frame, () => frame.evaluate(hasFocusOn, name));
}

function hasFocusOn(wanted: string): boolean {
  let focused: Element | null = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return document.hasFocus() && focused?.textContent.trim() === wanted;
}

export async function fieldFocused(frame: Frame, maxMs?: number): Promise<void> {
  await eventually('the field has the focus', () => frame.evaluate(focusedTag, 'input'), maxMs);
}

export function focusedTag(tag: string): boolean {
  let focused: Element | null = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return document.hasFocus() && focused?.localName === tag;
}

/** Goes to a row by typing the start of its title, as in VS Code's own trees. */
export async function goTo(page: Page, tree: Frame, title: string): Promise<void> {
  await eventually(`the row ${title} is reached`, async () => {
    await focusTree(page, tree);
    await page.keyboard.press('Home');
    await page.keyboard.type(title.split(' ')[0] ?? '');
    const isActive = (): Promise<boolean> => tree.evaluate(isActiveRow, title);
    // Letters that come within a second belong together: only then can it be tried again.
    return await eventually('the row is active', isActive, 1_200).catch(() => false);
  });
}

function isActiveRow(title: string): boolean {
  const root = document.querySelector('drover-tree')?.shadowRoot;
  return root?.querySelector('.row.active .title')?.textContent.trim() === title;
}

/** VS Code's picker leaves the focus elsewhere. */
export async function focusTree(page: Page, tree: Frame): Promise<void> {
  await reach('the tree has the focus', page, tree, () => tree.evaluate(isTreeFocused));
}

export function isTreeFocused(): boolean {
  const tree = document.querySelector('drover-tree');
  const focused = tree?.shadowRoot?.activeElement ?? null;
  const isOnRows = document.hasFocus() && focused?.getAttribute('role') === 'tree';
  return isOnRows && tree?.getAttribute('data-keys') === 'here';
}
