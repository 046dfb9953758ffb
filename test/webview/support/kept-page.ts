// A page for one webview after another: Chromium opens a window with all its parts around a new page, which computes
// longer than most tests of a webview. Between two of them the page is empty, and the mouse is not in it.

import type { FromWebview } from '../../../webview/messages/messages.ts';
import { browserWaitMs, type Page, sharedBrowser } from '../../vscode/host/browser.ts';
import type { PressedInPage } from './keybindings.ts';
import { beginPage, type PageBeginning } from './in-page.ts';

/** The test that has the page. */
export interface Visitor {
  receive(message: FromWebview): void;
  press(key: PressedInPage): void;
  /** Of the policy and of the page. */
  problem(text: string): void;
  remember(state: unknown): void;
}

export interface KeptPage {
  readonly page: Page;
  /** Sets the code that runs before the webview's script from the next load on. */
  begin(beginning: Omit<PageBeginning, 'visit'>): Promise<void>;
  /** The page is for another test. */
  leave(): Promise<void>;
  /** After a failure, its state is unknown. */
  drop(): Promise<void>;
}

interface Held {
  readonly page: Page;
  visitor: Visitor | null;
  visit: number;
}

const all = new Set<Page>();
let free: Held | null = null;

export async function closePages(): Promise<void> {
  free = null;
  for (const page of all) await page.close();
  all.clear();
}

export async function visitPage(
  visitor: Visitor,
  viewport: { readonly width: number; readonly height: number },
): Promise<KeptPage> {
  const held = free ?? (await newPage());
  free = null;
  held.visitor = visitor;
  held.visit += 1;
  const { page, visit } = held;
  await page.setViewportSize(viewport);
  let script: { dispose(): Promise<void> } | null = null;
  const drop = async (): Promise<void> => {
    held.visitor = null;
    all.delete(page);
    await page.close();
  };
  return {
    page,
    async begin(beginning) {
      await script?.dispose();
      script = await page.addInitScript(beginPage, { ...beginning, visit });
    },
    async leave() {
      if (free !== null) return await drop();
      await script?.dispose();
      await page.goto('about:blank');
      await page.mouse.move(-1, -1);
      held.visitor = null;
      free = held;
    },
    drop,
  };
}

async function newPage(): Promise<Held> {
  const browser = await sharedBrowser();
  const page = await browser.newPage();
  page.setDefaultTimeout(browserWaitMs);
  all.add(page);
  const held: Held = { page, visitor: null, visit: 0 };
  page.on('pageerror', (error) =>
    held.visitor?.problem(`error in the page: ${error.stack ?? error}`),
  );
  page.on('console', (message) => {
    if (message.type() === 'error') held.visitor?.problem(`console: ${message.text()}`);
  });
  const of = (visit: number): Visitor | null => (visit === held.visit ? held.visitor : null);
  await page.exposeFunction('droverTestReceive', (visit: number, message: FromWebview) =>
    of(visit)?.receive(message),
  );
  await page.exposeFunction('droverTestKey', (visit: number, pressed: PressedInPage) =>
    of(visit)?.press(pressed),
  );
  await page.exposeFunction('droverTestViolation', (visit: number, text: string) =>
    of(visit)?.problem(text),
  );
  await page.exposeFunction('droverTestMemory', (visit: number, state: unknown) =>
    of(visit)?.remember(state),
  );
  return held;
}
