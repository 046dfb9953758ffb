// The task tree as a person has it in front of them.

import type { Frame, Locator, Page } from '../../host/browser.ts';
import { webview } from './parts.ts';

export async function treeOf(page: Page): Promise<Frame> {
  return await webview(page, 'tree');
}

/** The row whose title starts with this text. */
export function row(tree: Frame, title: string): Locator {
  return tree.getByRole('treeitem', { name: new RegExp(`^${escaped(title)}(?![\\w-])`) });
}

/** The field of a new row or of a row that is renamed. */
export function titleField(tree: Frame): Locator {
  return tree.locator('input.text');
}

/** A button of the view's title bar. */
export async function pressTitleButton(page: Page, title: string): Promise<void> {
  const header = page.locator('.sidebar .pane-header', { hasText: 'Tasks' });
  await header.hover();
  await header.getByRole('button', { name: title }).first().click();
}

/** Titles of all rows that show, with their depth: `1 Epic`, `2 Task`. */
export async function treeRows(tree: Frame): Promise<readonly string[]> {
  return await tree.evaluate(() => {
    const root = document.querySelector('drover-tree')?.shadowRoot;
    const rows = [...(root?.querySelectorAll<HTMLElement>('[role=treeitem]') ?? [])];
    return rows
      .sort((a, b) => Number(a.dataset['index']) - Number(b.dataset['index']))
      .map((each) => {
        const title = each.querySelector('.title')?.textContent.trim() ?? '';
        return `${each.getAttribute('aria-level')} ${title}`;
      });
  });
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}

/** VS Code learns a moment after a click that the keyboard is in the rows. */
export async function keysAct(tree: Frame): Promise<void> {
  await tree.locator('drover-tree[data-keys=here]').waitFor({ state: 'attached' });
}
