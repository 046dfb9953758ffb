// Installs the agent programs that the tests drive, once; a second call costs nothing.
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { installOnce, npmCi } from '../install-once.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, 'node_modules');

/**
 * @typedef {'claude' | 'codex' | 'copilot' | 'gemini' | 'opencode'} AgentName
 * @returns {Promise<Record<AgentName, string>>} full paths of the programs
 */
export async function ensureAgents() {
  await installOnce(here, () => npmCi(here));
  return {
    claude: claudeProgram(),
    codex: programAt('.bin', 'codex-acp'),
    // Signals do not reach it through its npm loader, but the platform's own package contains the
    // program.
    copilot: programAt('@github', `copilot-${platform}`, 'copilot'),
    gemini: programAt('.bin', 'gemini'),
    opencode: programAt(`opencode-${platform}`, 'bin', 'opencode'),
  };
}

const platform = `${process.platform}-${process.arch}`;

/**
 * Install scripts may be blocked, and with them the link in bin/, but the platform's own package
 * contains the program.
 */
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

if (process.argv[1] && import.meta.url === pathToFileURL(realpathSync(process.argv[1])).href) {
  console.log(JSON.stringify(await ensureAgents()));
}
