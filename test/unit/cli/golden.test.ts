// Output for people at 80 columns: status, tree, live view, why, help.

import assert from 'node:assert/strict';
import { stripVTControlCharacters } from 'node:util';
import { statusText } from '../../../server/cli/render/status-text.ts';
import { DurationBook, liveText } from '../../../server/cli/render/live-text.ts';
import { displayWidth } from '../../../server/cli/render/fit.ts';
import { formatSummaryLine } from '../../../server/cli/render/summary.ts';
import { buildProgram } from '../../../server/cli/program/program.ts';
import type { Command } from 'commander';
import type { MachineView, StatusSnapshot, TaskView } from '../../../server/protocol/api.ts';
import { checkGolden } from '../../doubles/golden.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { eventView } from '../../doubles/memory-feed.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';
import { epicView, questionView, runView, snapshotOf, taskView } from '../../doubles/views.ts';

const nowMs = 1_700_000_600_000;
const view = { width: 80, color: false, nowMs, tree: false };

const busyTasks: readonly TaskView[] = [
  taskView({
    id: 'task-7h2k9d3f',
    title: 'Greet people by name, in the language of their choice, at any time of the day',
    epic_id: 'epic-fr4n5a1s',
    status: 'in_progress',
    phase: 'agent',
    agent: 'claude',
    attempts: 2,
    started_at: 1_700_000_355,
    cost: 0.124,
  }),
  taskView({
    id: 'task-7h2k9d3f.1',
    title: 'Parse the name',
    epic_id: 'epic-fr4n5a1s',
    parent_id: 'task-7h2k9d3f',
    status: 'completed',
  }),
  taskView({
    id: 'task-7h2k9d3f.2',
    title: 'Choose the language',
    epic_id: 'epic-fr4n5a1s',
    parent_id: 'task-7h2k9d3f',
  }),
  taskView({
    id: 'task-9c4v7b2n',
    title: '日本語の挨拶を追加する 🐑 とても長い題名なのでここで切られるはずです',
    epic_id: 'epic-fr4n5a1s',
    status: 'blocked',
    waits_for: ['task-7h2k9d3f'],
  }),
  taskView({
    id: 'task-3m8x4q1z',
    title: 'Review \u001b[31mme\u001b[0m\u0007',
    status: 'needs_review',
    review_kind: 'held_files',
    held_files: ['.env', 'keys/server.pem'],
    attempts: 1,
    cost: 1.5,
  }),
  taskView({
    id: 'STORY-001',
    title: 'An imported one that does not merge',
    status: 'conflict',
    conflict_files: ['src/hello.ts', 'src/index.ts'],
    attempts: 3,
  }),
  taskView({
    id: 'task-bbbbbbbb',
    title: 'Failed',
    status: 'failed',
    last_error: 'The gate is red.',
  }),
  taskView({ id: 'task-cccccccc', title: 'Given up', status: 'cancelled' }),
  taskView({ id: 'task-dddddddd', title: 'Out of quota', status: 'paused', attempts: 1 }),
];

const busy: StatusSnapshot = snapshotOf(busyTasks, {
  run: runView({ target_branch: 'main', result_branch: 'drover/results/main' }),
  target: { branch: 'main', sha: '89abcdef0123456789abcdef0123456789abcdef', pending: 2 },
  epics: [
    epicView({ id: 'epic-fr4n5a1s', title: 'Speak French' }, busyTasks),
    epicView({ id: 'epic-0000empty', title: 'Nothing yet', status: 'closed' }),
  ],
  stuck: [
    {
      id: 'task-9c4v7b2n',
      waits_for: ['task-bbbbbbbb'],
      reason:
        'It waits for task-bbbbbbbb, which has failed: retry it with "drover retry task-bbbbbbbb", or take the edge away.',
    },
  ],
  questions: [
    questionView({
      id: 'q-41',
      task_id: 'task-7h2k9d3f',
      text: 'May I run "npm install left-pad" in the worktree of this task, or shall I write it myself?',
    }),
    questionView({ id: 'q-42', task_id: 'task-7h2k9d3f', state: 'answered' }),
  ],
});

