// The tools of a person's language model: their requests to the backend, their answers, and
// refusals that name the correction.

import assert from 'node:assert/strict';
import { parseImport } from '../../../server/core/exchange/import-jsonl.ts';
import { newTasks } from '../../../server/protocol/person-tools/add-tasks.ts';
import {
  runPersonTool,
  type PersonToolHost,
} from '../../../server/protocol/person-tools/carry-out.ts';
import type { PersonToolName } from '../../../server/protocol/person-tools/tools.ts';
import type { StatusSnapshot } from '../../../server/protocol/views.ts';
import { confirmation } from '../../../extension/tools/tool-questions.ts';
import { epicView, questionView, snapshotOf, taskView } from '../../doubles/views.ts';
import { emptyProject } from '../../../server/core/exchange/import-types.ts';

const tasks = [
  taskView({ id: 'task-done', title: 'Done', status: 'completed', epic_id: 'epic-shop' }),
  taskView({ id: 'task-open', title: 'Open', epic_id: 'epic-shop', waits_for: ['task-done'] }),
];
const board: StatusSnapshot = {
  ...snapshotOf(tasks, { epics: [epicView({ id: 'epic-shop', title: 'A shop' }, tasks)] }),
  questions: [questionView({ id: 'q-1', task_id: 'task-open', choices: ['Allow', 'Deny'] })],
};

let bytes = 0;
const random = (count: number): Uint8Array => {
  bytes += 1;
  return new Uint8Array(count).fill(bytes);
};

interface Called {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
}

async function call(
  name: PersonToolName,
  input: unknown,
  answers: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly text: string; readonly calls: readonly Called[] }> {
  const calls: Called[] = [];
  const all: Readonly<Record<string, unknown>> = {
    status: board,
    import: {
      imported: { epics: 0, tasks: 1 },
      unchanged: 0,
      differs: [],
      errors: [],
      warnings: [],
    },
    answer: tasks[1],
    ...answers,
  };
  const host: PersonToolHost = {
    request: (request, params) => {
      calls.push({ name: request, params: params as Called['params'] });
      return Promise.resolve(all[request] as never);
    },
    startRun: (epic) => {
      calls.push({ name: 'start', params: { epic } });
      return Promise.resolve('Started.');
    },
    random,
  };
  return { text: await runPersonTool(name, input, host), calls };
}

