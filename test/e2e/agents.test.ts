// Each real agent runs the same six-task diamond through the real command, with a model API on
// loopback: its questions are answered, one agent is killed in mid-turn, everything lands, and no
// process is left.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { agentSettings, realAgents, writeAgentSettings } from '../agents/real-agents.ts';
import { ensureAgents, type AgentName } from '../agents-under-test/install.mjs';
import {
  startFakeModelApi,
  type FakeModelApi,
  type Step,
} from '../doubles/fake-model-api/fake-model-api.mjs';
import { conversation, goesOn, says } from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { killAll, processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import type { RunningProgram } from './support/run-program.ts';
import { useProjects } from './support/suite-projects.ts';

const ids = ['d1', 'd2', 'd3', 'd4', 'd5', 'd6'] as const;
const killed = 'd3';

/** The file-writing tool that each model is offered. */
const writes: Readonly<Record<string, (id: string) => Step>> = {
  codex: (id) => ({
    tools: [{ name: 'exec_command', input: { cmd: `echo 'work of ${id}' > ${id}.txt` } }],
  }),
  opencode: (id) => ({
    tools: [
      { name: 'write', input: { filePath: `{{cwd}}/${id}.txt`, content: `work of ${id}\n` } },
    ],
  }),
  gemini: (id) => ({
    tools: [{ name: 'write_file', input: { file_path: `${id}.txt`, content: `work of ${id}\n` } }],
  }),
  copilot: (id) => ({
    tools: [{ name: 'create', input: { path: `{{cwd}}/${id}.txt`, file_text: `work of ${id}\n` } }],
  }),
};

suite('a diamond by each real agent', function () {
  this.timeout(400_000);
  const project = useProjects();
  let programs: Readonly<Record<AgentName, string>>;
  let fake: FakeModelApi;
  suiteSetup(async function () {
    this.timeout(600_000);
    programs = await ensureAgents();
  });
  setup(async () => {
    fake = await startFakeModelApi();
  });
  teardown(() => fake.close());

  for (const agent of realAgents) {
    test(`${agent.kind}: the agent is asked and killed, and all six tasks land`, async () => {
      fake.setScript({ conversations: conversations(agent.kind, true) });
      const here = project({
        env: { DROVER_AGENT_TYPE: agent.kind, DROVER_AGENT_PATH: programs[agent.kind] },
        settings: agentSettings(agent, fake.url),
      });
      const { HOME: home = '' } = here.env;
      writeAgentSettings(agent, home, fake.url);
      await beginPlan(here, [
        'd1',
        { id: 'd2', blocked_by: ['d1'] },
        { id: 'd3', blocked_by: ['d1'] },
        { id: 'd4', blocked_by: ['d1'] },
        { id: 'd5', blocked_by: ['d2', 'd3', 'd4'] },
        { id: 'd6', blocked_by: ['d5'] },
      ]);
      const run = here.start(['run', '--workers', '3', '--gate', 'test -e d1.txt', '--json'], {
        timeoutMs: 350_000,
      });
      const answered = answerAll(here, run);
      await eventually(
        `${killed} is in the middle of its turn`,
        async () => {
          const place = (await here.task(killed)).worktree_path;
          return place !== null && existsSync(join(place, `${killed}.txt`));
        },
        200_000,
      );
      fake.setScript({ conversations: conversations(agent.kind, false) });
      killAll(processesOf(here.folder, `DROVER_TASK_ID=${killed}`));
      const done = await run.ended;
      assert.equal(done.code, 0, `${done.stdout.slice(-4000)}\n${done.stderr}`);
      const questions = await answered;
      assert.equal(questions > 0, agent.questions > 0, `${questions} questions`);

      const landed = landedTasks(here);
      assert.deepEqual([...landed].sort(), [...ids]);
      assert.deepEqual([landed[0], ...landed.slice(-2)], ['d1', 'd5', 'd6']);
      for (const id of ids) {
        assert.equal(here.read(`repo/${id}.txt`), `work of ${id}\n`);
        assert.equal((await here.task(id)).attempts, 0);
      }
      assert.deepEqual(fake.failures, []);
      const left = processesOf(here.folder, 'DROVER_TASK_ID=d').map(({ what }) => what);
      assert.deepEqual(left, []);
    });
  }
});

/** An answer that does not arrive while the agent lives. */
const late: Step = { say: 'too late', delayMs: 300_000 };

/** A killed agent gets the prompt to continue if its session is found, otherwise its whole task. */
function conversations(kind: string, isLate: boolean): ReturnType<typeof conversation>[] {
  const write = writes[kind] ?? (() => assert.fail(kind));
  const others = ids.filter((id) => id !== killed);
  return [
    goesOn(killed, [says('Gone on to the end.')]),
    conversation(killed, [write(killed), isLate ? late : says('Wrote it again.')]),
    ...others.map((id) => conversation(id, [write(id), says(`Wrote ${id}.`)])),
  ];
}

/**
 * Answers each question with its first choice when it is asked; resolves with the number of
 * questions.
 */
async function answerAll(here: Project, run: RunningProgram): Promise<number> {
  const seen = new Set<string>();
  for (;;) {
    const line = await run
      .line((text) => text.includes('"question.asked"') && !seen.has(text))
      .catch(() => null);
    if (line === null) return seen.size;
    seen.add(line);
    const { data } = JSON.parse(line) as {
      readonly data: { readonly question: string; readonly choices: readonly string[] };
    };
    // The kill withdrew it at the same time, so no answer is needed.
    await here.drover(['answer', data.question, data.choices[0] ?? '']);
  }
}
