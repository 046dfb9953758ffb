// Which agent takes over when an agent cannot do a task: how that is written, and when the next
// agent has its turn.

import assert from 'node:assert/strict';
import { agentChoices, readAgentSettings } from '../../../server/core/settings/agent-settings.ts';
import {
  agentChain,
  failuresBeforeNext,
  nextStepIndex,
  readSteps,
  usesNoAttempt,
} from '../../../server/core/work/fallback.ts';
import { failureKinds } from '../../../server/core/failure.ts';
import { stepText } from '../../../server/core/format.ts';
import { buildPrompt, type PromptInput } from '../../../server/core/prompt/prompt.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';

suite('fallback agents', () => {
  const readable: readonly (readonly [unknown, readonly string[]])[] = [
    ['codex', ['codex']],
    ['amp', ['amp']],
    [' codex , claude:opus ', ['codex', 'claude:opus']],
    [
      ['claude:us.model-1:0', 'gemini'],
      ['claude:us.model-1:0', 'gemini'],
    ],
    [
      [{ agent: 'claude', model: 'opus' }, { agent: 'codex' }],
      ['claude:opus', 'codex'],
    ],
    ['', []],
    [[], []],
  ];
  for (const [written, steps] of readable) {
    test(`${JSON.stringify(written)} is read`, () => {
      const read = readSteps(written);
      assert.ok(read.ok);
      assert.deepEqual(read.value.map(stepText), steps);
      const again = readSteps(read.value.map(stepText).join(','));
      assert.deepEqual(again.ok && again.value, read.value);
    });
  }

  const refused: readonly (readonly [unknown, RegExp])[] = [
    [7, /neither a string nor a list/],
    [[7], /neither a string nor a table/],
    ['nobody', /"nobody" is not an agent that can take over; use one of claude/],
    ['claude:', /not the name of a model/],
    ['claude:--help', /not the name of a model/],
    ['codex:o3', /codex cannot be given a model; set it in \[agents\.codex\] args/],
    [[{ agent: 'codex', modle: 'o3' }], /"modle" is not part of a step/],
    [[{ model: 'opus' }], /without an agent/],
    [Array.from({ length: 9 }, () => 'codex'), /9 agents are named, 8 are allowed/],
  ];
  for (const [written, words] of refused) {
    test(`${JSON.stringify(written)} is refused`, () => {
      const read = readSteps(written);
      assert.match(read.ok ? 'read' : read.error, words);
    });
  }

  test("a task's own list takes precedence over its agent's list, which takes precedence over the general one", () => {
    const choices = agentChoices(
      {
        kind: 'claude',
        model: 'sonnet',
        fallback: [{ agent: 'gemini', model: null }],
        fallbackAfter: 1,
        fallbackWaitMs: null,
      },
      { codex: { fallback: [{ agent: 'claude', model: null }] }, command: { model: 'small' } },
    );
    const chain = (
      agent: string | null,
      fallback: string | null,
      model: string | null = null,
    ): string[] => agentChain(choices, 'claude', { agent, model, fallback }).map(stepText);
    assert.deepEqual(chain(null, null), ['claude:sonnet', 'gemini']);
    assert.deepEqual(chain('codex', null), ['codex', 'claude:sonnet']);
    assert.deepEqual(chain('gemini', null), ['gemini']);
    assert.deepEqual(chain(null, ''), ['claude:sonnet']);
    assert.deepEqual(chain(null, 'command,claude:opus,claude'), [
      'claude:sonnet',
      'command:small',
      'claude:opus',
    ]);
    // A task's model applies to its own agent, if that agent can be given a model.
    assert.deepEqual(chain(null, 'command,claude', 'opus'), [
      'claude:opus',
      'command:small',
      'claude:sonnet',
    ]);
    assert.deepEqual(chain('codex', null, 'opus'), ['codex', 'claude:sonnet']);
  });

  test('the settings of single agents are read completely or not at all', () => {
    assert.deepEqual(readAgentSettings({ 'codex.path': 'a b', 'codex.fallback': 'claude' }), {
      codex: { path: 'a b', fallback: [{ agent: 'claude', model: null }] },
    });
    for (const [name, value] of [
      ['codex.path', 7],
      ['codex.path', ''],
      ['codex.args', 'x'],
      ['codex.fallback', 'nobody'],
      ['codex.color', 'red'],
      ['nobody.path', 'x'],
    ] as const) {
      assert.equal(readAgentSettings({ [name]: value }), undefined, `${name} = ${value}`);
    }
  });

  test('every kind of failure has a decision', () => {
    const passing = failureKinds.filter((kind) => failuresBeforeNext(kind, 1) !== null);
    assert.deepEqual(
      failureKinds.filter((kind) => !passing.includes(kind)),
      [
        'budget_used',
        'setup_failed',
        'conflict',
        'line_held',
        'push_refused',
        'commit_failed',
        'git_failed',
        'disk_full',
        'worker_failed',
        'interrupted',
      ],
    );
    assert.deepEqual(failureKinds.filter(usesNoAttempt), [
      'agent_missing',
      'agent_auth',
      'agent_billing',
      'account_limit',
    ]);
    assert.equal(failuresBeforeNext('gate_failed', 1), 2);
    assert.equal(failuresBeforeNext('agent_failed', 3), 3);
    assert.equal(failuresBeforeNext('agent_auth', 3), 1);
    assert.equal(failuresBeforeNext('sent_back', 1), null);
  });

  const histories: readonly (readonly [string, number, number, number])[] = [
    ['', 3, 1, 0],
    ['0agent_failed', 3, 1, 1],
    ['0agent_failed', 1, 1, 0],
    ['0agent_failed', 3, 2, 0],
    ['0agent_failed 0timeout', 3, 2, 1],
    ['0agent_failed 0conflict 0timeout', 3, 2, 1],
    ['0agent_failed 0conflict', 3, 2, 0],
    ['0agent_failed 0interrupted', 3, 1, 0],
    ['0gate_failed', 3, 1, 0],
    ['0gate_failed 0gate_failed', 3, 1, 1],
    ['0agent_failed 1agent_failed', 3, 2, 1],
    ['0agent_failed 1agent_failed 1no_changes', 3, 2, 2],
    ['2agent_failed', 3, 1, 2],
    ['5sent_back', 3, 1, 2],
    ['1sent_back', 3, 1, 1],
    ['0agent_auth 1account_limit', 3, 5, 2],
  ];
  for (const [history, length, after, expected] of histories) {
    test(`after "${history}" of ${length} agents, ${after} each: number ${expected}`, () => {
      const ended = history
        .split(' ')
        .filter((one) => one !== '')
        .map((one) => ({ step: Number(one[0]), failureKind: one.slice(1) }));
      assert.equal(nextStepIndex(ended, length, after), expected);
    });
  }

  test('no agent takes over without a list', () => {
    assert.equal(
      agentChain(noFallback, 'demo', { agent: null, model: null, fallback: null }).length,
      1,
    );
  });

  test('the prompt explains why the previous agent did not finish', () => {
    const input: PromptInput = {
      guidelines: '',
      blockers: [],
      recent: [],
      hints: [],
      task: { id: 't', title: 'T', description: '', type: 'feature', acceptanceCriteria: [] },
      siblings: null,
      subTasks: [],
      lastFailure: null,
      epic: null,
      attempt: 2,
    };
    const failed = {
      kind: 'agent_failed',
      message: 'it gave up',
      detail: '',
      commit: null,
      continued: false,
      conflictFiles: [],
    };
    const told = buildPrompt({ ...input, lastFailure: { ...failed, otherAgent: 'claude:opus' } });
    assert.match(told, /previous attempt \(by another agent, claude:opus\) ended with: it gave up/);
    assert.match(told, /does not fail the same way/);
    const limited = { ...failed, kind: 'account_limit', otherAgent: 'claude' };
    assert.doesNotMatch(buildPrompt({ ...input, lastFailure: limited }), /in the same way/);
    assert.doesNotMatch(buildPrompt({ ...input, lastFailure: failed }), /another agent/);
  });
});
