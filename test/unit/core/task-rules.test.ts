// The fields of a task that say how it is done: written fields are read again, in a file and in
// columns.

import assert from 'node:assert/strict';
import {
  nothingSaid,
  readTaskRules,
  ruleFields,
  sameTaskRules,
  taskRuleKeys,
  pickTaskRules,
  writtenTaskRules,
} from '../../../server/core/exchange/task-rules.ts';
import type { GivenChecks } from '../../../server/core/exchange/given-rules.ts';
import { taskFields } from '../../../server/protocol/task-fields.ts';
import { readSessionRules, sessionRules } from '../../../server/core/exchange/session-rules.ts';
import {
  columnsOfCandidate,
  columnsOfTaskRules,
  givenColumns,
  saidColumns,
  taskRulesOfColumns,
  unsaidColumns,
  viewOfColumns,
} from '../../../server/core/exchange/task-rule-columns.ts';

const said = {
  agent: 'codex',
  model: 'gpt-5:high',
  bestOf: 3,
  choose: 'person',
  fallback: '',
  gate: 'npm test',
  testMode: 'disabled',
  testScope: 'all',
  maxAttempts: 4,
  plan: false,
  runsOn: 'remote',
  continues: 'task-7h2k9d3f',
} as const;

const read = (record: Readonly<Record<string, unknown>>) => {
  const faults: string[] = [];
  return { faults, rules: readTaskRules({ valueOf: (key) => record[key] ?? null, faults }) };
};

suite('rules of a task', () => {
  test("a file's fields are read as they were written", () => {
    const written = writtenTaskRules(said);
    assert.deepEqual(read(written), { faults: [], rules: said });
    const firstKeys = taskRuleKeys.filter((key) => key !== 'test_command');
    assert.deepEqual(Object.keys(written), firstKeys);
  });

  test("the columns' values are read as they were written", () => {
    assert.deepEqual(taskRulesOfColumns(columnsOfTaskRules(said)), said);
  });

  test("a session file's fields are read as they were written", () => {
    const { older, ours } = sessionRules(said);
    assert.deepEqual(Object.keys(older), [
      'max_attempts',
      'test_mode',
      'test_scope',
      'test_command',
    ]);
    assert.deepEqual(readSessionRules(older, ours), said);
    const nothing = readSessionRules({}, {});
    const usual = {
      ...nothingSaid,
      testMode: 'strict',
      testScope: 'diff',
      model: null,
      plan: null,
      runsOn: null,
      continues: null,
    };
    assert.deepEqual(nothing, usual);
    const strange = readSessionRules(
      { max_attempts: 99, test_mode: 'lenient', test_scope: 'moon', test_command: '' },
      { agent: 'x', model: '--x', best_of: 99, choose: 'x', fallback: '', plan: 'x', runs_on: 'x' },
    );
    assert.deepEqual(strange, { ...usual, maxAttempts: 10 });
  });

  test('a view names every field except the number of tries', () => {
    const keys = Object.keys(writtenTaskRules(said)).filter((key) => key !== 'max_attempts');
    assert.deepEqual(Object.keys(viewOfColumns(unsaidColumns)), keys);
    const { fallback, plan } = viewOfColumns(columnsOfTaskRules(said));
    assert.deepEqual([fallback, plan], [[], false]);
  });

  test('a request accepts every field, and its columns have the values that its file would give', () => {
    const firstKeys = taskRuleKeys.filter((key) => key !== 'test_command');
    assert.deepEqual(
      Object.keys(taskFields).filter((key) => firstKeys.includes(key)),
      firstKeys,
    );
    const given = ruleFields({ ...said, fallback: 'none' });
    assert.deepEqual(Object.keys(given), firstKeys);
    const checks: GivenChecks = {
      word: (word, words) => words.find((one) => one === word) ?? assert.fail(word),
      text: (text) => text,
      refuse: (sentence) => assert.fail(sentence),
    };
    assert.deepEqual(givenColumns(given, checks), columnsOfTaskRules(said));
    assert.deepEqual(givenColumns({ agent: '', gate: null, runs_on: null }, checks), {
      agent: null,
      test_command: null,
      runs_on: null,
    });
    assert.throws(() => givenColumns({ best_of: 9 }, checks), /from 1 to 8/u);
    assert.throws(() => givenColumns({ fallback: 'x' }, checks), /fallback is not usable/u);
    assert.throws(() => givenColumns({ model: '--help' }, checks), /model must be a name/u);
    assert.deepEqual(givenColumns({ model: ' opus ' }, checks), { model: 'opus' });
    assert.deepEqual(givenColumns({ model: '' }, checks), { model: null });
  });

  test('a candidate runs like its task, but does not plan or choose', () => {
    const columns = columnsOfTaskRules(said);
    const own = { best_of: 1, choose: null, plan: 0 };
    assert.deepEqual(columnsOfCandidate(columns), { ...columns, ...own });
  });

  test('omitted fields do not overwrite stored ones', () => {
    assert.deepEqual(saidColumns(nothingSaid), {});
    assert.deepEqual(saidColumns({ ...nothingSaid, plan: false }), { plan: 0 });
    assert.deepEqual(writtenTaskRules(nothingSaid), {});
    assert.deepEqual(pickTaskRules({ ...nothingSaid }), nothingSaid);
    assert.ok(sameTaskRules(nothingSaid, said));
    assert.ok(!sameTaskRules(said, nothingSaid));
  });

  test('a new task has the defaults for omitted fields', () => {
    const columns = columnsOfTaskRules({ ...nothingSaid, maxAttempts: 2 });
    assert.deepEqual(columns, {
      agent: null,
      model: null,
      best_of: null,
      choose: null,
      fallback: null,
      test_command: null,
      test_mode: 'strict',
      test_scope: 'diff',
      max_attempts: 2,
      plan: null,
      runs_on: null,
      continues: null,
    });
  });

  test('each of several errors has its sentence, in the order of the table', () => {
    const { faults } = read({ agent: 'x', best_of: 99, test_scope: 7, max_attempts: 0, plan: 1 });
    assert.equal(faults.length, 5);
    assert.match(faults[0] ?? '', /^`agent` is `x`; use one of claude, /u);
    assert.deepEqual(faults.slice(1), [
      '`best_of` is not a whole number from 1 to 8',
      '`test_scope` is a number; use a string',
      '`max_attempts` is 0; use a whole number from 1 to 10',
      '`plan` is a number; use true or false',
    ]);
  });
});
