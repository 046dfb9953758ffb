// Why a task is not running: the sentences for every state, made from facts.

import assert from 'node:assert/strict';
import type { AgentChoices } from '../../../server/core/work/fallback.ts';
import { type Hold, setHolds } from '../../../server/store/status/holds.ts';
import { askQuestion } from '../../../server/store/work/questions.ts';
import type { RunTable, TaskRow } from '../../../server/store/schema/tables.ts';
import { why } from '../../../server/store/why/why.ts';
import type { WhyFacts } from '../../../server/store/why/why-phrases.ts';
import type { Insertable } from 'kysely';
import {
  addAttempt,
  addTasks,
  memoryStore,
  moveTask,
  refusalOf,
  testStartMs,
  type TestStore,
} from './memory-store.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';
import { type AttemptRow } from '../../../server/store/port.ts';

suite('why', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
    agents = noFallback;
    remote = { runsOn: 'local', remoteLabels: ['gpu'], max: 1 };
  });
  teardown(() => project.close());

  let agents: AgentChoices = noFallback;
  let remote: NonNullable<WhyFacts['remote']>;

  /** The sentences, with titles in place of ids. */
  async function ask(id: string, hasBackend = true): Promise<string[]> {
    const still = { nowMs: testStartMs, agentKind: 'claude', gateNeeds: [] };
    const facts = { ...still, agents, hasBackend, remote };
    const reasons = await why(project.store.db, id, facts);
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['id', 'title'])
      .execute();
    const titles = new Map(rows.map((row) => [row.id, row.title]));
    return reasons.map((reason) =>
      reason.replace(/task-[a-z2-7]+(?:\.\d+)*/g, (found) => titles.get(found) ?? found),
    );
  }

  async function run(more: Partial<Insertable<RunTable>> = {}): Promise<void> {
    await tablesOf(project.store.db)
      .insertInto('runs')
      .values({
        id: `run-${more.epic_id ?? 'all'}`,
        state: 'active',
        started_at_ms: testStartMs,
        workers: 2,
        land: 'task',
        target_branch: 'main',
        line: 'main',
        base_sha: 'a'.repeat(40),
        flags: '{}',
        ...more,
      })
      .execute();
  }

  async function attempt(
    id: string,
    state: AttemptRow['state'],
    more: Readonly<Record<string, unknown>> = {},
  ): Promise<void> {
    await addAttempt(project, id, { state, started_at_ms: testStartMs - 65_000, ...more });
  }

  const states: readonly [
    string,
    Parameters<typeof moveTask>[2],
    Partial<TaskRow>,
    readonly RegExp[],
  ][] = [
    [
      'completed',
      ['claimed', 'in_progress', 'completed'],
      { landed_sha: 'c'.repeat(40), landed_on: 'main' },
      [/^A is completed: it has landed on main as cccccccccccc\.$/],
    ],
    ['completed without a commit', ['claimed', 'in_progress', 'completed'], {}, [/no commit was/]],
    [
      'failed',
      ['claimed', 'in_progress', 'failed'],
      { attempts: 3, last_error: 'the gate\nis red', rescue_refs: '["refs/drover/rescue/x"]' },
      [
        /^A has failed: 3 of 3 attempts/,
        /^The last error: the gate is red$/,
        /kept: refs\/drover\/rescue\/x/,
        /"drover retry A"/,
      ],
    ],
    ['cancelled', ['cancelled'], {}, [/^A is cancelled/, /"drover retry A"/]],
    ['paused', ['paused'], {}, [/^A was paused by a person; use "drover unpause A"/]],
    [
      'taken over',
      ['paused'],
      { phase: 'by_hand', worktree_path: '/w/1' },
      [/^A was taken over by a person, who works in \/w\/1; use "drover unpause A"/],
    ],
    [
      'in conflict',
      ['claimed', 'in_progress', 'conflict'],
      { conflict_files: '["a.txt","b.txt"]', branch: 'drover/A/1' },
      [/landed work in a\.txt, b\.txt;/, /kept: drover\/A\/1/, /"drover retry A"/],
    ],
    [
      'held files',
      ['claimed', 'in_progress', 'needs_review'],
      { review_kind: 'held_files', held_files: '[".env"]', worktree_path: '/w/1' },
      [
        /held back, never committed: \.env; they are in \/w\/1/,
        /drover approve A/,
        /secrets_allowed/,
      ],
    ],
    [
      'a held repository',
      ['claimed', 'in_progress', 'needs_review'],
      {
        review_kind: 'held_files',
        held_files: '["frontend/"]',
        verdict_reason: 'held back, never committed: frontend/ (a git repository: remove it)',
      },
      [
        /^(?!.*(?:secrets|too large)).*frontend\/ \(a git repository: remove it\); they are in its/,
        /^(?!.*secrets_allowed).*drover approve A/,
      ],
    ],
    [
      'no changes',
      ['claimed', 'in_progress', 'needs_review'],
      { review_kind: 'no_changes' },
      [/changed nothing/, /drover send-back A/],
    ],
    [
      'an approval',
      ['claimed', 'in_progress', 'needs_review'],
      { review_kind: 'approval' },
      [/waits for an approval/, /drover approve A/],
    ],
    [
      'a cause outside',
      ['claimed', 'in_progress', 'blocked'],
      { blocked_reason: 'setup: npm ci failed.' },
      [/^A is blocked: setup: npm ci failed\.$/, /"drover resolve A --note/],
    ],
    [
      'the quota',
      ['claimed', 'in_progress', 'waiting'],
      { waiting_until_ms: testStartMs + 90_000 },
      [
        /out of quota until 2027-01-15 08:01:30 UTC \(in 1 min 30 s\); A then continues automatically/,
      ],
    ],
    ['a step', ['claimed', 'in_progress'], { phase: 'setup' }, [/running.*at the step "setup"/]],
  ];
  for (const [name, statuses, set, patterns] of states) {
    test(`it explains ${name}`, async () => {
      const { A = '' } = await addTasks(project, [{ title: 'A' }]);
      await moveTask(project, A, statuses, set);
      const reasons = await ask(A);
      assert.equal(reasons.length, patterns.length, reasons.join('\n'));
      for (const [index, pattern] of patterns.entries())
        assert.match(reasons[index] ?? '', pattern);
    });
  }

  test('it names a question and how to answer it', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    await moveTask(project, A, ['claimed', 'in_progress'], {
      phase: 'agent',
      stop_requested: 'pause',
    });
    await attempt(A, 'running');
    const question = await project.store.transaction((tx) =>
      askQuestion(tx, project.sources, {
        taskId: A,
        attempt: 1,
        requestId: 'r',
        kind: 'permission',
        text: 'Run rm?',
        choices: ['yes', 'no'],
      }),
    );
    assert.deepEqual(await ask(A), [
      'A is running for 1 min 5 s: attempt 1 with claude is at the step "agent".',
      'A person asked to pause it; its agent is being stopped.',
      `Its agent waits for an answer to "Run rm?": use "drover answer ${question.id}" with "yes" or "no".`,
    ]);
    assert.match((await ask(A, false))[0] ?? '', /was running .* "drover resume"/);
  });

  test('it follows blockers to the root', async () => {
    const ids = await addTasks(project, [
      { title: 'A' },
      { title: 'B', blocked_by: ['A'] },
      { title: 'C', blocked_by: ['B'] },
      { title: 'D', blocked_by: ['C'] },
      { title: 'E' },
      { title: 'F', blocked_by: ['D', 'E'] },
    ]);
    const { A = '', E = '', F = '' } = ids;
    assert.deepEqual((await ask(F)).slice(0, 2), [
      'F waits for 2 tasks: D, E.',
      'D is blocked itself: it waits along D → C → B → A; A is ready to start.',
    ]);
    await moveTask(project, A, ['claimed', 'in_progress', 'failed'], { last_error: 'red' });
    await moveTask(project, E, ['claimed', 'in_progress']);
    assert.deepEqual(await ask(F), [
      'F waits for 2 tasks: D, E.',
      'D is blocked: it waits along D → C → B → A; A has failed (red); use "drover retry A".',
      'E is running.',
    ]);
  });

  test('for a sub-task, it explains the parent', async () => {
    const ids = await addTasks(project, [
      { title: 'X' },
      { title: 'P', blocked_by: ['X'] },
      { title: 'S', parent: 'P' },
    ]);
    assert.deepEqual(await ask(ids['S'] ?? ''), [
      'S is a sub-task: it runs in its turn inside the attempt of P.',
      'P waits for one task: X.',
      'X is ready to start.',
    ]);
  });

  test('it explains why a task runs on a remote worker, and that it waits for one', async () => {
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A', labels: ['gpu'] },
      { title: 'B', labels: ['gpu'] },
    ]);
    await run();
    assert.deepEqual(await ask(B), ['B is ready and a worker is free: it starts in a moment.']);
    await moveTask(project, A, ['claimed', 'in_progress'], { phase: 'agent', epoch: 1 });
    await attempt(A, 'running', { runs_on: 'remote' });
    const because = 'because its label gpu is one of [remote] labels.';
    assert.match((await ask(A)).join('\n'), /^A is running on a remote worker for/);
    assert.equal((await ask(A))[1], `It runs on a remote worker ${because}`);
    assert.deepEqual(await ask(B), [
      `B runs on a remote worker ${because} The limit ([remote] max) is reached: 1 remote worker is running, and it starts when one is free.`,
    ]);
  });

  test('it explains why a ready task has not started', async () => {
    const {
      A = '',
      B = '',
      C = '',
    } = await addTasks(project, [{ title: 'A' }, { title: 'B' }, { title: 'C', priority: -1 }]);
    assert.deepEqual(await ask(C), ['C is ready, but no run is active; "drover run" starts it.']);
    await run();
    assert.deepEqual(await ask(C), ['C is ready and a worker is free: it starts in a moment.']);
    assert.match((await ask(C, false))[0] ?? '', /"drover resume" to continue/);
    await moveTask(project, A, ['claimed', 'in_progress'], { phase: 'agent' });
    await moveTask(project, B, ['claimed', 'in_progress'], { phase: 'agent' });
    await addTasks(project, [{ title: 'Z' }]);
    assert.deepEqual(await ask(C), [
      'All workers are busy (2 of 2: A, B); C starts when one is free, 1 ready task is ahead of it (priority, chain, order).',
    ]);
    await tablesOf(project.store.db)
      .updateTable('tasks')
      .set({ phase: 'gate' })
      .where('id', '=', A)
      .execute();
    assert.match((await ask(C))[0] ?? '', /a worker is free/);
    await tablesOf(project.store.db)
      .insertInto('accounts')
      .values({ name: 'claude', limited_until_ms: testStartMs + 60_000 })
      .execute();
    assert.match(
      (await ask(C))[0] ?? '',
      /account of claude is out of quota until .* \(in 1 min\)/,
    );
  });

  test('it shows reasons that prevent new starts if they concern the task', async () => {
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A', agent: 'codex' },
      { title: 'B' },
    ]);
    const hold = (scope: string, untilMs: number | null = null) => ({
      scope,
      reason: `Held: ${scope}.`,
      untilMs,
    });
    const { store, sources } = project;
    const set = (...holds: Hold[]) => store.transaction((tx) => setHolds(tx, sources, holds));
    await set(hold('day', testStartMs + 1), hold('machine'), hold('agent/claude'), hold('epic/e'));
    assert.deepEqual((await ask(A)).slice(0, 1), ['Held: day.']);
    await run();
    assert.deepEqual(await ask(A), ['Held: day.', 'Held: machine.']);
    assert.deepEqual(await ask(B), ['Held: agent/claude.', 'Held: day.', 'Held: machine.']);
    await set(hold('machine'), hold('day', testStartMs));
    assert.deepEqual(await ask(B), ['Held: machine.']);
    await set();
    assert.match((await ask(B))[0] ?? '', /starts in a moment/);
    const told = (await store.feed.read({})).filter(({ type }) => type.startsWith('run.'));
    assert.deepEqual(
      told.map(({ type, data }) => `${type} ${String(data['scope'])}`),
      [
        'run.held day',
        'run.held machine',
        'run.held agent/claude',
        'run.held epic/e',
        'run.released agent/claude',
        'run.released epic/e',
        'run.released day',
        'run.released machine',
      ],
    );
  });

  test('it names the agent that takes over, and why the previous one did not finish', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A', fallback: 'command:big,codex' }]);
    agents = { ...noFallback, limitWaitMs: 1_000 };
    await run();
    await attempt(A, 'failed', { failure_kind: 'agent_auth', error: 'not signed in' });
    const takesOver =
      'command:big takes over A from claude, whose attempt ended with: not signed in';
    assert.deepEqual(await ask(A), [
      takesOver,
      'A is ready and a worker is free: it starts in a moment.',
    ]);
    await tablesOf(project.store.db)
      .insertInto('accounts')
      .values([
        { name: 'claude', limited_until_ms: testStartMs + 60_000 },
        { name: 'command', limited_until_ms: testStartMs + 60_000 },
      ])
      .execute();
    assert.match(
      (await ask(A)).join(' '),
      /account of command is out of quota until .* before\. codex takes over if its own account is free/,
    );
    agents = noFallback;
    assert.doesNotMatch((await ask(A)).join(' '), /codex takes over/);
  });

  test('it shows the time of the next try and the scope of the run', async () => {
    const { A = '' } = await addTasks(project, [{ title: 'A' }]);
    await moveTask(project, A, ['claimed', 'in_progress', 'ready'], {
      attempts: 1,
      next_attempt_at_ms: testStartMs + 2_000,
      last_error: 'red',
    });
    await run({ epic_id: 'epic-1' });
    assert.deepEqual(await ask(A), [
      'Attempt 2 of 3 of A starts at 2027-01-15 08:00:02 UTC (in 2 s). The last one ended with: red',
      'The current run covers only epic epic-1, and A has no epic; "drover run" adds it.',
    ]);
  });

  test('it names a blocker that has landed elsewhere', async () => {
    const { A = '', B = '' } = await addTasks(project, [
      { title: 'A' },
      { title: 'B', blocked_by: ['A'] },
    ]);
    await moveTask(project, A, ['claimed', 'in_progress', 'completed'], {
      landed_sha: 'c'.repeat(40),
      landed_on: 'drover/epic/x',
    });
    await run();
    assert.match(
      (await ask(B))[0] ?? '',
      /A has landed on drover\/epic\/x, and this run lands on main/,
    );
  });

  test('it follows the blocked task if a task waits for several', async () => {
    const ids = await addTasks(project, [
      { title: 'root' },
      { title: 'middle', blocked_by: ['root'] },
      { title: 'side' },
      { title: 'top', blocked_by: ['side', 'middle'] },
      { title: 'over', blocked_by: ['top'] },
    ]);
    assert.match(
      (await ask(ids['over'] ?? '')).join(' '),
      /it waits along top → middle → root; root is ready/u,
    );
  });

  test('it refuses an unknown id', async () => {
    assert.equal((await refusalOf(ask('task-none'))).kind, 'unknown_id');
  });
});
