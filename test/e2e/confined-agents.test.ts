// Each real agent in the sandbox, which can reach only its model: it edits, runs a command,
// commits, asks a person, is killed in mid-turn and continues; its escape attempts fail. The table
// in docs/isolation.md is generated from the results: DROVER_WRITE_DOCS=1 stores them, and `npm run
// docs` writes the table.

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  agentSettings,
  realAgents,
  type RealAgent,
  writeAgentSettings,
} from '../agents/real-agents.ts';
import { ensureAgents, type AgentName } from '../agents-under-test/install.mjs';
import {
  agentsOfTable,
  type ConfinedFacts,
  storeConfinedFacts,
  storedConfinedFacts,
  versionOf,
} from '../docs/confined-agents.ts';
import {
  startFakeModelApi,
  type FakeModelApi,
  type Step,
} from '../doubles/fake-model-api/fake-model-api.mjs';
import { conversation, dummyKey, goesOn, says } from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import { killAll, processesOf } from './support/processes.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

interface Confined extends Pick<RealAgent, 'args' | 'settings' | 'env'> {
  readonly kind: AgentName;
  readonly shell: (command: string) => Step;
  readonly edit: (name: string, text: string) => Step;
  readonly ask: { readonly name: string; readonly namespace?: string };
}

const steps: Readonly<Record<AgentName, Pick<Confined, 'shell' | 'edit' | 'ask'>>> = {
  claude: {
    shell: (command) => tool('Bash', { command, description: 'x' }),
    edit: (name, content) => tool('Write', { file_path: `{{cwd}}/${name}`, content }),
    ask: { name: 'mcp__drover__ask_person' },
  },
  codex: {
    shell: (cmd) => tool('exec_command', { cmd }),
    edit: (name, text) => tool('exec_command', { cmd: `printf '%s' '${text}' > ${name}` }),
    ask: { name: 'ask_person', namespace: 'mcp__drover' },
  },
  opencode: {
    shell: (command) => tool('bash', { command, description: 'x' }),
    edit: (name, content) => tool('write', { filePath: `{{cwd}}/${name}`, content }),
    ask: { name: 'drover_ask_person' },
  },
  gemini: {
    shell: (command) => tool('run_shell_command', { command }),
    edit: (name, content) => tool('write_file', { file_path: name, content }),
    ask: { name: 'mcp_drover_ask_person' },
  },
  copilot: {
    shell: (command) => tool('bash', { command, description: 'x', mode: 'sync', initial_wait: 60 }),
    edit: (name, text) => tool('create', { path: `{{cwd}}/${name}`, file_text: text }),
    ask: { name: 'drover-ask_person' },
  },
};

const claude: Omit<Confined, 'shell' | 'edit' | 'ask'> = {
  kind: 'claude',
  env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: dummyKey }),
};

const agents: readonly Confined[] = [claude, ...realAgents].map((agent) => ({
  ...agent,
  ...steps[agent.kind],
}));

suite('real agents confined', function () {
  this.timeout(500_000);
  const project = useProjects();
  const seen: Partial<Record<AgentName, ConfinedFacts>> = {};
  let programs: Readonly<Record<AgentName, string>>;
  let fake: FakeModelApi;
  let other: Server;
  suiteSetup(async function () {
    this.timeout(600_000);
    programs = await ensureAgents();
    other = createServer((_, answer) => answer.end('reached'));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  });
  suiteTeardown(() => {
    other.close();
  });
  setup(async () => {
    fake = await startFakeModelApi();
  });
  teardown(() => fake.close());

  const begun = async (agent: Confined): Promise<Project> => {
    const here = project({
      env: {
        DROVER_AGENT_TYPE: agent.kind,
        DROVER_AGENT_PATH: programs[agent.kind],
        DROVER_SANDBOX: 'bwrap',
      },
      settings: `[sandbox]\nnetwork = "model-only"\n${agentSettings(agent, fake.url)}`,
    });
    here.write('home/private.txt', 'private\n');
    writeAgentSettings(agent, here.env['HOME'] ?? '', fake.url);
    await beginPlan(here, ['t1']);
    return here;
  };
  const portOf = (server: Server): number => (server.address() as AddressInfo).port;

  test('each attempt succeeds without walls', async () => {
    const here = await begun(agents[0] ?? assert.fail());
    here.write('repo/.drover/backend.json', '{}');
    const command = triesOf(here, portOf(other));
    await promisify(execFile)('/bin/sh', ['-c', command], { cwd: here.folder, env: here.env });
    assert.deepEqual(linesOf(here.read('reached.txt')), [...names, 'end']);
  });

  for (const agent of agents) {
    test(`${agent.kind} edits, runs commands, commits, asks, survives a kill, and reaches nothing else`, async () => {
      const here = await begun(agent);
      fake.setScript(talk(agent, here, portOf(other), true));
      const run = here.start(['run', '--workers', '1', '--gate', 'test -e README.md', '--json'], {
        timeoutMs: 450_000,
      });
      const asked = answerAll(here, run.ended);
      await eventually(
        'it has edited, asked, and waits for its model',
        async () => {
          const place = (await here.task('t1')).worktree_path;
          const isAnswered = (await here.events('--type', 'question.answered')).length > 0;
          return place !== null && existsSync(join(place, 'edited.txt')) && isAnswered;
        },
        240_000,
      );
      if (agent.kind === 'gemini') await minuteAfter(startsOf(here)[0]?.at ?? 0);
      fake.setScript(talk(agent, here, portOf(other), false));
      killAll(processesOf(here.folder, 'DROVER_TASK_ID=t1'));
      const done = await run.ended;
      assert.equal(done.code, 0, `${done.stdout.slice(-6000)}\n${done.stderr}`);
      assert.equal((await here.task('t1')).attempts, 0);
      assert.deepEqual(processesOf(here.folder, 'DROVER_TASK_ID=t1'), []);

      const landed = here.git('ls-tree', '--name-only', 'main').split('\n');
      const reached = landed.includes('reached.txt')
        ? linesOf(here.git('show', 'main:reached.txt'))
        : [];
      const facts: ConfinedFacts = {
        version: versionOf(agent.kind),
        edits: landed.includes('edited.txt'),
        runs: reached.at(-1) === 'end',
        commits: here.git('log', '--format=%s', 'main').includes('committed by hand'),
        asks: (await asked).some((text) => text.includes('Which color')),
        resumes: startsOf(here).at(-1)?.resumed === true,
        reached: reached.filter((name) => name !== 'end'),
      };
      seen[agent.kind] = facts;
      assert.deepEqual(facts, {
        version: facts.version,
        edits: true,
        runs: true,
        commits: true,
        asks: true,
        resumes: true,
        reached: [],
      });
    });
  }

  test('docs/isolation.md describes the observed behavior', () => {
    const unseen = agentsOfTable.filter((kind) => seen[kind] === undefined);
    assert.deepEqual(unseen, [], 'tested above: run the whole suite, without --grep');
    if (process.env['DROVER_WRITE_DOCS'] === '1') storeConfinedFacts(seen);
    assert.deepEqual(seen, storedConfinedFacts());
  });
});

