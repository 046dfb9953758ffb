// Opens one webview alone in Chromium, with VS Code's look around it and the test in the extension's place.
//
//   const { page, host, close } = await openWebview('tree', { state: { board: smallBoard() }, theme: 'Light 2026' });
//   host.backend('task.edit', ({ id }) => …);
//   await page.getByRole('treeitem', { name: 'Write the parser' }).click();
//   await checkAxe(page);
//   await close(); // fails for anything that the policy refused, for errors in the page, for questions without answer

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type {
  FirstState,
  HostState,
  ToWebview,
  WebviewName,
} from '../../../webview/messages/messages.ts';
import { closeSharedBrowser, type Page } from '../../vscode/host/browser.ts';
import { FakeHost } from './fake-host.ts';
import { hostState } from './host-state.ts';
import { deliver, type PageBeginning } from './in-page.ts';
import { closePages, visitPage, type Visitor } from './kept-page.ts';
import { type PageServer, startPageServer } from './page-server.ts';
import { readTheme, type ThemeName } from './themes.ts';

export interface OpenOptions {
  /** Differences from a connected webview on a small board. */
  readonly state?: Partial<HostState>;
  readonly theme?: ThemeName;
  /** The state in the page itself. */
  readonly first?: FirstState;
  /** The state that the webview stored by `memory.set` before. */
  readonly memory?: unknown;
  /** The subject of the page when it stored that. Absent for the same one. */
  readonly memoryOf?: HostState['subject'];
  readonly viewport?: { readonly width: number; readonly height: number };
  /** Called before the page is loaded: answers for its first requests. */
  readonly prepare?: (host: FakeHost) => void;
  /** Another script than the webview's own, relative to the repository's root. */
  readonly entry?: string;
}

export interface OpenWebview {
  readonly page: Page;
  readonly host: FakeHost;
  /** The state that the webview stored by `memory.set`. */
  memory(): unknown;
  /** Reloads the page, as VS Code does with a webview that was hidden: only `memory` stays. */
  reload(): Promise<void>;
  /** Of the policy and of the page, so far. */
  readonly problems: readonly string[];
  close(): Promise<void>;
}

const viewports: Readonly<Record<WebviewName, { width: number; height: number }>> = {
  tree: { width: 320, height: 640 },
  inbox: { width: 320, height: 360 },
  stream: { width: 900, height: 700 },
  grid: { width: 1200, height: 800 },
  board: { width: 1200, height: 800 },
  run: { width: 1000, height: 800 },
  plan: { width: 900, height: 800 },
  worktrees: { width: 900, height: 700 },
  rules: { width: 900, height: 500 },
};

let server: Promise<PageServer> | null = null;

/** Of the whole mocha run: this file is first read while no suite is being defined. */
suiteTeardown(async () => {
  const running = server;
  server = null;
  await closePages();
  await closeSharedBrowser();
  if (running !== null) await (await running).close();
});

export async function openWebview(
  name: WebviewName,
  options: OpenOptions = {},
): Promise<OpenWebview> {
  server ??= startPageServer();
  const pages = await server;
  const host = new FakeHost(hostState(name, options.state));
  options.prepare?.(host);
  const problems: string[] = [];
  const subject = options.memoryOf ?? host.state.subject;
  let memory: unknown =
    options.memory === undefined ? undefined : { subject, component: options.memory };
  const visitor: Visitor = {
    receive: (message) => host.receive(message),
    press: (pressed) => host.press(pressed),
    problem: (text) => problems.push(text),
    remember: (state) => {
      memory = state;
    },
  };
  const kept = await visitPage(visitor, options.viewport ?? viewports[name]);
  const { page } = kept;
  let isOver = false;
  const send = async (message: ToWebview): Promise<void> => {
    if (isOver || page.isClosed()) return;
    const text = JSON.stringify(message, (_key, value: unknown) => {
      return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value;
    });
    await page.evaluate(deliver, text).catch(() => {});
  };
  host.connect(send, () => page.evaluate(() => {}).catch(() => {}));
  const load = async (): Promise<void> => {
    const entry = options.entry ?? `webview/${name}/main.ts`;
    await page.goto(pages.urlOf(entry, host.state.subject, options.first));
  };
  const beginning: Omit<PageBeginning, 'visit'> = {
    theme: readTheme(options.theme ?? 'Dark 2026'),
    isFresh: true,
    memory,
    reduceMotion: host.state.settings.reduceMotion,
  };
  await kept.begin(beginning);
  await load();
  return {
    page,
    host,
    problems,
    memory: () => componentOf(memory),
    async reload() {
      await kept.begin({ ...beginning, isFresh: false, memory });
      await load();
    },
    async close() {
      isOver = true;
      const isGood = problems.length === 0 && host.unanswered.length === 0;
      await (isGood ? kept.leave() : kept.drop());
      assert.deepEqual(problems, []);
      host.assertAnswered();
    },
  };
}

/** The page keeps a webview's own state beside its subject. */
function componentOf(memory: unknown): unknown {
  return typeof memory === 'object' && memory !== null && 'component' in memory
    ? memory.component
    : undefined;
}

/** A picture of the page in out/webview/. */
export async function screenshot(page: Page, name: string): Promise<void> {
  const path = resolve(import.meta.dirname, '../../../out/webview', `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path });
}
