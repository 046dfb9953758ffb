// A window of the real VS Code with the packaged extension in a fresh profile, on a real repository.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { removeFolder } from '../../../remove-folder.ts';
import {
  type BrowserContext,
  closeSharedBrowser,
  newContext,
  type Page,
  sharedBrowser,
} from '../../host/browser.ts';
import { installVsix, startHost, type VsCodeHost, workbenchUrl } from '../../host/host.ts';
import { temporaryFolder } from '../../host/isolation.ts';
import { runCommand } from './parts.ts';

const root = resolve(import.meta.dirname, '../../../..');
const activityBarMaxMs = 60_000;

export interface WorkbenchOptions {
  /** The environment of the extension host, and so of the backends it starts. */
  readonly env: Readonly<Record<string, string>>;
  /** Folder to open, or a `.code-workspace` file of several; neither: an empty window. */
  readonly folder?: string;
  readonly workspace?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly hasWorkspaceTrust?: boolean;
  /** Called before the first page is opened. */
  readonly prepare?: (context: BrowserContext) => Promise<void>;
}

export interface Workbench {
  readonly host: VsCodeHost;
  readonly page: Page;
  /** Violations of the content security policy, in any frame of any window. */
  readonly violations: readonly string[];
  /** Another window of the same person on the same folder. */
  anotherWindow(): Promise<Page>;
  /** Reload Window: a new extension host. */
  reload(): Promise<void>;
  /** Changes settings of the person; VS Code applies them when the window is reloaded. */
  change(settings: Readonly<Record<string, unknown>>): void;
  /** The person's own keys, as the editor of keyboard shortcuts writes them; applied like settings. */
  changeKeys(rules: readonly KeyRule[]): void;
  close(): Promise<void>;
}

/** A command with a minus before it takes a key from that command. */
export interface KeyRule {
  readonly key: string;
  readonly command: string;
  readonly when?: string;
}

const contexts = new Set<BrowserContext>();

/** How each window looked when a story failed. */
teardown(async function () {
  if (this.currentTest?.state !== 'failed') return;
  const name = this.currentTest.fullTitle().replace(/\W+/g, '-').slice(0, 100);
  const pages = [...contexts].flatMap((context) => context.pages());
  for (const [at, page] of pages.entries()) {
    await picture(page, `failed-${name}-${at + 1}`).catch(() => {});
  }
});

suiteTeardown(async () => {
  await closeSharedBrowser();
  if (extensionsFolder !== null) removeFolder(dirname(extensionsFolder));
});

let extensionsFolder: string | null = null;

/** The package, installed once for a run: made first when a source is younger than it is. */
function installedExtension(): string {
  if (extensionsFolder === null) {
    extensionsFolder = join(temporaryFolder(), 'ext');
    installVsix(vsixFile(), extensionsFolder);
  }
  return extensionsFolder;
}

/** Another package can be named, so that a concurrent build does not change it during a test. */
export function vsixFile(): string {
  const named = process.env['DROVER_TEST_VSIX'];
  if (named !== undefined) return named;
  const text = readFileSync(join(root, 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  const file = join(root, 'out/vsix', `drover-${process.platform}-${process.arch}-${version}.vsix`);
  if (isStale(file)) {
    const script = join(root, 'build/vsix.mjs');
    execFileSync(process.execPath, [script], { stdio: ['ignore', 'ignore', 'inherit'] });
  }
  assert.ok(statSync(file).size > 0);
  return file;
}

function isStale(file: string): boolean {
  if (!existsSync(file)) return true;
  const madeMs = statSync(file).mtimeMs;
  const made = ['esbuild.config.mjs', 'package.json'];
  return ['build', 'server', 'extension', 'webview', ...made].some((name) => {
    const path = join(root, name);
    if (statSync(path).isFile()) return statSync(path).mtimeMs > madeMs;
    return readdirSync(path, { recursive: true, withFileTypes: true }).some((entry) => {
      return entry.isFile() && statSync(join(entry.parentPath, entry.name)).mtimeMs > madeMs;
    });
  });
}

export async function openWorkbench(options: WorkbenchOptions): Promise<Workbench> {
  const host = await startHost({
    env: options.env,
    settings: options.settings ?? {},
    extensionsFolder: installedExtension(),
    hasWorkspaceTrust: options.hasWorkspaceTrust ?? false,
  });
  const context = await newContext(await sharedBrowser());
  contexts.add(context);
  await options.prepare?.(context);
  const violations: string[] = [];
  const { folder, workspace } = options;
  const url = workbenchUrl(host, {
    ...(folder !== undefined && { folder }),
    ...(workspace !== undefined && { workspace }),
  });
  const open = async (): Promise<Page> => {
    const page = await context.newPage();
    watch(page, violations);
    await page.goto(url);
    await untilUp(page);
    return page;
  };
  const page = await open().catch(async (error: unknown) => {
    await end(context, host);
    throw error;
  });
  return {
    host,
    page,
    violations,
    anotherWindow: open,
    async reload() {
      const isLoaded = page.waitForEvent('domcontentloaded');
      await runCommand(page, 'Developer: Reload Window');
      await isLoaded;
      await untilUp(page);
    },
    change(settings) {
      const file = join(host.folder, 'ud', 'User', 'settings.json');
      const before = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
      writeFileSync(file, JSON.stringify({ ...before, ...settings }, null, 1));
    },
    changeKeys(rules) {
      const file = join(host.folder, 'ud', 'User', 'keybindings.json');
      writeFileSync(file, JSON.stringify(rules, null, 1));
    },
    close: () => end(context, host),
  };
}

let ended = 0;

/** The last picture of each window is kept: it shows why a story failed. */
async function end(context: BrowserContext, host: VsCodeHost): Promise<void> {
  for (const page of context.pages()) {
    ended += 1;
    await picture(page, `last-look-${ended}`).catch(() => {});
  }
  contexts.delete(context);
  await context.close();
  await host.stop();
}

/**
 * Violations are logged in the console of the frame they happen in; VS Code's own frames have none.
 */
function watch(page: Page, violations: string[]): void {
  page.on('console', (message) => {
    const text = message.text();
    if (/content security policy/i.test(text)) violations.push(text);
  });
}

async function untilUp(page: Page): Promise<void> {
  await page.locator('.activitybar').waitFor({ timeout: activityBarMaxMs });
}

/**
 * A picture of the window, in `out/stories/`. `npm run pictures` renews those of the README: only
 * then they go to `docs/images/`, because a test run leaves the work tree as it was.
 */
export async function picture(page: Page, name: string, isForReadme = false): Promise<void> {
  const isRenewed = isForReadme && process.env['DROVER_RENEW_PICTURES'] === '1';
  const path = join(root, isRenewed ? 'docs/images' : 'out/stories', `${name}.png`);
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path });
}