function tool(name: string, input: object): Step {
  return { tools: [{ name, input }] };
}

/** The escape attempts, without command substitution, which Gemini CLI refuses. */
function tries(here: Project, port: number): Readonly<Record<string, string>> {
  const hook = `${here.root}/.git/hooks/pre-commit`;
  const fetching = `fetch('http://127.0.0.1:${port}').then(() => process.exit(0), () => process.exit(1))`;
  return {
    'the home of the user': `cat ${here.folder}/home/private.txt`,
    "the owner's token": `cat ${here.root}/.drover/backend.json`,
    hooks: `echo x > ${hook} && test -e ${here.root}/README.md`,
    'another port': `node -e "${fetching}"`,
    'another process': `cat /proc/${process.pid}/stat`,
  };
}

const names = [
  'the home of the user',
  "the owner's token",
  'hooks',
  'another port',
  'another process',
];

/** Writes the reached hosts to reached.txt, followed by `end`. */
function triesOf(here: Project, port: number): string {
  const all = Object.entries(tries(here, port)).map(
    ([name, words]) => `if ( ${words} ) > /dev/null 2>&1; then echo "${name}" >> reached.txt; fi`,
  );
  return `${all.join('; ')}; echo end >> reached.txt`;
}

/** The model's messages before the kill (the last one never finishes), and after it. */
function talk(agent: Confined, here: Project, port: number, isLate: boolean) {
  const byHand =
    'echo by hand > committed.txt; git add committed.txt; git commit -qm "committed by hand"';
  const question = { question: 'Which color?', choices: ['red', 'green'] };
  const conversations = [
    goesOn('t1', [says('Gone on to the end.')]),
    conversation('t1', [
      agent.shell(`${byHand}; ${triesOf(here, port)}`),
      { tools: [{ ...agent.ask, input: question }] },
      agent.edit('edited.txt', 'edited'),
      isLate ? { say: 'too late', delayMs: 400_000 } : says('Did it again.'),
    ]),
  ];
  return { conversations, fallback: says('A title') };
}

function linesOf(text: string): string[] {
  return text.trim().split('\n');
}

interface Start {
  readonly at: number;
  readonly type: string;
  readonly resumed: boolean;
}

/** Each start of the agent, from the attempt's log. */
function startsOf(here: Project): readonly Start[] {
  const log = readFileSync(join(here.root, '.drover', 'logs', 't1', '1.ndjson'), 'utf8');
  return linesOf(log)
    .map((line) => JSON.parse(line) as Start)
    .filter(({ type }) => type === 'started');
}

/**
 * Gemini CLI empties a conversation that it loads in the minute in which it started (gemini-cli
 * issue 28775).
 */
async function minuteAfter(startMs: number): Promise<void> {
  const minute = (ms: number): number => Math.floor(ms / 60_000);
  await eventually(
    'the next minute has begun',
    () => Promise.resolve(minute(Date.now()) > minute(startMs)),
    70_000,
  );
}

/** Answers every question with its first choice until the run is over. */
async function answerAll(here: Project, ended: Promise<unknown>): Promise<readonly string[]> {
  const asked: string[] = [];
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  ended.then(over, over);
  await eventually(
    'the run is over',
    async () => {
      for (const question of (await here.status()).questions) {
        asked.push(question.text);
        await here.drover(['answer', question.id, question.choices[0] ?? 'red']);
      }
      return isOver;
    },
    450_000,
  );
  return asked;
}