function fits(text: string, width = 80): void {
  for (const line of text.split('\n')) assert.ok(displayWidth(line) <= width, `too wide: ${line}`);
}

suite('output for people', () => {
  test('status', () => {
    const text = statusText(busy, view);
    fits(text);
    checkGolden('status', text);
  });

  test('status shows the cause and the remedy of files that are held', () => {
    const reason = 'held back, never committed: app/ (a git repository: remove app/.git)';
    const held = { status: 'needs_review', held_files: ['app/'], verdict_reason: reason } as const;
    const textOf = (kind: TaskView['review_kind']): string => {
      const tasks = [taskView({ ...held, id: 'a', review_kind: kind })];
      return statusText({ ...busy, tasks }, { ...view, width: 120 });
    };
    for (const kind of ['held_files', 'protected', 'unmerged'] as const)
      assert.ok(textOf(kind).includes(`\n    ${reason}\n    drover diff a`), textOf(kind));
    assert.ok(!textOf('approval').includes(reason), 'there it is what the agent said');
  });

  test('status of a large plan: a summary, and every task on demand', () => {
    const tasks = [...busyTasks];
    for (let n = 1; n <= 300; n += 1) {
      const blocked = { status: 'blocked', waits_for: [n % 3 === 0 ? 'task-7h2k9d3f' : 'many-1'] };
      const state = n === 1 ? {} : n <= 12 ? { status: 'in_progress', phase: 'gate' } : blocked;
      const epic_id = n % 2 === 0 ? 'epic-many' : null;
      const task = { title: `Number ${n}`, epic_id, ...state } as Partial<TaskView>;
      tasks.push(taskView({ ...task, id: `many-${n}` }));
    }
    const many = tasks.filter((task) => task.epic_id === 'epic-many');
    const epics = [...busy.epics, epicView({ id: 'epic-many', title: 'Many' }, many)];
    const large = { ...busy, tasks, epics };
    const text = statusText(large, view);
    fits(text);
    assert.ok(text.split('\n').length <= 50, text);
    checkGolden('status-large', text);
    assert.match(statusText(large, { ...view, all: true }), /many-300 /);
    assert.match(statusText(large, { ...view, tree: true }), /many-300 /);
  });

  test('status on a wide terminal', () => {
    const text = statusText(busy, { ...view, width: 120 });
    fits(text, 120);
    checkGolden('status-wide', text);
  });

  test('status of a fleet: the machine of each task', () => {
    const tasks = busyTasks.map((task, at) =>
      at === 0 || at === 4
        ? { ...task, machine: at === 0 ? 'atlas' : 'hera\u001b[2J/1a2b3c4d' }
        : task,
    );
    const machine = (name: string, state: MachineView['state'], agents: number): MachineView => ({
      id: name,
      name,
      state,
      labels: [],
      agents,
      agents_max: 4,
      room: 4,
      lands: true,
      version: '2.0.0',
      note: null,
      joined_at: 1_700_000_000,
      heard_at: 1_700_000_100,
      heard_ago_ms: 125_000,
    });
    const note = 'The git remote origin has not answered for 12 s; nothing new starts here.';
    const machines = [
      { ...machine('atlas', 'working', 2), note },
      machine('hera\u001b[2J', 'draining', 1),
      { ...machine('zeus', 'dead', 0), note },
      machine('nyx', 'left', 0),
    ];
    const fleet = snapshotOf(tasks, { run: runView({ workers: 6 }), machines });
    const text = statusText(fleet, view);
    fits(text);
    checkGolden('status-fleet', `${text}\n\n${statusText(fleet, { ...view, tree: true })}`);
  });

  test('status --tree', () => {
    const text = statusText(busy, { ...view, tree: true });
    fits(text);
    checkGolden('status-tree', text);
  });

  test('status of an empty project', () => {
    checkGolden('status-empty', statusText(snapshotOf([]), view));
  });

  test('status --oneline', () => {
    checkGolden('status-oneline', formatSummaryLine(busy));
  });

  test('live view', () => {
    const text = liveText(busy, { ...view, rows: 30, durationsMs: [300_000], notice: null });
    fits(text);
    checkGolden('live', text);
  });

  test('the live view of many tasks shows the active ones first, counts the rest, and is never too high', () => {
    const many = Array.from({ length: 500 }, (_, at) =>
      taskView({
        id: `task-${String(at).padStart(4, '0')}`,
        status: at % 100 === 7 ? 'in_progress' : at < 200 ? 'completed' : 'ready',
        phase: at % 100 === 7 ? 'gate' : null,
        epic_id: at % 2 === 0 ? 'epic-a' : null,
      }),
    );
    const epics = [epicView({ id: 'epic-a' }, many)];
    const snapshot = snapshotOf(many, { run: runView(), epics });
    const text = liveText(snapshot, {
      ...view,
      rows: 24,
      durationsMs: [60_000],
      notice: 'Stopping …',
    });
    fits(text);
    assert.ok(text.split('\n').length < 24);
    checkGolden('live-many', text);
  });

  test('output never exceeds the width and height of the terminal', () => {
    for (const width of [20, 31, 40, 79, 120]) {
      for (const tree of [true, false]) {
        const narrow = statusText(busy, { ...view, width, tree });
        if (tree) fits(narrow.split('\n\n')[1] ?? '', width);
      }
      for (const rows of [8, 12, 40]) {
        fits(liveText(busy, { ...view, width, rows, durationsMs: [], notice: null }), width);
      }
    }
  });

  test('colors change nothing but the color', () => {
    const colored = statusText(busy, { ...view, color: true });
    assert.ok(colored.includes('\u001b['));
    assert.equal(stripVTControlCharacters(colored), statusText(busy, view));
  });

  test('why', async () => {
    const reasons = [
      'It waits for task-7h2k9d3f, which is running (agent, attempt 2 of 3).',
      'The run has no free place: 3 of 3 agents are working.',
    ];
    const backend = memoryBackend({ why: ({ id }) => ({ id, reasons }) });
    const terminal = memoryTerminal(backend.backends);
    assert.equal(await terminal.run('why', 'task-9c4v7b2n'), 0);
    checkGolden('why', terminal.stdout.text);
  });

  test('the help of every command shows its effect and examples', () => {
    const columns = process.stdout.columns;
    process.stdout.columns = 80;
    try {
      const host = { write: () => {}, writeError: () => {}, run: async () => {} };
      const texts: string[] = [];
      const visit = (command: Command): void => {
        let text = '';
        command.configureOutput({ writeOut: (part) => (text += part) });
        command.outputHelp();
        if (command.name() !== 'help') assert.match(text, /\$ drover /u);
        texts.push(text);
        for (const each of command.commands) visit(each);
      };
      visit(buildProgram(host));
      checkGolden('help', texts.join(`${'='.repeat(80)}\n`));
    } finally {
      process.stdout.columns = columns;
    }
  });
});

suite('durations learned from the feed', () => {
  test('a duration lasts from the last start to the completion', () => {
    const book = new DurationBook();
    const at = (seq: number, type: string, task: string, atMs: number) =>
      eventView({ seq, type, task_id: task, at_ms: atMs });
    book.learn([
      at(1, 'task.claimed', 'a', 1000),
      at(2, 'task.claimed', 'b', 2000),
      at(3, 'task.started', 'b', 5000),
      at(4, 'task.completed', 'b', 9000),
      at(5, 'task.completed', 'unknown', 9000),
      at(6, 'run.finished', 'a', 9500),
    ]);
    book.learn([at(7, 'task.completed', 'a', 11_000)]);
    assert.deepEqual(book.all, [4000, 10_000]);
  });
});
