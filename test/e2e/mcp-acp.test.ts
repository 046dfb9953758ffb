// The real ACP agents start Drover's MCP server as the protocol specifies, and the tasks that they
// add with it run and land.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type AgentName, ensureAgents } from '../agents-under-test/install.mjs';
import { type FakeModelApi, startFakeModelApi } from '../doubles/fake-model-api/fake-model-api.mjs';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

const dummyKey = 'dummy-key-0123456789abcdef';
const homes = join(import.meta.dirname, '..', 'agents', 'agent-homes');

interface RealAgent {
  readonly kind: Exclude<AgentName, 'claude'>;
  readonly args: readonly string[];
  readonly home?: readonly [string, string];
  readonly env: (url: string) => Readonly<Record<string, string>>;
  /** Its name for Drover's tool, and the name offered to its model if that differs. */
  readonly tool: { readonly name: string; readonly namespace?: string };
  readonly offered?: string;
  /** The questions that it asks a person before it calls a tool that changes something. */
  readonly asks: readonly RegExp[];
}

const agents: readonly RealAgent[] = [
  {
    kind: 'codex',
    args: [],
    home: ['.codex/config.toml', 'codex-config.toml'],
    env: () => ({ FAKE_KEY: dummyKey }),
    tool: { name: 'add_subtask', namespace: 'mcp__drover' },
    offered: 'mcp__drover',
    asks: [],
  },
  {
    kind: 'opencode',
    args: [],
    home: ['.config/opencode/opencode.json', 'opencode.json'],
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
    tool: { name: 'drover_add_subtask' },
    asks: [],
  },
  {
    kind: 'gemini',
    args: ['-m', 'gemini-2.5-pro'],
    home: ['.gemini/settings.json', 'gemini-settings.json'],
    env: (url) => ({ GEMINI_API_KEY: dummyKey, GOOGLE_GEMINI_BASE_URL: url }),
    tool: { name: 'mcp_drover_add_subtask' },
    asks: [/add_subtask/],
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
    tool: { name: 'drover-add_subtask' },
    asks: [/add_subtask/],
  },
];

suite('tools for ACP agents', function () {
  this.timeout(300_000);
  const project = useProjects();
  let programs: Readonly<Record<AgentName, string>>;
  let fake: FakeModelApi;
  suiteSetup(async () => {
    programs = await ensureAgents();
  });
  setup(async () => {
    fake = await startFakeModelApi();
  });
  teardown(() => fake.close());

  for (const agent of agents) {
    test(`${agent.kind} adds a sub-task, which runs`, async () => {
      const input = { title: 'The first part' };
      fake.setScript({
        conversations: [
          {
            name: 'part',
            match: { prompt: 'Task id: a1.1 ', hasTools: true },
            steps: [{ say: 'Did the part.' }],
          },
          {
            name: 'own',
            match: { prompt: 'Task id: a1 ', hasTools: true },
            steps: [
              {
                expect: { tool: agent.offered ?? agent.tool.name },
                tools: [{ ...agent.tool, input }],
              },
              { say: 'Planned.' },
            ],
          },
        ],
        fallback: { say: 'A title' },
      });
      const env = agent.env(fake.url);
      const here = project({
        env: { ...env, DROVER_AGENT_TYPE: agent.kind, DROVER_AGENT_PATH: programs[agent.kind] },
        settings: `env_allow = ${JSON.stringify(Object.keys(env))}\n[agent]\nargs = ${JSON.stringify(agent.args)}\n`,
      });
      if (agent.home !== undefined) {
        const [place, template] = agent.home;
        const text = readFileSync(join(homes, template), 'utf8');
        here.write(`home/${place}`, text.replaceAll('@URL@', fake.url));
      }
      await beginPlan(here, ['a1']);
      // Research may end without a commit, because only the tools are tested here.
      await here.expect(0, ['edit', 'a1', '--type', 'research']);
      const run = here.start(['run', '--json']);
      const asked: string[] = [];
      let isOver = false;
      run.ended.then(
        () => (isOver = true),
        () => (isOver = true),
      );
      const look = async (): Promise<boolean> => {
        for (const question of (await here.status()).questions) {
          if (question.kind !== 'permission') continue;
          asked.push(question.text);
          await here.drover(['answer', question.id, question.choices[0] ?? '']);
        }
        return isOver;
      };
      await eventually('the run is over', look, 240_000);
      assert.equal((await run.ended).code, 0);
      assert.deepEqual(fake.failures, []);
      assert.equal(asked.length, agent.asks.length, asked.join('\n'));
      for (const [index, sentence] of agent.asks.entries()) {
        assert.match(asked[index] ?? '', sentence);
      }
      assert.deepEqual(
        (await here.status()).tasks.map((task) => [task.id, task.title, task.status]),
        [
          ['a1', 'Task a1', 'completed'],
          ['a1.1', 'The first part', 'completed'],
        ],
      );
    });
  }
});
