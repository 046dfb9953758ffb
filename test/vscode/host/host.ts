// Starts the real VS Code workbench with a real extension host on loopback. No gallery, no download, nothing outside of
// this machine.

import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../../free-port.ts';
import { removeFolder } from '../../remove-folder.ts';
import { isolatedEnvironment, temporaryFolder } from './isolation.ts';

const program = join(import.meta.dirname, 'node_modules/code-server/out/node/entry.js');
const upMaxMs = 30_000;
const leaveMaxMs = 5_000;

/** A bare, silent workbench. */
const quietSettings: Readonly<Record<string, unknown>> = {
  'workbench.startupEditor': 'none',
  'workbench.tips.enabled': false,
  'workbench.reduceMotion': 'on',
  'workbench.enableExperiments': false,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'workbench.welcomePage.walkthroughs.openOnInstall': false,
  'chat.disableAIFeatures': true,
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'extensions.ignoreRecommendations': true,
  'security.workspace.trust.enabled': false,
  'git.enabled': false,
  'terminal.integrated.gpuAcceleration': 'off', // a terminal's text is then in the DOM
  'files.watcherExclude': { '**/node_modules/**': true },
};

export interface HostOptions {
  /** Added to the server's environment and so to the extension host's. */
  readonly env?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly extensionsFolder?: string;
  /** Needed for an extension under development and for tests in the host; hides toasts and skips dialogs. */
  readonly isForTestsInside?: boolean;
  /** With trust, folders are asked about; without, all are trusted. */
  readonly hasWorkspaceTrust?: boolean;
  /** The host forwards ports of its machine, below a path. */
  readonly hasProxy?: boolean;
}

export interface VsCodeHost {
  readonly port: number;
  readonly folder: string;
  readonly pid: number;
  readonly url: string;
  serverLog(): string;
  stop(): Promise<void>;
}

interface LiveHost extends VsCodeHost {
  killNow(): void;
}

const live = new Set<LiveHost>();
process.on('exit', () => {
  for (const host of live) host.killNow();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => process.exit(1)); // which runs the handler of 'exit'
}

export async function startHost(options: HostOptions = {}): Promise<VsCodeHost> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'ud', 'User'), { recursive: true });
  const settings = { ...quietSettings, ...options.settings };
  writeFileSync(join(folder, 'ud', 'User', 'settings.json'), JSON.stringify(settings, null, 1));
  writeFileSync(join(folder, 'config.yaml'), '{}\n'); // without it one would be written to HOME
  const extensionsFolder = options.extensionsFolder ?? join(folder, 'ext');
  mkdirSync(extensionsFolder, { recursive: true });
  const port = await freePort();
  const log = openSync(join(folder, 'server.log'), 'a');
  // Detached: server, extension host, watcher and language servers share one process group.
  const child = spawn(
    process.execPath,
    [program, ...serverArguments(folder, extensionsFolder, port, options)],
    {
      stdio: ['ignore', log, log],
      detached: true,
      env: isolatedEnvironment(folder, options.env),
    },
  );
  const host = liveHost(child.pid ?? 0, folder, port);
  live.add(host);
  const endMs = Date.now() + upMaxMs;
  while (Date.now() < endMs) {
    if (child.exitCode !== null) break;
    if (await isUp(host.url)) return host;
    await delay(50);
  }
  const text = host.serverLog();
  await host.stop();
  throw new Error(`VS Code's server did not come up:\n${text}`);
}

function serverArguments(
  folder: string,
  extensionsFolder: string,
  port: number,
  options: HostOptions,
): string[] {
  // prettier-ignore
  const args = [
    '--config', join(folder, 'config.yaml'), '--bind-addr', `127.0.0.1:${port}`,
    '--auth', 'none', '--user-data-dir', join(folder, 'ud'), '--extensions-dir', extensionsFolder,
    '--disable-telemetry', '--disable-update-check', '--disable-getting-started-override',
    '--ignore-last-opened',
  ];
  if (options.hasProxy !== true) args.push('--disable-proxy');
  if (options.hasWorkspaceTrust !== true) args.push('--disable-workspace-trust');
  if (options.isForTestsInside === true) {
    args.push('--vscode-option', 'enable-smoke-test-driver');
  }
  return args;
}

function liveHost(pid: number, folder: string, port: number): LiveHost {
  const signal = (name: NodeJS.Signals | 0): boolean => {
    try {
      process.kill(-pid, name);
      return true;
    } catch {
      return false;
    }
  };
  const host: LiveHost = {
    port,
    folder,
    pid,
    url: `http://127.0.0.1:${port}`,
    serverLog: () => readFileSync(join(folder, 'server.log'), 'utf8'),
    killNow() {
      signal('SIGKILL');
      live.delete(host);
      if (process.env['DROVER_TEST_KEEP'] === undefined) {
        removeFolder(folder);
      }
    },
    async stop() {
      signal('SIGTERM');
      const endMs = Date.now() + leaveMaxMs;
      while (Date.now() < endMs && signal(0)) await delay(50);
      host.killNow();
    },
  };
  return host;
}

/** The user's version: the package, installed by VS Code itself. */
export function installVsix(vsix: string, extensionsFolder: string): string {
  const folder = temporaryFolder();
  try {
    const place = ['--user-data-dir', join(folder, 'ud'), '--extensions-dir', extensionsFolder];
    return execFileSync(
      process.execPath,
      [program, ...place, '--install-extension', resolve(vsix)],
      {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: isolatedEnvironment(folder),
      },
    ).trim();
  } finally {
    removeFolder(folder);
  }
}

/** The extension's files in a folder, copied to the place of an installed extension. */
export function installFolder(from: string, extensionsFolder: string): string {
  const text = readFileSync(join(from, 'package.json'), 'utf8');
  const manifest = JSON.parse(text) as { publisher: string; name: string; version: string };
  const to = join(extensionsFolder, `${manifest.publisher}.${manifest.name}-${manifest.version}`);
  for (const entry of ['package.json', 'dist', 'media']) {
    if (!existsSync(join(from, entry))) continue;
    cpSync(join(from, entry), join(to, entry), { recursive: true, dereference: true });
  }
  return to;
}

export interface WorkbenchPlace {
  readonly folder?: string;
  /** A `.code-workspace` file. */
  readonly workspace?: string;
  /** Absolute paths; both need a host that was started for tests inside. */
  readonly extension?: string;
  readonly tests?: string;
}

export function workbenchUrl(host: VsCodeHost, place: WorkbenchPlace = {}): string {
  const remote = (path: string): string => {
    return `vscode-remote://127.0.0.1:${host.port}${resolve(path)}`;
  };
  const payload: [string, string][] = [];
  if (place.extension !== undefined) {
    payload.push(['extensionDevelopmentPath', remote(place.extension)]);
  }
  if (place.tests !== undefined) payload.push(['extensionTestsPath', remote(place.tests)]);
  const query = new URLSearchParams();
  if (place.folder !== undefined) query.set('folder', resolve(place.folder));
  else if (place.workspace !== undefined) query.set('workspace', resolve(place.workspace));
  else query.set('ew', 'true');
  if (payload.length > 0) query.set('payload', JSON.stringify(payload));
  return `${host.url}/?${query.toString()}`;
}

async function isUp(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/healthz`)).ok;
  } catch {
    return false;
  }
}

function delay(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
