// Installs the test host, once: the VS Code workbench and playwright-core from npm, and Chromium from the system.
// The second call costs nothing; an interrupted install is repaired by calling it again.

import { existsSync, realpathSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installOnce, npmCi, run, withLock } from '../../install-once.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');
const workbench = join(modules, 'code-server', 'lib', 'vscode');

/** Parts that no test needs: about a third of a gigabyte. */
const unneeded = [
  'extensions/copilot',
  'node_modules/@github',
  'node_modules/@microsoft/mxc-sdk',
  'node_modules/@devcontainers',
];

/** @returns {Promise<{chromium: string}>} full path of the browser */
export async function ensureHost() {
  await installOnce(here, installWorkbench);
  if (findChromium() === null) {
    await withLock(join(here, 'chromium.lock'), async () => {
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
  await npmCi(here);
  await npmCi(workbench, '--omit=dev', '--legacy-peer-deps');
  for (const folder of unneeded) rmSync(join(workbench, folder), { recursive: true, force: true });
}

async function installChromium() {
  const isDebian = existsSync('/etc/debian_version') && process.getuid?.() === 0;
  if (!isDebian || process.env.CHROMIUM) throw new Error(chromiumRemedy);
  const env = { PATH: process.env.PATH ?? '', DEBIAN_FRONTEND: 'noninteractive', LANG: 'C.UTF-8' };
  console.log('installing Chromium with apt-get');
  await run('apt-get', ['update', '-qq'], { cwd: here, env });
  const packages = ['chromium', 'fonts-dejavu-core'];
  await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages], {
    cwd: here,
    env,
  });
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  console.log(JSON.stringify(await ensureHost()));
}
