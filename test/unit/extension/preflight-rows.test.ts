// The rows of the decision before a run.

import assert from 'node:assert/strict';
import { preflightRows } from '../../../extension/commands/preflight-rows.ts';
import {
  readChoices,
  type RunChoices,
  withSettings,
} from '../../../extension/commands/run-choices.ts';
import type {
  PreflightCheck,
  PreflightDecision,
  PreflightView,
} from '../../../server/protocol/panel-views.ts';

const decision = (
  name: PreflightDecision['name'],
  value: PreflightDecision['value'],
  recommended: PreflightDecision['recommended'] = null,
): PreflightDecision => ({ name, value, source: 'project', recommended, why: `Why ${name}.` });

const ok: PreflightCheck = { name: 'git', outcome: 'ok', message: 'Fine.', remedy: null };

function view(change: Partial<PreflightView> = {}): PreflightView {
  return {
    can_run: true,
    checks: [ok, { ...ok, name: 'disk' }],
    tasks: 7,
    width: 3,
    decisions: [
      decision('agent', 'claude:opus'),
      decision('workers', 2, 4),
      decision('land', 'epic'),
      decision('gate', null, 'npm test'),
      decision('plan', false),
      decision('budget', null),
    ],
    ...change,
  };
}

const plain = { failed: [], chosen: {}, isUnfolded: false };