suite('tools of a language model', () => {
  test('the board is returned as one text, unfinished tasks first, with open questions', async () => {
    const { text } = await call('drover_read_board', {});
    assert.match(text, /epic-shop "A shop": 1 of 2 tasks done/);
    assert.ok(text.indexOf('task-open') < text.indexOf('task-done [completed]'));
    assert.match(text, /q-1 \(.*Choices: Allow \| Deny/);
  });

  test('a missing epic and two epics with the same title are refused with the remedy', async () => {
    await assert.rejects(
      call('drover_read_board', { epic: 'Nowhere' }),
      /Epic "Nowhere" does not exist\. Call drover_read_board/,
    );
    const twice = { ...board, epics: [...board.epics, epicView({ id: 'e2', title: 'A shop' })] };
    await assert.rejects(
      call('drover_run_epic', { epic: 'A shop' }, { status: twice }),
      /Several epics have the title/,
    );
  });

  test('three tasks with dependencies are added as one import that the importer accepts', async () => {
    const input = {
      epic: 'A new epic',
      tasks: [
        { key: 'a', title: 'First', description: 'Write a.' },
        { key: 'b', title: 'Second', description: 'Write b.', acceptanceCriteria: ['b exists'] },
        { title: 'Third', description: 'Write c.', blockedBy: ['a', 'b', 'task-open'] },
      ],
    };
    const { text, calls } = await call('drover_add_tasks', input);
    const sent = calls.find(({ name }) => name === 'import');
    const jsonl = String(sent?.params['text']);
    const plan = parseImport(jsonl.replace(',"task-open"', ''), emptyProject);
    assert.deepEqual(plan.problems, []);
    assert.equal(jsonl.trim().split('\n').length, 4);
    assert.match(text, /^Added 3 tasks to epic-\w{8} "A new epic":/);
    assert.match(text, /Nothing runs yet\.$/);
  });

  test('an existing epic is found by its title, and no second one is created', () => {
    const { epic, jsonl } = newTasks(
      { epic: 'A shop', tasks: [{ title: 'x', description: 'y' }] },
      board,
      random,
    );
    assert.deepEqual(epic, { id: 'epic-shop', title: 'A shop', isNew: false });
    assert.doesNotMatch(jsonl, /"type":"epic"/);
  });

  test('a refusal names the task and the field that cannot be added', () => {
    const refused = (given: unknown): string => {
      try {
        newTasks(given, board, random);
      } catch (error) {
        return (error as Error).message;
      }
      return 'taken';
    };
    assert.match(refused({ tasks: [] }), /1 to 100 tasks/);
    assert.match(refused({}), /1 to 100 tasks/);
    assert.match(refused({ tasks: 'all' }), /"tasks" must be a list/);
    assert.match(refused({ tasks: [{ title: '' }] }), /"title" of tasks\[0\] must not be empty/);
    assert.match(
      refused({ tasks: [{ title: 'x', description: 'y', blockedBy: ['zz'] }] }),
      /"blockedBy" of tasks\[0\] names "zz"/,
    );
    const twice = { key: 'a', title: 'x', description: 'y' };
    assert.match(
      refused({ tasks: [twice, twice] }),
      /tasks\[1\] has the key "a" of an earlier task/,
    );
    assert.match(
      refused({ epic: 'epic-aaaaaaaa', tasks: [{ title: 'x', description: 'y' }] }),
      /Epic epic-aaaaaaaa does not exist/,
    );
  });

  test('a refused import adds nothing and gives the reason', async () => {
    const errors = [{ line: 1, code: 'x', kind: 'x', id: null, message: 'the title is too long' }];
    const refusing = { import: { errors, warnings: [], imported: {}, differs: [] } };
    await assert.rejects(
      call('drover_add_tasks', { tasks: [{ title: 'x', description: 'y' }] }, refusing),
      /Nothing was added: the title is too long/,
    );
  });

  test('a run that cannot start is not started, and the remedies are named', async () => {
    const fault = { name: 'agent', outcome: 'error', message: 'No agent.', remedy: 'Install one.' };
    const preflight = { can_run: false, checks: [fault], tasks: 1, width: 1 };
    await assert.rejects(
      call('drover_run_epic', { epic: 'A shop' }, { preflight }),
      /The run cannot start\. No agent\. Install one\./,
    );
    const able = { preflight: { can_run: true, checks: [], tasks: 1, width: 1 } };
    const { calls } = await call('drover_run_epic', { epic: 'A shop' }, able);
    assert.deepEqual(calls.at(-1), { name: 'start', params: { epic: 'epic-shop' } });
  });

  test('a question is answered only by one of its choices', async () => {
    await assert.rejects(
      call('drover_answer_question', { id: 'q-1', answer: 'Perhaps' }),
      /must be one of: Allow \| Deny/,
    );
    await assert.rejects(
      call('drover_answer_question', { id: 'q-9', answer: 'Allow' }),
      /Question q-9 is not open/,
    );
    const { calls } = await call('drover_answer_question', { id: 'q-1', answer: 'Deny' });
    assert.deepEqual(calls.at(-1), { name: 'answer', params: { id: 'q-1', choice: 'Deny' } });
  });

  test('a person confirms the exact rows before something changes, and never before reading', () => {
    const asked = confirmation(
      'drover_add_tasks',
      {
        epic: 'A shop',
        tasks: [
          { key: 'a', title: 'First', description: 'x' },
          { title: 'Second', description: 'y', blockedBy: ['a', 'task-open'] },
        ],
      },
      board,
    );
    assert.equal(asked?.title, 'Add 2 tasks to “A shop”?');
    assert.deepEqual(asked?.lines.slice(0, 2), ['• First', '• Second (after: First, Open)']);
    assert.match(
      confirmation('drover_run_epic', {}, board)?.lines[0] ?? '',
      /lands on .* nothing is pushed/,
    );
    assert.match(
      confirmation('drover_answer_question', { id: 'q-1', answer: 'Allow' }, board)?.title ?? '',
      /“Allow”/,
    );
    assert.equal(confirmation('drover_read_board', {}, board), null);
    assert.equal(confirmation('drover_answer_question', { id: 'q-9', answer: 'x' }, board), null);
  });
});
