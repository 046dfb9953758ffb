// `drover web` of a test's project, and browsers that were let in to its page.

import type { Project } from '../../e2e/support/project.ts';
import {
  browserWaitMs,
  type BrowserContext,
  type Frame,
  type Page,
  sharedBrowser,
} from '../../vscode/host/browser.ts';
import { eventually } from '../../e2e/support/eventually.ts';

export interface WebProgram {
  /** With its token, which lets one browser in. */
  readonly url: string;
  readonly origin: string;
  stop(): Promise<number | null>;
}

export async function startWeb(project: Project, ...args: readonly string[]): Promise<WebProgram> {
  const program = project.start(['web', '--json', ...args]);
  const first = await Promise.race([program.line(() => true), program.ended]);
  if (typeof first !== 'string') throw new Error(`drover web ended: ${first.stderr}`);
  const { url } = JSON.parse(first) as { url: string };
  return {
    url,
    origin: new URL(url).origin,
    stop: async () => {
      program.signal('SIGINT');
      return (await program.ended).code;
    },
  };
}

export const desktop = { viewport: { width: 1280, height: 800 } };
export const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };

type PanelName = 'board' | 'grid' | 'inbox' | 'run' | 'stream' | 'tree' | 'worktrees';

export interface OpenedPage {
  readonly page: Page;
  readonly context: BrowserContext;
  /** The browser's reports: errors of the page, and of the policy. */
  readonly problems: readonly string[];
  /** The document of a panel, once it is there. */
  readonly panel: (name: PanelName) => Promise<Frame>;
}

export async function openPage(
  url: string,
  options: typeof desktop | typeof phone = desktop,
): Promise<OpenedPage> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({ ...options, reducedMotion: 'reduce' });
  context.setDefaultTimeout(browserWaitMs);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text());
  });
  await page.goto(url);
  return {
    page,
    context,
    problems,
    panel: (name) =>
      eventually(`the panel ${name}`, () =>
        page.frames().findLast((frame) => frame.url().includes(`/panel/${name}`)),
      ),
  };
}
