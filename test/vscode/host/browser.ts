// The one browser of a test run: the system's Chromium, which reaches nothing but this machine.

import type { Browser, BrowserContext } from 'playwright-core';
import { patience } from '../../patience.ts';
import { ensureHost } from './install.mjs';

export type {
  Browser,
  BrowserContext,
  CDPSession,
  ConsoleMessage,
  Frame,
  FrameLocator,
  Locator,
  Page,
} from 'playwright-core';

const switches = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1', // no name resolves in a page
];

/** Playwright's own wait, on an idle machine. */
export const browserWaitMs = 30_000 * patience;

/** Without the permissions `env.clipboard` never answers. */
export const contextOptions = {
  viewport: { width: 1280, height: 800 },
  permissions: ['clipboard-read', 'clipboard-write'],
};

export async function launchBrowser(more: readonly string[] = []): Promise<Browser> {
  const { chromium: executablePath } = await ensureHost();
  // Loaded late: it is part of the new installation.
  const { chromium } = await import('playwright-core');
  return await chromium.launch({ executablePath, headless: true, args: [...switches, ...more] });
}

export async function newContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext(contextOptions);
  context.setDefaultTimeout(browserWaitMs);
  return context;
}

let shared: Promise<Browser> | null = null;

/** Started when it is first needed, for all files of a mocha run. */
export function sharedBrowser(): Promise<Browser> {
  shared ??= launchBrowser();
  return shared;
}

export async function closeSharedBrowser(): Promise<void> {
  const browser = shared;
  shared = null;
  if (browser !== null) await (await browser).close();
}
