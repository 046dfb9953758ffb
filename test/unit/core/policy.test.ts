import assert from 'node:assert/strict';
import {
  type PolicyFile,
  policyText,
  readPolicy,
  requiresSandbox,
  whyNoAgent,
  whyNotAllowed,
} from '../../../server/core/settings/policy.ts';

suite("a machine's policy", () => {
  const file = '/etc/drover/policy.toml';
  const given = (rules: object): PolicyFile => {
    const policy = readPolicy(file, { policy: rules });
    assert.ok(policy.ok);
    return { kind: 'policy', policy: policy.value };
  };
  const broken: PolicyFile = { kind: 'unusable', file, reason: 'is no TOML (…)' };

  const wrong: readonly [string, unknown, RegExp][] = [
    ['no table', {}, /no table \[policy\]/],
    [
      'a misspelled rule',
      { policy: { aprove: ['ada'] } },
      /unknown rule `aprove`; the rules are approve, land/,
    ],
    ['a rule outside', { policy: {}, land: ['ada'] }, /`land` outside of \[policy\]/],
    ['a name alone', { policy: { land: 'ada' } }, /`land` that is no list/],
    ['a number among names', { policy: { agents: ['claude', 1] } }, /`agents` that is no list/],
    ['a word for the switch', { policy: { sandbox_required: 'yes' } }, /no true or false/],
  ];
  for (const [name, content, sentence] of wrong) {
    test(`${name} makes the file unusable`, () => {
      const read = readPolicy(file, content);
      assert.match(read.ok ? '' : read.error, sentence);
    });
  }

  const acts: readonly [string, readonly PolicyFile[], RegExp | null][] = [
    ['no file', [], null],
    ['a file without the rule', [given({ approve: [] })], null],
    ['among the names', [given({ land: ['bob', 'ada'] })], null],
    [
      'not among the names',
      [given({ land: ['bob'] })],
      /^ada may not land work without a review on this machine: the policy \/etc\/drover\/policy\.toml allows it to bob\. An epic/,
    ],
    ['nobody', [given({ land: [] })], /allows it to nobody/],
    [
      'allowed by one file and not by the other',
      [given({ land: ['ada'] }), given({ land: [] })],
      /nobody/,
    ],
    [
      'a file that cannot be used',
      [given({}), broken],
      /^The policy .* is no TOML .* starts no agent, approves and lands nothing/,
    ],
  ];
  for (const [name, files, sentence] of acts) {
    test(`land: ${name}`, () => {
      const why = whyNotAllowed(files, 'land', 'ada');
      if (sentence === null) assert.equal(why, null);
      else assert.match(why ?? '', sentence);
    });
  }

  test('each decision has its own rule', () => {
    const files = [given({ approve: ['ada'], land: ['bob'], trust: ['cy'] })];
    const may = (person: string): readonly boolean[] =>
      (['approve', 'land', 'trust'] as const).map(
        (act) => whyNotAllowed(files, act, person) === null,
      );
    assert.deepEqual(
      [may('ada'), may('bob'), may('cy')],
      [
        [true, false, false],
        [false, true, false],
        [false, false, true],
      ],
    );
  });

  test('agents and sandbox are decided, and an unusable file allows neither', () => {
    const files = [given({ agents: ['claude'], sandbox_required: true })];
    assert.equal(whyNoAgent(files, 'claude'), null);
    assert.match(
      whyNoAgent(files, 'codex') ?? '',
      /^The agent codex is not used .* allows claude\./,
    );
    assert.match(whyNoAgent([broken], 'claude') ?? '', /starts no agent/);
    assert.deepEqual([[], [given({})], files, [broken]].map(requiresSandbox), [
      false,
      false,
      true,
      false,
    ]);
  });

  test('doctor lists every rule', () => {
    const all = given({ approve: ['ada'], land: [], agents: ['claude'], sandbox_required: true });
    assert.equal(
      policyText(all),
      `${file}: approve: ada; land: nobody; agents: claude; the sandbox is required`,
    );
    assert.equal(policyText(given({})), `${file}: no rules`);
  });
});