suite('decision before a run', () => {
  test('the first row starts the run and names the target of the work', () => {
    const [run] = preflightRows(view(), plain);
    assert.deepEqual(run?.action, { kind: 'run' });
    assert.equal(run?.description, '7 tasks, up to 3 at once');
    assert.equal(run?.detail, 'Why land.');
  });

  test('each decision shows its value, its source, and the recommended value', () => {
    const rows = preflightRows(view(), plain).filter(({ action }) => action?.kind === 'decide');
    assert.deepEqual(
      rows.map(({ label }) => label.replace(/^\$\([\w-]+\) /, '')),
      [
        'Agent: claude:opus',
        'Workers: 2',
        'Landing: the finished epic as one',
        'Gate: none',
        'Plan first: no',
        'Budget: none',
      ],
    );
    const gate = rows.find(({ label }) => label.includes('Gate'));
    assert.equal(gate?.description, 'from .drover.toml · recommended: npm test');
    assert.equal(gate?.fixes[0]?.tooltip, 'Use npm test');
    assert.equal(gate?.fixes[0]?.action.kind, 'accept');
  });

  test('a VS Code setting is named as the source, and so is a choice for this run', () => {
    const source = { source: 'flag', recommended: null } as const;
    const decisions = view().decisions.map((each) => ({ ...each, ...source }));
    const sources = (chosen: RunChoices): readonly (string | undefined)[] =>
      preflightRows(view({ decisions }), { ...plain, chosen })
        .filter(({ action }) => action?.kind === 'decide')
        .slice(0, 2)
        .map(({ description }) => description);
    assert.deepEqual(sources({}), [
      'from the setting drover.agent',
      'from the setting drover.workers',
    ]);
    assert.deepEqual(sources({ model: 'opus', workers: 2 }), [
      'chosen for this run',
      'chosen for this run',
    ]);
  });

  test('Enter on the row of a gate with an unknown verdict runs the gate', () => {
    const message = 'It is not known yet whether `npm test` passes on main.';
    const checks: readonly PreflightCheck[] = [
      { name: 'gate', outcome: 'note', message, remedy: null, can_test: true },
    ];
    const row = preflightRows(view({ checks }), plain).find(({ label }) => label.includes(message));
    assert.deepEqual(row?.action, { kind: 'testBase' });
    assert.deepEqual([row?.detail, row?.fixes.length], ['Enter: Run It Now', 1]);
  });

  test('a problem is above the decisions, with its remedy in its row', () => {
    const checks: readonly PreflightCheck[] = [
      ok,
      { name: 'checkout', outcome: 'note', message: 'Not committed.', remedy: null },
      { name: 'agent', outcome: 'error', message: 'claude was not found.', remedy: 'Install it.' },
    ];
    const rows = preflightRows(view({ can_run: false, checks }), plain);
    assert.match(rows[0]?.label ?? '', /This run cannot start/);
    assert.equal(rows[0]?.action, undefined);
    assert.equal(rows[1]?.label, 'Fix first');
    const agent = rows[2];
    assert.deepEqual(agent?.action, { kind: 'decide', name: 'agent' });
    assert.equal(agent?.detail, 'Enter: Select or Install an Agent… · Install it.');
    assert.deepEqual(rows[3]?.action, { kind: 'lookAgain' });
    const checkout = rows.find(({ label }) => label.includes('Not committed'));
    assert.deepEqual(checkout?.action, { kind: 'command', id: 'workbench.view.scm' });
  });

  test("Enter runs a missing agent's install command, and the row shows it in one line", () => {
    const missing: PreflightCheck = {
      name: 'agent',
      outcome: 'error',
      message: 'Claude Code ("claude") was not found or cannot be executed.',
      remedy: 'Install it (npm install -g @anthropic-ai/claude-code), or set [agent] path.',
      agent: { kind: 'claude', problem: 'missing' },
    };
    const rows = preflightRows(view({ can_run: false, checks: [missing] }), plain);
    const detail = 'Enter: Select or Install an Agent… · Or set [agent] path.';
    assert.equal(rows[2]?.detail, detail);
    const broken = {
      ...missing,
      remedy: 'It ended.',
      agent: { kind: 'claude', problem: 'broken' },
    };
    const [, , row] = preflightRows(view({ checks: [broken as PreflightCheck] }), plain);
    assert.equal(row?.detail, 'Enter: Select or Install an Agent… · It ended.');
  });

  test('after a line was typed into a terminal, the next row names the next step there, once', () => {
    const missing: PreflightCheck = { ...ok, name: 'agent', outcome: 'error' };
    const toDo = 'Press Enter in the terminal to install Claude Code';
    const state = { ...plain, toDo };
    const rows = preflightRows(view({ can_run: false, checks: [missing] }), state);
    const next = rows.filter(({ isNext }) => isNext === true);
    assert.deepEqual(
      next.map(({ action, description }) => [action?.kind, description]),
      [['lookAgain', `${toDo}, then choose this row`]],
    );
    assert.equal(JSON.stringify(rows).split(toDo).length, 2);
  });

  test('a message that is too long for its row continues below it', () => {
    const message = `Your checkout has changes that are not committed (${'a.ts, '.repeat(9)}). Agents don’t see them. Stash them.`;
    const checks: readonly PreflightCheck[] = [
      { name: 'checkout', outcome: 'note', message, remedy: 'Commit them.' },
    ];
    const row = preflightRows(view({ checks }), plain).find(({ label }) =>
      label.includes('Your checkout'),
    );
    assert.match(row?.label ?? '', /\)\.$/);
    const below = 'Enter: Open Source Control · Commit them. · Agents don’t see them. Stash them.';
    assert.equal(row?.detail, below);
  });

  test('the number of parallel agents is shown once', () => {
    const workers = { ...decision('workers', 4), why: null };
    const checks: readonly PreflightCheck[] = [
      { ...ok, name: 'width', message: '7 tasks, at most 3 at once with 4 workers.' },
    ];
    const rows = preflightRows(view({ checks, decisions: [workers] }), plain);
    assert.equal(JSON.stringify(rows).split('at once').length, 2);
  });

  test('Enter on an agent without a login signs in, and a key and another agent are offered beside it', () => {
    const signedOut = (kind: string): PreflightCheck => ({
      name: 'agent',
      outcome: 'error',
      message: 'No user is signed in.',
      remedy: null,
      agent: { kind, problem: 'signed_out' },
    });
    const rowOf = (kind: string) =>
      preflightRows(view({ can_run: false, checks: [signedOut(kind)] }), plain)[2];
    assert.deepEqual(rowOf('codex')?.action, {
      kind: 'signIn',
      agent: 'codex',
      line: 'codex login',
    });
    assert.deepEqual(
      rowOf('codex')?.fixes.map(({ tooltip }) => tooltip),
      ['Sign In in a Terminal', 'Set API Key…', 'Select or Install an Agent…'],
    );
    assert.deepEqual(rowOf('drover-code')?.action, { kind: 'command', id: 'drover.setApiKey' });
  });

  test('passed checks are one row until it is expanded', () => {
    const folded = preflightRows(view(), plain).at(-1);
    assert.equal(folded?.label, '$(pass) 2 checks are fine');
    assert.deepEqual(folded?.action, { kind: 'unfold' });
    const unfolded = preflightRows(view(), { ...plain, isUnfolded: true });
    assert.equal(unfolded.filter(({ label }) => label.includes('Fine.')).length, 2);
  });

  test('failed tasks can be retried, even if nothing else is left', () => {
    const [, retry] = preflightRows(view(), { ...plain, failed: ['a', 'b'] });
    assert.deepEqual(retry?.action, { kind: 'retryAndRun', tasks: ['a', 'b'] });
    const [only] = preflightRows(view({ tasks: 0 }), { ...plain, failed: ['a'] });
    assert.match(only?.label ?? '', /Retry 1 failed task and run/);
    const [none] = preflightRows(view({ tasks: 0 }), plain);
    assert.match(none?.label ?? '', /Nothing is left to run/);
  });

  test('Enter lands an epic whose tasks are done', () => {
    const [land] = preflightRows(view({ tasks: 0 }), { ...plain, canLand: true });
    assert.deepEqual([land?.label, land?.action], ['$(git-merge) Land the Epic', { kind: 'run' }]);
  });

  test('tasks that waited for a red branch can be retried, even if nothing else is left', () => {
    const state = { ...plain, behindRedBase: ['a', 'b'] };
    const [only] = preflightRows(view({ tasks: 0 }), state);
    assert.match(only?.label ?? '', /Retry 2 blocked tasks and run/);
    assert.deepEqual(only?.action, { kind: 'retryAndRun', tasks: ['a', 'b'] });
    const [, both] = preflightRows(view(), { ...state, failed: ['c'] });
    assert.match(both?.label ?? '', /Retry 1 failed task, 2 blocked tasks and run/);
  });

  test('external text adds no links and no icons', () => {
    const checks: readonly PreflightCheck[] = [
      { name: 'target', outcome: 'warning', message: '[a](command:b) $(x)', remedy: null },
    ];
    const rows = preflightRows(view({ checks }), plain);
    assert.ok(rows.some(({ label }) => label.includes('[a] (command:b) $ (x)')));
  });
});

