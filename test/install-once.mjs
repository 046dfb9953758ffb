// Installs the npm packages that tests use into a folder with its own lock file, once.

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

const lockStaleMs = 600_000;

/**
 * A second call costs nothing, and calling it again repairs an interrupted installation.
 *
 * @param {string} folder with `package.json` and `package-lock.json`
 * @param {() => Promise<void>} install
 */
export async function installOnce(folder, install) {
  const stampPath = join(folder, 'node_modules', '.stamp');
  const wanted = readFileSync(join(folder, 'package-lock.json'), 'utf8');
  const isInstalled = () => existsSync(stampPath) && readFileSync(stampPath, 'utf8') === wanted;
  if (isInstalled()) return;
  await withLock(join(folder, 'node_modules.lock'), async () => {
    if (isInstalled()) return;
    await install();
    writeFileSync(stampPath, wanted);
  });
}

/** Two concurrent test runs must not install into the same folder. */
export async function withLock(lockPath, body) {
  for (;;) {
    try {
      mkdirSync(lockPath);
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const ageMs = Date.now() - (statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (ageMs > lockStaleMs) rmSync(lockPath, { recursive: true, force: true });
    await delay(200);
  }
  try {
    await body();
  } finally {
    rmSync(lockPath, { recursive: true, force: true });
  }
}

/** The engine check concerns the Node that installs, which does not run the packages. */
const quietly = ['--ignore-scripts', '--no-engine-strict', '--no-audit', '--no-fund'];

/** `npm ci` in a folder, without install scripts. */
export async function npmCi(folder, ...options) {
  const { node, npm } = machinesNpm();
  const args = [npm, 'ci', ...options, ...quietly, '--no-update-notifier', '--loglevel=error'];
  await run(node, args, { cwd: folder, env: npmEnvironment(node) });
}

/** Fails with the end of its output. */
export async function run(program, args, { cwd, env }) {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => (said = (said + chunk).slice(-4_000)));
  }
  const code = await new Promise((done, fail) => child.on('error', fail).on('close', done));
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${code}:\n${said}`);
}

/** The project's own Node has no npm: the machine's npm must run on the machine's Node. */
export function machinesNpm() {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  if (node && npm && npm.endsWith('.js') && existsSync(npm)) return { node, npm };
  const folders = ownPath();
  const find = (name) => folders.map((folder) => join(folder, name)).find(existsSync);
  const [foundNode, foundNpm] = [find('node'), find('npm')];
  if (!foundNode || !foundNpm) throw new Error('npm was not found on PATH; the tests need it');
  return { node: foundNode, npm: realpathSync(foundNpm) };
}

function ownPath() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.filter((folder) => folder !== '' && !folder.includes('node_modules'));
}

/**
 * The variables that npm needs to reach its registry, without the project's own settings and
 * without keys.
 */
export function npmEnvironment(node) {
  const passed =
    /^(HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|TEMP|TMP|TMPDIR|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|npm_config_(registry|cache|userconfig|globalconfig|proxy|https_proxy|noproxy|cafile|ca))$/i;
  const kept = Object.entries(process.env).filter(([name]) => passed.test(name));
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...ownPath()].join(delimiter) };
}
