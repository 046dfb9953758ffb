// Exports every column of a task and of an epic, and imports it into another project: columns that
// a format carries are restored, and the others are listed here with the reason. A new column must
// be added to one of the two lists.

import assert from 'node:assert/strict';
import { exportPlan, type ExportFormat } from '../../../server/store/exchange/exports.ts';
import { importFile } from '../../../server/store/exchange/imports.ts';
import { memoryStore, testSources, testStartMs, type TestStore } from './memory-store.ts';
import { tablesOf } from '../../tables.ts';

type Row = Readonly<Record<string, unknown>>;

const sha = 'a'.repeat(40);

/** No value equals the default of a new row. */
const task: Row = {
  id: 'T-2',
  title: 'Everything',
  description: 'Words\n\nAcceptance Criteria:\n- one',
  epic_id: 'E-1',
  parent_id: null,
  sequence_number: 0,
  type: 'bug',
  priority: 7,
  status: 'needs_review',
  attempts: 2,
  max_attempts: 5,
  last_error: 'an error',
  claimed_by: 'somebody',
  claimed_at: 1_700_000_000,
  operator: 'ann',
  verdict: 'fail',
  verdict_reason: 'red',
  test_mode: 'disabled',
  test_scope: 'all',
  test_command: 'make check',
  created_at: 1_700_000_100,
  updated_at: 1_700_000_200,
  position: 17,
  labels: '["x"]',
  acceptance_criteria: '["one"]',
  agent: 'codex',
  model: 'gpt-5:high',
  fallback: 'claude:opus',
  fallback_from: 1,
  best_of: 3,
  choose: 'person',
  candidate_of: null,
  changed_lines: 9,
  removed_lines: 4,
  chain: 4,
  epoch: 6,
  phase: 'agent',
  base_sha: sha,
  branch: 'drover/T-2/2',
  commit_sha: sha,
  landed_sha: sha,
  landed_on: 'main',
  worktree_path: '/somewhere',
  blocked_reason: 'a reason',
  blocked_by: '{"kind":"red_base"}',
  review_kind: 'held_files',
  conflict_files: '["c.txt"]',
  held_files: '["h.txt"]',
  rescue_refs: '["refs/drover/work/T-2/1"]',
  next_attempt_at_ms: 1_900_000_000_000,
  waiting_until_ms: 1_900_000_000_001,
  stop_requested: 'pause',
  stop_reason: 'lunch',
  cost_usd: 1.25,
  source: '{"file":"x"}',
  plan: 1,
  runs_on: 'remote',
  continues: 'T-1',
};

const epic: Row = {
  id: 'E-1',
  title: 'An epic',
  description: 'Why',
  status: 'closed',
  created_at: 1_700_000_000,
  position: 3,
  branch: 'drover/epic/E-1',
  landed_sha: sha,
  approved_tree: sha,
  review_tree: sha,
  landing_state: 'landed',
  landing_note: 'a note',
  source: '{"file":"x"}',
  runs_on: 'remote',
};

const owner = 'belongs to who works on it now';
const derived = 'follows from the other records';
const clone = 'means something in this clone alone';
const plan = 'a plan says what is to be done, not what has been';

const neverOfTask = {
  claimed_by: owner,
  claimed_at: owner,
  phase: owner,
  stop_requested: owner,
  stop_reason: owner,
  epoch: owner,
  fallback_from: owner,
  position: derived,
  chain: derived,
  source: derived,
  candidate_of: 'candidates are no part of the plan',
  changed_lines: 'only candidates have it',
  removed_lines: 'only candidates have it',
  worktree_path: clone,
  blocked_by: clone,
  landed_on: clone,
  waiting_until_ms: 'nobody works on an imported task, so it waits for no quota',
};
const neverOfEpic = {
  position: derived,
  source: derived,
  branch: clone,
  landed_sha: clone,
  approved_tree: clone,
  review_tree: clone,
  landing_state: clone,
  landing_note: clone,
};
const work = Object.fromEntries(
  [
    'status attempts last_error operator verdict verdict_reason created_at updated_at base_sha branch commit_sha',
    'landed_sha blocked_reason review_kind conflict_files held_files rescue_refs next_attempt_at_ms cost_usd',
  ]
    .join(' ')
    .split(' ')
    .map((name) => [name, plan]),
);
const noField = 'Beads has no field for it';

const lost: {
  readonly [F in 'session' | 'jsonl' | 'beads']: { readonly tasks: Row; readonly epics: Row };
} = {
  session: { tasks: neverOfTask, epics: neverOfEpic },
  jsonl: {
    tasks: { ...neverOfTask, ...work },
    epics: { ...neverOfEpic, status: plan, created_at: plan },
  },
  beads: {
    tasks: {
      ...neverOfTask,
      ...work,
      ...Object.fromEntries(
        'max_attempts test_mode test_scope test_command agent model fallback best_of choose plan runs_on continues'
          .split(' ')
          .map((name) => [name, noField]),
      ),
    },
    epics: { ...neverOfEpic, status: plan, created_at: plan, runs_on: noField },
  },
};

suite('fields of an exchange', () => {
  const open: TestStore[] = [];
  teardown(async () => {
    for (const project of open.splice(0)) await project.close();
  });
  const project = async (): Promise<TestStore> => {
    const made = await memoryStore(testSources());
    open.push(made);
    return made;
  };
  const only = async ({ store }: TestStore, table: 'tasks' | 'epics'): Promise<Row> => {
    const row = await tablesOf(store.db).selectFrom(table).selectAll().executeTakeFirst();
    return row === undefined ? assert.fail(`no row in ${table}`) : { ...row };
  };

  for (const format of ['session', 'jsonl', 'beads'] as const satisfies readonly ExportFormat[]) {
    test(`${format}: all supported fields survive a round trip, and no field is forgotten`, async () => {
      const from = await project();
      await tablesOf(from.store.db)
        .insertInto('epics')
        .values(epic as never)
        .execute();
      await tablesOf(from.store.db)
        .insertInto('tasks')
        .values(task as never)
        .execute();
      const { text } = await exportPlan(from.store.db, {
        format,
        nowMs: testStartMs,
        repository: '/r',
      });
      const to = await project();
      const { errors } = await importFile(to.store, {
        text,
        badUtf8Lines: [],
        file: `plan.${format}`,
        format,
        dryRun: false,
        update: false,
        rename: false,
        skipInvalid: false,
        maxAttempts: 4,
        knowsCommits: async () => true,
      });
      assert.deepEqual(errors, []);
      for (const [table, row] of [
        ['tasks', task],
        ['epics', epic],
      ] as const) {
        const [before, after] = [await only(from, table), await only(to, table)];
        assert.deepEqual(
          Object.keys(row).sort(),
          Object.keys(before).sort(),
          'a row of all columns',
        );
        const missing = Object.keys(row).filter((name) => before[name] !== after[name]);
        const known = Object.keys(lost[format][table]).filter(
          (name) => before[name] !== after[name],
        );
        assert.deepEqual(missing.sort(), known.sort(), table);
      }
    });
  }
});
