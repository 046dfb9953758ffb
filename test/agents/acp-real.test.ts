// The real Codex, OpenCode, Gemini CLI and Copilot CLI over ACP, against a model API on loopback.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createDriver } from '../../server/agents/drivers.ts';
import type { AgentSettings } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/process-table.ts';
import { ensureAgents, type AgentName } from '../agents-under-test/install.mjs';
import {
  startFakeModelApi,
  type FakeModelApi,
  type Script,
} from '../doubles/fake-model-api/fake-model-api.mjs';
import { assertNothingLeft, createRecordingHost, createTestRun, settingsOf } from './support.ts';

const dummyKey = 'dummy-key-0123456789abcdef';
const homes = join(import.meta.dirname, 'agent-homes');
const scripts = join(import.meta.dirname, '..', 'doubles', 'fake-model-api', 'scripts');
/** The agents' own launchers are Node programs and want the project's. */
const nodeFolder = dirname(process.execPath);

interface RealAgent {
  readonly kind: Extract<AgentName, AgentSettings['kind']>;
  readonly args?: readonly string[];
  /** File of its settings below HOME, and the template for it. */
  readonly settings?: readonly [string, string];
  readonly env: (url: string) => Readonly<Record<string, string>>;
  /** How often it asks a person with its usual settings. */
  readonly questions: number;
  readonly files: readonly string[];
}

const agents: readonly RealAgent[] = [
  {
    kind: 'codex',
    settings: ['.codex/config.toml', 'codex-config.toml'],
    env: () => ({ FAKE_KEY: dummyKey }),
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

suite('real agents over ACP', () => {
  let programs: Readonly<Record<AgentName, string>>;
  let fake: FakeModelApi;
  suiteSetup(async () => {
    programs = await ensureAgents();
  });
  setup(async () => {
    const script = JSON.parse(readFileSync(join(scripts, 'all-agents.json'), 'utf8')) as Script;
    fake = await startFakeModelApi({ script });
  });
  teardown(() => fake.close());

  for (const agent of agents) {
    test(`${agent.kind} does its task, asks what it asks, and leaves nothing`, async () => {
      const run = createTestRun();
      const home = run.request.env['HOME'] ?? '';
      execFileSync('git', ['init', '-q', '-b', 'main', run.cwd]);
      if (agent.settings !== undefined) {
        const [place, template] = agent.settings;
        const text = readFileSync(join(homes, template), 'utf8').replaceAll('@URL@', fake.url);
        mkdirSync(dirname(join(home, place)), { recursive: true });
        writeFileSync(join(home, place), text);
      }
      const env = {
        ...run.request.env,
        PATH: `${nodeFolder}:${run.request.env['PATH'] ?? ''}`,
        ...agent.env(fake.url),
      };
      const settings = settingsOf(agent.kind, {
        path: programs[agent.kind],
        args: agent.args ?? [],
      });
      const driver = createDriver(settings, {
        processTable: createProcessTable(),
        baseDir: '/',
        version: '0',
      });
      const host = createRecordingHost((question) => question.choices[0] ?? null);
      const outcome = await driver.run(
        { ...run.request, prompt: 'HAPPY please', env, secrets: [dummyKey] },
        host,
        new AbortController().signal,
      );
      assert.equal(outcome.kind, 'done', JSON.stringify(outcome));
      assert.deepEqual(
        readdirSync(run.cwd).filter((name) => name !== '.git'),
        agent.files,
      );
      assert.equal(host.ofType('question').length, agent.questions);
      assert.equal(host.ofType('tool_call').length, host.ofType('tool_result').length);
      assert.ok(host.ofType('text').length > 0);
      await assertNothingLeft(run.request.runId);
      run.remove();
    });
  }
});
