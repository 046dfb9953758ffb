// The real Codex, OpenCode, Gemini CLI and Copilot CLI over ACP, against a model API on loopback.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createDriver } from '../../server/agents/drivers.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { ensureAgents, type AgentName } from '../agents-under-test/install.mjs';
import {
  startFakeModelApi,
  type FakeModelApi,
  type Script,
} from '../doubles/fake-model-api/fake-model-api.mjs';
import { dummyKey, realAgents, writeAgentSettings } from './real-agents.ts';
import { assertNothingLeft, createRecordingHost, createTestRun, settingsOf } from './support.ts';

const scripts = join(import.meta.dirname, '..', 'doubles', 'fake-model-api', 'scripts');
/** The agents' own launchers are Node programs and need the project's Node. */
const nodeFolder = dirname(process.execPath);

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

  for (const agent of realAgents) {
    test(`${agent.kind} completes its task, asks its questions, and leaves nothing behind`, async () => {
      const run = createTestRun();
      const home = run.request.env['HOME'] ?? '';
      execFileSync('git', ['init', '-q', '-b', 'main', run.cwd]);
      writeAgentSettings(agent, home, fake.url);
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
