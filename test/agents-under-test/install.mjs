// Installs the agent programs that the tests drive, once; the second call costs nothing.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');
const stampPath = join(modules, '.stamp');
const lockPath = join(here, 'node_modules.lock');
const lockStaleMs = 300_000;

/**
 * @typedef {'claude' | 'codex' | 'copilot' | 'gemini' | 'opencode'} AgentName
 * @returns {Promise<Record<AgentName, string>>} full paths of the programs
 */
export async function ensureAgents() {
  const wanted = readFileSync(join(here, 'package-lock.json'), 'utf8');
  const isInstalled = () => existsSync(stampPath) && readFileSync(stampPath, 'utf8') === wanted;
  if (!isInstalled()) {
    await withLock(async () => {
      if (isInstalled()) return;
      await npmCi();
      writeFileSync(stampPath, wanted);
    });
  }
  return {
    claude: claudeProgram(),
    codex: programAt('.bin', 'codex-acp'),
    // Its npm loader cannot be reached by signals: the platform's own package has the program.
    copilot: programAt('@github', `copilot-${platform}`, 'copilot'),
    gemini: programAt('.bin', 'gemini'),
    opencode: programAt(`opencode-${platform}`, 'bin', 'opencode'),
  };
}

const platform = `${process.platform}-${process.arch}`;

/** Install scripts may be blocked, and with them the link in bin/: the platform's own package has the program. */
function claudeProgram() {
  const file = process.platform === 'win32' ? 'claude.exe' : 'claude';
  return programAt('@anthropic-ai', `claude-code-${platform}`, file);
}

/** @param {...string} parts path below node_modules */
function programAt(...parts) {
  const path = join(modules, ...parts);
  if (!existsSync(path)) throw new Error(`an agent has no program for ${platform}: ${path} is missing`);
  return path;
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

async function npmCi() {
  const { node, npm } = machinesNpm();
  // The engine check is about the Node that installs; the program itself needs none.
  const args = [npm, 'ci', '--ignore-scripts', '--no-engine-strict', '--no-audit', '--no-fund'];
  const child = spawn(node, args, { cwd: here, env: npmEnvironment(node), stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk) => (said += chunk));
  const code = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve));
  if (code !== 0) throw new Error(`npm ci in ${here} ended with ${code}:\n${said.slice(-2_000)}`);
}

/** The project's own Node has no npm: the machine's npm must run on the machine's Node. */
export function machinesNpm() {
  const { npm_node_execpath: node, npm_execpath: npm } = process.env;
  if (node && npm && npm.endsWith('.js')) return { node, npm };
  const folders = ownPath();
  const find = (name) => folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
  const [foundNode, foundNpm] = [find('node'), find('npm')];
  if (!foundNode || !foundNpm) throw new Error('npm was not found on PATH; it is needed to install the agents under test');
  return { node: foundNode, npm: realpathSync(foundNpm) };
}

function ownPath() {
  return (process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== '' && !folder.includes('node_modules'));
}

/** What npm needs to reach its registry; nothing of the project's own settings, and no keys. */
export function npmEnvironment(node) {
  const passed =
    /^(HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SystemRoot|TEMP|TMP|TMPDIR|https?_proxy|no_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|npm_config_(registry|cache|userconfig|globalconfig|proxy|https_proxy|noproxy|cafile|ca))$/i;
  const kept = Object.entries(process.env).filter(([name]) => passed.test(name));
  return { ...Object.fromEntries(kept), PATH: [dirname(node), ...ownPath()].join(delimiter) };
}

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  console.log(JSON.stringify(await ensureAgents()));
}
