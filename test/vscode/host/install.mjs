// Installs the test host, once: the VS Code workbench and playwright-core from npm, and Chromium from the system.
// The second call costs nothing; an interrupted install is repaired by calling it again.

import { spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');
const workbench = join(modules, 'code-server', 'lib', 'vscode');
const stampPath = join(modules, '.stamp');
const lockPath = join(here, 'node_modules.lock');
const lockStaleMs = 600_000;
const quietNpm = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-update-notifier'];

/** What no test needs: about a third of a gigabyte. */
const unneeded = [
  'extensions/copilot',
  'node_modules/@github',
  'node_modules/@microsoft/mxc-sdk',
  'node_modules/@devcontainers',
];

/** @returns {Promise<{chromium: string}>} full path of the browser */
export async function ensureHost() {
  const wanted = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const isInstalled = () => existsSync(stampPath) && readFileSync(stampPath, 'utf8') === wanted;
  if (!isInstalled() || findChromium() === null) {
    await withLock(async () => {
      if (!isInstalled()) {
        await installWorkbench();
        writeFileSync(stampPath, wanted);
      }
      if (findChromium() === null) await installChromium();
    });
  }
  const chromium = findChromium();
  if (chromium === null) throw new Error(chromiumRemedy);
  return { chromium };
}

/** @returns {string | null} */
export function findChromium() {
  const named = process.env.CHROMIUM;
  const places = named === undefined || named === '' ? ['/usr/bin/chromium'] : [named];
  return places.find((path) => existsSync(path)) ?? null;
}

const chromiumRemedy =
  'The tests of the webviews and of VS Code need Chromium, which was not found. Install it ' +
  '(Debian: apt-get install --no-install-recommends chromium fonts-dejavu-core) or name one by the variable CHROMIUM.';

/**
 * The workbench's package contains no modules, and its install script needs a compiler for parts
 * that no test uses: its locked modules are installed here without scripts; native ones bring their
 * binaries.
 */
async function installWorkbench() {
  await npm(here, ['ci', ...quietNpm, '--loglevel=error']);
  await npm(workbench, ['ci', '--omit=dev', '--legacy-peer-deps', ...quietNpm, '--loglevel=error']);
  for (const folder of unneeded) rmSync(join(workbench, folder), { recursive: true, force: true });
}

async function installChromium() {
  const isDebian = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!isDebian || process.env.CHROMIUM) throw new Error(chromiumRemedy);
  const env = { PATH: process.env.PATH ?? '', DEBIAN_FRONTEND: 'noninteractive', LANG: 'C.UTF-8' };
  console.log('installing Chromium with apt-get');
  await run('apt-get', ['update', '-qq'], here, env);
  const packages = ['chromium', 'fonts-dejavu-core'];
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], here, env);
}

async function npm(cwd, args) {
  const { node, npm: program } = machinesNpm();
  await run(node, [program, ...args], cwd, npmEnvironment(node));
}

async function run(program, args, cwd, env) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (said = (said + chunk).slice(-4_000)));
  }
  const code = await new Promise((done, fail) => child.on('error', fail).on('close', done));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${said}`);
}

/** Two test runs at once must not install into the same folder. */
async function withLock(body) {
  for (;;) {
    try {
      mkdirSync(lockPath);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const age = Date.now() - (statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > lockStaleMs) rmSync(lockPath, { recursive: true, force: true });
    await delay(200);
  }
  try {
    await body();
  } finally {
    rmSync(lockPath, { recursive: true, force: true });
  }
}

/** The project's own Node has no npm: the machine's npm must run on the machine's Node. */
function machinesNpm() {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  if (node && npm && npm.endsWith('.js') && existsSync(npm)) return { node, npm };
  const folders = ownPath();
  const find = (name) => folders.map((folder) => join(folder, name)).find(existsSync);
  const [foundNode, foundNpm] = [find('node'), find('npm')];
  if (!foundNode || !foundNpm) throw new Error('npm was not found on PATH; the test host needs it');
  return { node: foundNode, npm: realpathSync(foundNpm) };
}

function ownPath() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => folder !== '' && !folder.includes('node_modules'));
}

/** What npm needs to reach its registry; nothing of the project's own settings. */
function npmEnvironment(node) {
  const passed =
    /^(HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|TEMP|TMP|TMPDIR|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|npm_config_(registry|cache|userconfig|globalconfig|proxy|https_proxy|noproxy|cafile|ca))$/i;
  const kept = Object.entries(process.env).filter(([name]) => passed.test(name));
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...ownPath()].join(delimiter) };
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  console.log(JSON.stringify(await ensureHost()));
}