suite('choices for a run', () => {
  const settings = { agent: '', gate: 'make', workers: 0, land: '' } as never;

  test("they override VS Code's settings, and empty settings have no effect", () => {
    assert.deepEqual(withSettings(settings, {}), { gate: 'make' });
    assert.deepEqual(withSettings(settings, { gate: 'npm test', workers: 4 }), {
      gate: 'npm test',
      workers: 4,
    });
  });

  test('choices that another version stored are read field by field', () => {
    assert.deepEqual(readChoices(null), {});
    assert.deepEqual(
      readChoices({ agent: 7, workers: 3, land: 'never', plan: 'yes', budget_usd: 2.5, x: 1 }),
      { workers: 3, budget_usd: 2.5 },
    );
  });

  test('a repository without a commit offers to create one', () => {
    const commit: PreflightCheck = {
      name: 'commit',
      outcome: 'error',
      message: 'The repository /shop has no commit yet.',
      remedy: null,
    };
    const rows = preflightRows(view({ can_run: false, checks: [commit] }), plain);
    const row = rows.find(({ label }) => label.includes('no commit yet'));
    assert.deepEqual(row?.action, { kind: 'command', id: 'drover.firstCommit' });
    assert.equal(row?.detail, 'Enter: Make a First Commit…');
  });
});
