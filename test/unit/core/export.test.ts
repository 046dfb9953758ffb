import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { exportJsonl } from '../../../server/core/exchange/export-jsonl.ts';
import { exportSession, type SessionTask } from '../../../server/core/exchange/export-session.ts';
import { parseImport } from '../../../server/core/exchange/import-jsonl.ts';
import { withCriteria } from '../../../server/core/exchange/import-record.ts';
import { parseSession, type SessionPlan } from '../../../server/core/exchange/import-session.ts';
import { taskStatuses } from '../../../server/core/plan/state.ts';
import {
  agentKinds,
  reviewKinds,
  taskTypes,
  testScopes,
  verdicts,
  type Epic,
} from '../../../server/core/plan/task.ts';
import { emptyProject, type ExistingProject } from '../../../server/core/exchange/import-types.ts';

const epic: Epic = {
  id: 'E-1',
  title: 'Epic',
  description: 'Why',
  status: 'closed',
  branch: null,
  landedSha: null,
  createdAt: 1_000_000,
};

const word = fc.stringMatching(/^[a-zé🧹]{1,8}$/u);
const words = fc.uniqueArray(word, { maxLength: 3 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });

const fields = fc.record({
  title: word,
  text: fc.string().map((text) => text.replaceAll('\0', '').replace(/[\r\n]+$/, '')),
  acceptanceCriteria: words,
  type: fc.constantFrom(...taskTypes),
  status: fc.constantFrom(
    ...taskStatuses.filter((status) => !['claimed', 'in_progress', 'waiting'].includes(status)),
  ),
  priority: fc.integer({ min: 0, max: 100 }),
  labels: words,
  attempts: fc.nat(5),
  maxAttempts: fc.integer({ min: 1, max: 10 }),
  plan: maybe(fc.boolean()),
  lastError: maybe(word),
  agent: maybe(fc.constantFrom(...agentKinds)),
  bestOf: maybe(fc.integer({ min: 1, max: 8 })),
  runsOn: maybe(fc.constantFrom('local' as const, 'remote' as const)),
  choose: maybe(fc.constantFrom('first-green' as const, 'person' as const)),
  fallback: maybe(fc.constantFrom('', 'codex', 'claude:opus,gemini')),
  gate: maybe(word),
  testMode: fc.constantFrom('strict' as const, 'disabled' as const),
  testScope: fc.constantFrom(...testScopes),
  verdict: fc.constantFrom(...verdicts),
  verdictReason: maybe(word),
  reviewKind: maybe(fc.constantFrom(...reviewKinds)),
  blockedReason: maybe(word),
  sha: maybe(fc.stringMatching(/^[0-9a-f]{40}$/)),
  files: words,
  costUsd: fc.double({ min: 0, max: 9, noNaN: true }).map((cost) => cost + 0),
  inEpic: fc.boolean(),
  place: fc.nat(),
  blockers: fc.array(fc.nat(), { maxLength: 2 }),
});

/**
 * Tasks that may have sub-tasks; each waits only for earlier tasks of the top level, so loops are
 * impossible.
 */
const project = fc.array(fields, { maxLength: 8 }).map((list): SessionTask[] => {
  const tasks: SessionTask[] = [];
  for (const [index, { text, sha, files, inEpic, place, blockers, ...rest }] of list.entries()) {
    const tops = tasks.filter((task) => task.parentId === null);
    const parent = place % 3 === 0 ? tops.at(place % Math.max(tops.length, 1)) : undefined;
    const below = tasks.filter((task) => task.parentId === parent?.id && parent !== undefined);
    const earlier = parent === undefined ? tops : [];
    tasks.push({
      ...rest,
      id: `T-${index}`,
      description: withCriteria(text, rest.acceptanceCriteria),
      epicId: parent === undefined ? (inEpic ? epic.id : null) : parent.epicId,
      parentId: parent?.id ?? null,
      sequence: parent === undefined ? 0 : below.length + 1,
      blockedBy: [
        ...new Set(
          blockers.flatMap((at) => earlier.at(at % Math.max(earlier.length, 1))?.id ?? []),
        ),
      ],
      nextAttemptAt: null,
      waitingUntil: null,
      phase: null,
      baseSha: sha,
      branch: sha === null ? null : `drover/T-${index}/1`,
      commitSha: sha,
      landedSha: sha,
      worktreePath: null,
      conflictFiles: files,
      heldFiles: files,
      rescueRefs: files,
      operator: null,
      createdAt: index * 1_000,
      updatedAt: index * 2_000,
    });
  }
  return tasks;
});

const about = { exportedAt: '2026-01-01T00:00:00Z', repository: '/r', worktrees: [] };

/** The tasks in a store after the import. */
function tasksOf(plan: SessionPlan): SessionTask[] {
  return plan.tasks.map((task) => {
    const state = plan.states.get(task.id);
    assert.ok(state !== undefined);
    return {
      ...task,
      ...state,
      agent: agentKinds.find((kind) => kind === task.agent) ?? null,
      testMode: task.testMode ?? 'strict',
      testScope: task.testScope ?? 'diff',
      maxAttempts: task.maxAttempts ?? 3,
      nextAttemptAt: state.nextAttemptAtMs,
      waitingUntil: state.waitingUntilMs,
      phase: null,
      worktreePath: null,
      createdAt: (state.createdAt ?? 0) * 1_000,
      updatedAt: (state.updatedAt ?? 0) * 1_000,
    };
  });
}

