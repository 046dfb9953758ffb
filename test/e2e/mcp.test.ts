// Agents send requests through Drover's own MCP server: the tasks that they add run and land, and
// refused requests change nothing.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Refusal } from '../../server/core/failure.ts';
import type { AgentClient } from '../../server/protocol/agent-requests.ts';
import type { QuestionView, StatusSnapshot, TaskView } from '../../server/protocol/api.ts';
import { connectAgentSocket, connectSocket } from '../../server/rpc/transport/client.ts';
import { ConnectFailure } from '../../server/rpc/transport/errors.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import type { AgentScript, ToolResult } from './support/mcp-agent.ts';
import type { Project, ProjectOptions } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

const program = resolve(import.meta.dirname, 'support', 'mcp-agent.ts');
const agent = `cat > /dev/null\nexec node --no-warnings '${program}'`;

async function begin(
  project: (options?: ProjectOptions) => Project,
  script: AgentScript,
  more = '',
): Promise<Project> {
  const here = project({ agent: more + agent });
  here.write('script.json', JSON.stringify(script));
  await here.expect(0, ['init']);
  return here;
}

function results(here: Project): readonly ToolResult[] {
  return here
    .read('results')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ToolResult);
}

function byTitle(status: StatusSnapshot, title: string): TaskView {
  const found = status.tasks.find((task) => task.title === title);
  return found ?? assert.fail(`there is no task "${title}"`);
}

const steps = ['kept', 'added', 'begin', 'agent_done', 'committed'];

