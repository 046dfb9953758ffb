// How each real agent is configured to use a model API on loopback: its settings, its variables,
// and its questions.

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { AgentSettings } from '../../server/agents/port.ts';
import type { AgentName } from '../agents-under-test/install.mjs';

export const dummyKey = 'dummy-key-0123456789abcdef';
const homes = join(import.meta.dirname, 'agent-homes');

export interface RealAgent {
  readonly kind: Extract<AgentName, AgentSettings['kind']>;
  readonly args?: readonly string[];
  /** Its settings file below HOME, and the template for it. */
  readonly settings?: readonly [string, string];
  readonly env: (url: string) => Readonly<Record<string, string>>;
  /** How often it asks a person with its usual settings. */
  readonly questions: number;
  readonly files: readonly string[];
}

export const realAgents: readonly RealAgent[] = [
  {
    kind: 'codex',
    settings: ['.codex/config.toml', 'codex-config.toml'],
    // If its home is below the temporary folder, it installs no helper programs, and without them
    // its sandbox fails if the machine has bubblewrap. The tests' homes are there.
    env: () => ({ FAKE_KEY: dummyKey, TMPDIR: '/var/tmp' }),
    questions: 0,
    files: ['added.txt', 'hello.txt'],
  },
  {
    kind: 'opencode',
    settings: ['.config/opencode/opencode.json', 'opencode.json'],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    questions: 0,
    files: ['hello.txt'],
  },
  {
    kind: 'gemini',
    args: ['-m', 'gemini-2.5-pro'],
    settings: ['.gemini/settings.json', 'gemini-settings.json'],
    env: (url) => ({ GEMINI_API_KEY: dummyKey, GOOGLE_GEMINI_BASE_URL: url }),
    questions: 0,
    files: ['hello.txt'],
  },
  {
    kind: 'copilot',
    args: ['--disable-builtin-mcps'],
    env: (url) => ({
      COPILOT_PROVIDER_BASE_URL: `${url}/v1`,
      COPILOT_PROVIDER_API_KEY: dummyKey,
      COPILOT_MODEL: 'fake-model',
      COPILOT_OFFLINE: 'true',
    }),
    questions: 2,
    files: ['hello.txt'],
  },
];

/** Writes the agent's own settings into its home. */
export function writeAgentSettings(
  agent: Pick<RealAgent, 'settings'>,
  home: string,
  url: string,
): void {
  if (agent.settings === undefined) return;
  const [place, template] = agent.settings;
  const text = readFileSync(join(homes, template), 'utf8').replaceAll('@URL@', url);
  mkdirSync(dirname(join(home, place)), { recursive: true });
  writeFileSync(join(home, place), text);
}

/** The tables `[agent]` and `[agent.env]` that start it against the model at `url`. */
export function agentSettings(agent: Pick<RealAgent, 'args' | 'env'>, url: string): string {
  const quoted = (text: string): string => JSON.stringify(text);
  const variables = Object.entries(agent.env(url)).map(
    ([name, value]) => `${name} = ${quoted(value)}`,
  );
  return [
    '[agent]',
    `args = [${(agent.args ?? []).map(quoted).join(', ')}]`,
    '[agent.env]',
    ...variables,
    '',
  ].join('\n');
}