suite('session export', () => {
  test('export, import into an empty project and another export give the same result', () => {
    fc.assert(
      fc.property(project, (tasks) => {
        const first = exportSession({ ...about, tasks, epics: [epic] });
        const plan = parseSession(first, emptyProject);
        assert.deepEqual(plan.problems, []);
        assert.deepEqual(plan.closedEpics, ['E-1']);
        const second = exportSession({ ...about, tasks: tasksOf(plan), epics: [epic] });
        assert.deepEqual(JSON.parse(second), JSON.parse(first));
      }),
      { numRuns: 200 },
    );
  });

  test('states that older tools do not know are written as paused, with the reason', () => {
    const [task] =
      fc.sample(
        project.filter((tasks) => tasks.length > 0),
        1,
      )[0] ?? [];
    assert.ok(task !== undefined);
    const conflict = { ...task, status: 'conflict' as const, lastError: 'in a.ts' };
    const [written] = (
      JSON.parse(exportSession({ ...about, tasks: [conflict], epics: [] })) as {
        tasks: Record<string, unknown>[];
      }
    ).tasks;
    assert.equal(written?.['status'], 'paused');
    assert.equal(written?.['last_error'], 'conflict: in a.ts');
  });

  test('valid lines are accepted and invalid lines are refused', () => {
    const file = (more: object, tasks: object[] | null = []) =>
      JSON.stringify({ version: '1.0', tasks, epics: null, dependencies: null, ...more });
    const task = (id: string, more: object = {}) => ({ id, title: id, status: 'ready', ...more });
    const check = (text: string, wanted: readonly string[]): SessionPlan => {
      const plan = parseSession(text, emptyProject);
      assert.deepEqual(
        plan.problems.map(({ id, kind }) => `${id ?? '-'} ${kind}`),
        wanted,
        text,
      );
      return plan;
    };
    check('{', ['- json']);
    check('[]', ['- object']);
    check(file({ version: '2.0' }), ['- version']);
    check(file({}, null), []);
    check(file({ tasks: 5 }), ['- field']);
    check(file({}, [task('a/b')]), ['a/b id-unsafe']);
    check(file({}, [task('A'), task('A')]), ['A id-twice']);
    check(file({}, [task('A', { epic_id: 'E' })]), ['A reference']);
    check(file({}, [task('A', { epic_id: '', parent_id: '' })]), []);
    check(file({ dependencies: [{ task_id: 'A', blocked_by: 'B' }] }, [task('A')]), [
      'A reference',
    ]);
    check(file({ dependencies: [{ task_id: 'X', blocked_by: 'A' }] }, [task('A')]), [
      'X reference',
    ]);
    check(file({ dependencies: [{}] }), ['- field']);
    const loop = [
      { task_id: 'A', blocked_by: 'B' },
      { task_id: 'B', blocked_by: 'A' },
    ];
    check(file({ dependencies: loop }, [task('A'), task('B')]), ['A loop', 'B loop']);
    const sub = [task('P.1', { parent_id: 'P', sequence_number: 1 }), task('P')];
    const plan = check(file({}, sub), []);
    assert.deepEqual(
      plan.tasks.map(({ id, sequence }) => [id, sequence]),
      [
        ['P', 0],
        ['P.1', 1],
      ],
    );
    const statuses = ['claimed', 'in_progress', 'paused', 'odd', 'completed', 'blocked'];
    const states = check(
      file(
        {},
        statuses.map((status) => task(status, { status })),
      ),
      [],
    ).states;
    assert.deepEqual(
      statuses.map((id) => states.get(id)?.status),
      ['ready', 'ready', 'paused', 'needs_review', 'completed', 'blocked'],
    );
  });

  test('a problem names the line of its record', () => {
    const tasks = [
      { id: 'A', title: 'A' },
      { id: 'B', title: '' },
    ];
    const plan = parseSession(JSON.stringify({ version: '1.0', tasks }, null, 1), emptyProject);
    assert.deepEqual(
      plan.problems.map(({ line, id }) => [line, id]),
      [[9, 'B']],
    );
  });
});

suite('JSONL export', () => {
  const holds = (tasks: readonly SessionTask[]): ExistingProject => ({
    tasks: new Map(tasks.map((task) => [task.id, task])),
    epics: new Map([[epic.id, epic]]),
  });

  test('its output is imported as unchanged', () => {
    fc.assert(
      fc.property(project, (tasks) => {
        const clean = tasks.map((task) => {
          const text = task.description.replaceAll(/(?!\n)\p{Cc}/gu, '');
          return { ...task, description: text.isWellFormed() ? text : '' };
        });
        const plan = parseImport(exportJsonl([epic], clean), holds(clean));
        assert.deepEqual([plan.problems, plan.warnings], [[], []]);
        assert.equal(plan.unchanged.tasks.length, tasks.length);
      }),
      { numRuns: 200 },
    );
  });

  test('the samples survive a round trip', () => {
    for (const name of ['small-epic', 'medium-project']) {
      const url = new URL(`../../fixtures/import/${name}.jsonl`, import.meta.url);
      const first = parseImport(readFileSync(url, 'utf8'), emptyProject);
      const tasks = first.tasks.map((task) => ({
        ...task,
        agent: null,
        testMode: task.testMode ?? ('strict' as const),
        testScope: task.testScope ?? ('diff' as const),
        maxAttempts: task.maxAttempts ?? 3,
      }));
      const second = parseImport(exportJsonl(first.epics, tasks), {
        tasks: new Map(tasks.map((task) => [task.id, task])),
        epics: new Map(first.epics.map((record) => [record.id, record])),
      });
      assert.deepEqual([second.problems, second.warnings, second.differs], [[], [], []]);
      assert.equal(second.unchanged.tasks.length, first.tasks.length);
    }
  });
});