suite('tools for agents', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('two sub-tasks and a follow-up are added, appear on the board, run and land', async () => {
    const here = await begin(project, {
      'Write the parser': [
        { tool: 'list_tools' },
        { tool: 'add_subtask', args: { title: 'Write the lexer', accept: ['It reads numbers.'] } },
        { tool: 'add_subtask', args: { title: 'Write the grammar' } },
        { tool: 'add_followup', args: { title: 'Use the parser', description: 'In the command.' } },
        { tool: 'read_board' },
        { tool: 'report_progress', args: { note: 'Three tasks are planned.' } },
      ],
      'Use the parser': [{ tool: 'read_task' }],
    });
    const other = await here.add('Something else');
    const id = await here.add('Write the parser', '--blocked-by', other);
    await here.expect(0, ['run']);
    const said = results(here);
    assert.deepEqual(
      said.filter((result) => result.isError),
      [],
    );
    assert.deepEqual(said[0]?.text.split(' ').sort(), [
      'add_followup',
      'add_subtask',
      'ask_person',
      'declare_blocker',
      'read_board',
      'read_task',
      'remember',
      'report_progress',
    ]);
    const status = await here.status();
    for (const task of status.tasks) assert.equal(task.status, 'completed', task.title);
    const lexer = byTitle(status, 'Write the lexer');
    const follow = byTitle(status, 'Use the parser');
    assert.deepEqual(
      [lexer.id, lexer.parent_id, lexer.acceptance_criteria],
      [`${id}.1`, id, ['It reads numbers.']],
    );
    assert.deepEqual([follow.parent_id, follow.blocked_by], [null, [id]]);
    const board = JSON.parse(said.find((result) => result.tool === 'read_board')?.text ?? '') as {
      tasks: { id: string; status: string }[];
    };
    assert.deepEqual(
      board.tasks.map((task) => [task.id, task.status]),
      [
        [other, 'completed'],
        [id, 'in_progress'],
        [`${id}.1`, 'ready'],
        [`${id}.2`, 'ready'],
        [follow.id, 'blocked'],
      ],
    );
    assert.deepEqual(here.read('order').trim().split('\n'), [
      other,
      id,
      `${id}.1`,
      `${id}.2`,
      follow.id,
    ]);
    assert.deepEqual(landedTasks(here), [other, id, follow.id]);
    for (const part of [id, `${id}.1`, `${id}.2`]) {
      assert.equal(here.read(`repo/${part}.txt`), `work of ${part}\n`);
      const commit = here.git('log', '--format=%H', `--grep=Drover-Task: ${part}$`, '--no-merges');
      assert.match(
        here.git('show', '--name-only', '--format=', commit),
        new RegExp(`^${part}.txt$`),
      );
    }
    const log = await here.expect(0, ['log', id]);
    assert.match(log, /Three tasks are planned\./);
    const told = JSON.parse(said.find((result) => result.task === follow.id)?.text ?? '') as {
      blockers: { id: string; status: string; result: string }[];
    };
    assert.deepEqual(
      told.blockers.map((blocker) => [blocker.id, blocker.status, blocker.result]),
      [[id, 'completed', 'did Write the parser']],
    );
  });

  test('a blocker releases the attempt, and its agent continues when the other task has landed', async () => {
    const here = await begin(project, {});
    const id = await here.add('Use the library', '--priority', 'high');
    const library = await here.add('Write the library');
    here.write(
      'script.json',
      JSON.stringify({
        'Use the library': [
          { tool: 'declare_blocker', args: { task: library, reason: 'It is not there.' } },
        ],
      }),
    );
    await here.expect(0, ['run', '--workers', '1']);
    const said = results(here);
    assert.match(said[0]?.text ?? '', new RegExp(`${id} now waits for ${library}`));
    assert.match(said[1]?.text ?? '', /is already completed, so waiting is not needed/);
    assert.deepEqual(here.read('order').trim().split('\n'), [id, library, id]);
    assert.deepEqual(landedTasks(here), [library, id]);
    const task = await here.task(id);
    assert.deepEqual([task.status, task.blocked_by], ['completed', [library]]);
  });

  test('a question waits in the inbox, and the answer reaches the agent', async () => {
    const here = await begin(project, {
      'Choose a colour': [
        {
          tool: 'ask_person',
          args: { question: 'Which colour?', choices: ['red', 'green'] },
          until: '"answered"',
        },
      ],
    });
    await here.add('Choose a colour');
    const run = here.start(['run']);
    const question = await eventually('the question', async () => {
      const [open] = (await here.status()).questions;
      return open ?? null;
    });
    assert.deepEqual([question.text, question.choices], ['Which colour?', ['red', 'green']]);
    await here.expect(0, ['answer', question.id, 'green']);
    assert.equal((await run.ended).code, 0);
    const [last] = results(here).slice(-1);
    assert.match(last?.text ?? '', /"answer": "green"/);
    assert.deepEqual((await here.status()).questions, []);
  });

  soakTest(
    'an agent that outlives its backend continues with the next one, including the tasks it adds',
    async () => {
      const here = await begin(project, {
        'Survive it': [
          { tool: 'add_subtask', args: { title: 'Before' } },
          { tool: 'ask_person', args: { question: 'Go on?' }, until: '"answered"' },
          { tool: 'add_subtask', args: { title: 'Before' } },
          { tool: 'add_subtask', args: { title: 'After' } },
        ],
      });
      const id = await here.add('Survive it');
      const run = here.start(['run']);
      const asked = async (): Promise<QuestionView | null> =>
        (await here.status()).questions[0] ?? null;
      const first = await eventually('the question', asked);
      assert.equal(await here.killBackend(), true);
      const second = await eventually('the question again', async () => {
        const question = await asked();
        return question === null || question.id === first.id ? null : question;
      });
      await here.expect(0, ['answer', second.id, 'yes']);
      assert.equal((await run.ended).code, 0);
      const tokens = here.read('tokens').trim().split('\n');
      assert.deepEqual(
        tokens.map((line) => line.split(' ')[0]),
        [id, `${id}.1`, `${id}.2`],
      );
      assert.deepEqual(here.read('order').trim().split('\n'), [id, `${id}.1`, `${id}.2`]);
      assert.deepEqual(landedTasks(here), [id]);
      const { tasks } = await here.status();
      assert.deepEqual(
        tasks.map((task) => [task.title, task.status]),
        [
          ['Survive it', 'completed'],
          ['Before', 'completed'],
          ['After', 'completed'],
        ],
      );
    },
  );

  for (const step of sized(['added'], steps)) {
    test(`a backend that dies after "${step}" neither loses nor repeats added sub-tasks`, async () => {
      const here = await begin(project, {
        'Crash it': [
          { tool: 'add_subtask', args: { title: 'First' } },
          { tool: 'add_subtask', args: { title: 'Second' } },
        ],
      });
      const id = await here.add('Crash it');
      const env = { DROVER_TEST: '1', DROVER_TEST_CRASH_AT: step };
      const run = await here.drover(['run'], { env });
      assert.equal(run.code, 0, `${run.stdout}\n${run.stderr}`);
      assert.match(run.stderr, /Lost the connection to the backend/);
      const parts = [id, `${id}.1`, `${id}.2`];
      assert.deepEqual(here.read('order').trim().split('\n'), parts);
      assert.deepEqual(landedTasks(here), [id]);
      for (const part of parts) {
        assert.equal((await here.task(part)).status, 'completed');
        assert.equal(here.read(`repo/${part}.txt`), `work of ${part}\n`);
      }
    });
  }

  test('a request that the rules refuse gets a sentence, and nothing has changed', async () => {
    const here = await begin(project, {});
    const foreign = await here.add('Somebody else’s work');
    const id = await here.add('Ask for too much', '--priority', 'high');
    const later = await here.add('Comes after', '--blocked-by', id);
    here.write(
      'script.json',
      JSON.stringify({
        'Ask for too much': [
          { tool: 'declare_blocker', args: { task: later } },
          { tool: 'declare_blocker', args: { task: id } },
          { tool: 'declare_blocker', args: { task: 'task-nowhere' } },
          { tool: 'read_task', args: { id: foreign } },
          { tool: 'add_followup', args: { title: `${foreign}.7 Slip in below another task` } },
          { tool: 'add_followup', args: { title: 'x'.repeat(201) } },
          { tool: 'add_followup', args: { title: 'Wait for nothing', blocked_by: ['task-none'] } },
          { tool: 'add_subtask', args: { title: ' ' } },
          { tool: 'ask_person', args: { question: 'y'.repeat(4_001) } },
        ],
      }),
    );
    await here.expect(0, ['run', '--workers', '1']);
    const said = results(here);
    assert.deepEqual(
      said.filter((result) => !result.isError),
      [],
    );
    const sentences = [
      new RegExp(`would wait for itself: .*${later} → ${id}|${id} → ${later}`),
      new RegExp(`${id} would wait for itself: ${id} → ${id}`),
      /Task "task-nowhere"/,
      new RegExp(`${foreign} is neither your task nor one that it waits for`),
      new RegExp(`starts with the id of a sub-task of ${foreign}`),
      /The title has 201 characters; the limit is 200/,
      /Task "task-none"/,
      /The title must not be empty/,
      /The question has 4001 characters; the limit is 4000/,
    ];
    for (const [index, sentence] of sentences.entries()) {
      assert.match(said[index]?.text ?? '', sentence);
    }
    const { tasks, questions } = await here.status();
    assert.deepEqual(tasks.map((task) => task.id).sort(), [foreign, id, later].sort());
    assert.deepEqual(tasks.find((task) => task.id === id)?.blocked_by, []);
    assert.deepEqual(questions, []);
  });

  soakTest('an attempt adds a bounded number of tasks', async () => {
    const adds = Array.from({ length: 21 }, (_, index) => ({
      tool: 'add_followup',
      args: { title: `Follow-up ${index + 1}`, blocked_by: ['never'] },
    }));
    const here = await begin(project, {});
    const id = await here.add('Add and add', '--priority', 'high');
    const never = await here.add('Never done');
    await here.expect(0, ['cancel', never, '--reason', 'not wanted']);
    here.write(
      'script.json',
      JSON.stringify({
        'Add and add': adds.map((call) => ({
          ...call,
          args: { ...call.args, blocked_by: [never] },
        })),
      }),
    );
    await here.expect(2, ['run']);
    const said = results(here);
    assert.deepEqual(
      said.map((result) => result.isError),
      [...Array.from({ length: 20 }, () => false), true],
    );
    assert.match(
      said[20]?.text ?? '',
      new RegExp(`${id} has added 20 tasks, and no more are taken`),
    );
    assert.equal((await here.status()).tasks.length, 22);
  });

  test('a token is valid only for its own attempt, and only while that attempt runs', async () => {
    const here = await begin(project, {
      'Hold on': [{ tool: 'ask_person', args: { question: 'Go on?' }, until: '"answered"' }],
    });
    const id = await here.add('Hold on');
    const foreign = await here.add('Foreign', '--blocked-by', id);
    const run = here.start(['run', '--workers', '1']);
    const question = await eventually('the question', async () => {
      const [open] = (await here.status()).questions;
      return open ?? null;
    });
    const address = JSON.parse(here.read('repo/.drover/backend.json')) as {
      socket: string;
      token: string;
    };
    const token = here.read('tokens').split(/\s/)[1] ?? '';
    const logs = join(here.root, '.drover', 'logs', id);
    const [file = ''] = readdirSync(logs).filter((name) => name.endsWith('.mcp.json'));
    assert.equal(statSync(join(logs, file)).mode & 0o777, 0o600);

    const wrong = token.replace(/^./, (first) => (first === '0' ? '1' : '0'));
    await assert.rejects(connectAgentSocket(address, wrong), isRefusedToken);
    const ours = await connectAgentSocket(address, token);
    assert.equal((await ours.call('agent.task', {})).id, id);
    await assert.rejects(callAnything(ours, 'task.edit', { id: foreign, title: 'Mine' }), (error) =>
      isRefusal(error, /An agent may not ask for "task.edit"/),
    );
    await assert.rejects(callAnything(ours, 'shutdown', { force: true }), (error) =>
      isRefusal(error, /may not ask for "shutdown"/),
    );
    await assert.rejects(callAnything(ours, 'agent.add', { kind: 'sub_task' }), (error) =>
      isRefusal(error, /agent.add needs the parameter title/),
    );
    const person = await connectSocket(address as never);
    await assert.rejects(
      callAnything(person as never, 'agent.board', {}),
      /Request ".*" does not exist/,
    );
    person.close();

    await here.expect(0, ['answer', question.id, 'yes']);
    assert.equal((await run.ended).code, 0);
    for (const call of [
      () => ours.call('agent.task', {}),
      () => ours.call('agent.add', { kind: 'follow_up', title: 'Too late' }),
      () => ours.call('agent.block', { by: foreign }),
      () => ours.call('agent.ask', { text: 'Anybody?' }),
      () => ours.call('agent.progress', { text: 'Still here.' }),
    ]) {
      await assert.rejects(call(), (error) =>
        isRefusal(error, new RegExp(`Attempt 1 of ${id} is no longer running`)),
      );
    }
    ours.close();
    await assert.rejects(connectAgentSocket(address, token), isRefusedToken);
    assert.equal(existsSync(join(logs, file)), false);
    const status = await here.status();
    assert.equal(status.tasks.length, 2);
    assert.equal(status.tasks.find((task) => task.id === foreign)?.title, 'Foreign');
    const told = readdirSync(logs).map((name) => here.read(`repo/.drover/logs/${id}/${name}`));
    assert.equal(told.join('').includes(token), false);
  });
});

function isRefusedToken(error: unknown): boolean {
  return error instanceof ConnectFailure && error.kind === 'refused';
}

function isRefusal(error: unknown, sentence: RegExp): boolean {
  return error instanceof Refusal && sentence.test(error.message);
}

/** Another program may send what the types forbid. */
function callAnything(client: AgentClient, name: string, params: unknown): Promise<unknown> {
  return client.call(name as never, params as never);
}
