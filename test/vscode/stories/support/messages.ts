// The messages of VS Code. A toast hides after ten seconds, and while three newer ones show; the list of all keeps each
// message until it is answered or cleared. So no story waits for a toast.

import { eventually } from '../../../e2e/support/eventually.ts';
import type { Locator, Page } from '../../host/browser.ts';
import { runCommand } from './parts.ts';

const messageMaxMs = 60_000;
/** Most come as a toast by then; afterwards the list is opened, in which one that was missed is, too. */
const toastMaxMs = 4_000;

interface Awaited {
  readonly maxMs?: number;
  /** The name of a button that it is answered with. */
  readonly answer?: string;
}

/** A message that shows at this moment, as a toast or in the list. */
export function shownMessage(page: Page, text: string | RegExp): Locator {
  const all = page.locator('.notification-list-item', { hasText: text });
  return all.filter({ visible: true }).first();
}

/**
 * Once the message has come, however long ago; it is answered if asked. It still shows then, or the list does that it
 * was found in: `endMessages` closes that.
 */
export async function message(
  page: Page,
  text: string | RegExp,
  { maxMs = messageMaxMs, answer }: Awaited = {},
): Promise<Locator> {
  const shown = shownMessage(page, text);
  await eventually(
    `the message ${text} has come`,
    async () => {
      try {
        if (answer === undefined) await shown.waitFor({ timeout: toastMaxMs });
        else await shown.getByRole('button', { name: answer }).click({ timeout: toastMaxMs });
        return true;
      } catch {
        await showList(page);
        return false;
      }
    },
    maxMs,
  );
  return shown;
}

/** The message has come, and nothing of it is in the way any more; an equal one is another one. */
export async function messageCame(
  page: Page,
  text: string | RegExp,
  awaited: Awaited = {},
): Promise<void> {
  await message(page, text, awaited);
  await endMessages(page);
}

/** Clears them all, with the list: one that comes afterwards is new. */
export async function endMessages(page: Page): Promise<void> {
  await runCommand(page, 'Notifications: Clear All Notifications');
}

async function showList(page: Page): Promise<void> {
  if (await page.locator('.notifications-center.visible').isVisible()) return;
  await runCommand(page, 'Notifications: Show Notifications');
}
