// What finished work means, decided by facts.

import assert from 'node:assert/strict';
import { expectsCommit, hasGate } from '../../../server/core/plan/task.ts';
import { firstLine, judgeWork, type WorkFacts } from '../../../server/core/plan/verdict.ts';

const facts: WorkFacts = {
  summary: 'Did it.\nMore.',
  changed: true,
  held: [],
  protected: [],
  task: { type: 'feature' },
};

suite('verdict', () => {
  function check(change: Partial<WorkFacts>, verdict: string, next: string): void {
    const judgement = judgeWork({ ...facts, ...change });
    const { next: step } = judgement;
    const shown = step.kind === 'needs_review' ? `${step.kind} ${step.review}` : step.kind;
    assert.deepEqual([judgement.verdict, shown], [verdict, next]);
  }

  test('facts decide the next step', () => {
    const research = { type: 'research' };
    check({}, 'pass', 'land');
    check({ task: research }, 'pass', 'land');
    check({ changed: false }, 'unknown', 'needs_review no_changes');
    check({ changed: false, task: research }, 'pass', 'complete_without_commit');
    check({ held: ['.env'] }, 'unknown', 'needs_review held_files');
    check({ held: ['.env'], changed: false }, 'unknown', 'needs_review held_files');
    check({ held: ['.env'], changed: false, task: research }, 'unknown', 'needs_review held_files');
  });

  test('a change to protected files waits for a person, and held files are listed first', () => {
    const guarded = ['.drover.toml', 'a/.claude/settings.json'];
    check({ protected: guarded }, 'unknown', 'needs_review protected');
    check({ protected: guarded, held: ['.env'] }, 'unknown', 'needs_review held_files');
    const { reason } = judgeWork({ ...facts, protected: guarded });
    assert.equal(reason, 'changes protected files: .drover.toml, a/.claude/settings.json');
  });

  test('each reason for a held file has its own sentence and remedy', () => {
    const held = ['frontend/', 'lib', 'big.bin', '.env'];
    const heldCauses = {
      'frontend/': 'repository',
      lib: 'submodule',
      'big.bin': 'size',
      '.env': 'name',
    } as const;
    const { reason } = judgeWork({ ...facts, held, heldCauses });
    assert.match(
      reason,
      /frontend\/ \(a git repository: remove frontend\/\.git, or add it as a submodule\)/u,
    );
    assert.match(reason, /lib \(a submodule whose changes are not on its remote/u);
    const causesOf = (path: string): string =>
      judgeWork({ ...facts, held: [path], heldCauses }).reason;
    assert.match(causesOf('big.bin'), /big\.bin \(larger than max_commit_file_size\)$/u);
    assert.match(causesOf('.env'), /\.env \(its name looks like a secret\)$/u);
  });

  test('ignored files are listed, whatever the verdict', () => {
    const ignored = { files: ['dist/report.pdf', 'a.csv'], unkept: null };
    const said = '2 ignored files were not committed: dist/report.pdf, a.csv';
    check({ changed: false, ignored }, 'unknown', 'needs_review no_changes');
    check({ ignored }, 'pass', 'land');
    const reasonOf = (change: Partial<WorkFacts>): string =>
      judgeWork({ ...facts, ignored, ...change }).reason;
    assert.equal(
      reasonOf({ changed: false }),
      `the agent succeeded but changed nothing that git tracks; ${said}`,
    );
    assert.equal(reasonOf({}), `Did it. (${said})`);
    assert.equal(reasonOf({ summary: '' }), said);
    const long = reasonOf({ summary: 'x'.repeat(300) });
    assert.ok(long.length === 200 && long.endsWith(`… (${said})`), long);
    assert.equal(reasonOf({ held: ['.env'] }), `held back, never committed: .env; ${said}`);
    const many = { files: ['dist/'], unkept: 'more than 500 ignored files' };
    assert.match(
      reasonOf({ changed: false, ignored: many }),
      /; more than 500 ignored files are neither committed nor kept: dist\/$/u,
    );
  });

  test('work that leaves a conflict unresolved waits for a person', () => {
    const undecided = { marked: ['a.ts'], asBase: ['b.ts', 'c.ts'] };
    check({ undecided }, 'unknown', 'needs_review unmerged');
    check({ undecided, held: ['.env'] }, 'unknown', 'needs_review held_files');
    check({ undecided: null }, 'pass', 'land');
    assert.equal(
      judgeWork({ ...facts, undecided }).reason,
      'leaves conflict markers in a.ts, and leaves the lines from before both changes in b.ts, c.ts',
    );
  });

  test('words in the text determine nothing', () => {
    for (const summary of [
      'blocked by the missing key',
      'FAILED with an exception',
      'rate limit 429',
    ]) {
      check({ summary }, 'pass', 'land');
    }
  });

  test('the reason is one short line', () => {
    assert.equal(judgeWork(facts).reason, 'Did it.');
    assert.equal(
      judgeWork({ ...facts, held: ['a', 'b', 'c', 'd', 'e', 'f', 'g'] }).reason,
      'held back, never committed: a, b, c, d, e and 2 more',
    );
    assert.equal(firstLine('\n\n  x  \ny'), 'x');
    assert.equal(firstLine('x'.repeat(300)).length, 200);
    assert.equal(firstLine(''), '');
  });

  test('tasks that expect a commit and tasks that have a gate are determined', () => {
    assert.equal(expectsCommit({ type: 'research' }), false);
    assert.equal(expectsCommit({ type: 'docs' }), true);
    const gate = (
      testMode: 'strict' | 'lenient' | 'disabled',
      testScope: 'diff' | 'all' | 'skip',
      changed = true,
    ): boolean => hasGate({ testMode, testScope }, changed);
    assert.deepEqual(
      [
        gate('strict', 'diff'),
        gate('strict', 'diff', false),
        gate('strict', 'all', false),
        gate('lenient', 'diff'),
        gate('disabled', 'all'),
        gate('strict', 'skip'),
      ],
      [true, false, true, true, false, false],
    );
  });
});
