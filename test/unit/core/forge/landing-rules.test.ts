// What landing on a forge will need, as a table of cases.

import assert from 'node:assert/strict';
import {
  type LandingFacts,
  landingRows,
  type LandingTopic,
  type RepositoryFacts,
} from '../../../../server/core/forge/landing-rules.ts';
import { chooseMethod } from '../../../../server/core/forge/merging.ts';
import { type BranchRules, noRules } from '../../../../server/core/forge/pull-facts.ts';
import { parseWorkflow } from '../../../../server/core/forge/workflow-triggers.ts';

const read = <T>(value: T) => ({ kind: 'read', value }) as const;
const unread = { kind: 'unread', why: 'no right' } as const;

const repository: RepositoryFacts = {
  slug: 'acme/shop',
  isArchived: false,
  mayPush: true,
  methods: ['MERGE', 'SQUASH'],
  scopes: ['repo'],
};

function facts(more: Partial<LandingFacts> = {}): LandingFacts {
  return {
    host: 'github.com',
    base: 'main',
    repository: read(repository),
    user: read('lead'),
    release: read(null),
    rules: read(noRules),
    workflows: [],
    ...more,
  };
}

const of = (more: Partial<RepositoryFacts>): Partial<LandingFacts> => ({
  repository: read({ ...repository, ...more }),
});
const withRules = (more: Partial<BranchRules>): Partial<LandingFacts> => ({
  rules: read({ ...noRules, ...more }),
});
const onlyMerge = of({ methods: ['MERGE'] });
const can = { kind: 'read', value: true } as const;
const tried = { push: can, pulls: can, checks: read([]), reviews: can } as const;
const pulls = { path: 'ci.yml', isForPulls: true, isForQueue: false };

const cases: readonly [LandingTopic, string, Partial<LandingFacts>, RegExp | null][] = [
  ['repository', 'ok', {}, /^acme\/shop on github\.com, as lead\.$/],
  ['repository', 'ok', { user: unread }, /as an app, or as no user/],
  ['repository', 'warning', { repository: unread }, /^No right\.$/],
  ['repository', 'error', of({ isArchived: true }), /is archived.*Unarchive it/],
  ['push', 'ok', {}, /^lead may push/],
  ['push', 'note', of({ scopes: null }), /does not report the permissions.*doctor --forge/],
  ['push', 'note', of({ scopes: ['read:org'] }), /does not report/],
  ['push', 'note', of({ mayPush: null }), /does not report/],
  ['push', 'error', of({ mayPush: false }), /^lead may not push to acme\/shop\. Ask/],
  ['push', 'ok', { ...of({ mayPush: false }), tried }, /^Git has permission to push/],
  ['push', 'error', { tried: { ...tried, push: unread } }, /^No right\. Sign git in/],
  ['pull requests', 'none', {}, null],
  ['pull requests', 'ok', { tried }, /may open/],
  ['pull requests', 'error', { tried: { ...tried, pulls: unread } }, /^No right\.$/],
  ['checks', 'ok', { tried }, /can be read/],
  [
    'checks',
    'warning',
    { tried: { ...tried, checks: unread } },
    /cannot be read: no right\. While/,
  ],
  [
    'checks',
    'warning',
    { tried: { ...tried, checks: { ...read([]), missing: 'check runs cannot be read' } } },
    /^Check runs cannot be read\. While .* merges nothing/,
  ],
  ['reviews', 'warning', { tried: { ...tried, reviews: unread } }, /merges nothing/],
  ['issues', 'none', {}, null],
  ['issues', 'none', { release: read('3.19.0') }, null],
  ['issues', 'note', { release: read('3.16.2') }, /Server 3\.16\.2 has no "blocked by"/],
  ['rules', 'warning', { rules: unread }, /rules of main cannot be read: no right\. While/],
  [
    'rules',
    'warning',
    { rules: { ...read(noRules), missing: 'some is hidden' } },
    /^Some is hidden/,
  ],
  ['rules', 'ok', {}, /can be read/],
  ['approvals', 'ok', {}, /^main needs no approval\.$/],
  [
    'approvals',
    'warning',
    withRules({ approvals: 1 }),
    /needs 1 approval\. GitHub refuses one by lead/,
  ],
  [
    'approvals',
    'warning',
    { ...withRules({ approvals: 2 }), user: unread },
    /by the account that opens/,
  ],
  ['code owners', 'none', {}, null],
  ['code owners', 'note', withRules({ needsCodeOwners: true }), /owner of each.*other than lead/],
  ['required checks', 'ok', {}, /no check, so every check counts/],
  ['required checks', 'ok', withRules({ requiredChecks: ['unit', 'lint'] }), /unit, lint/],
  ['history', 'none', {}, null],
  ['history', 'note', withRules({ needsLinearHistory: true }), /by squash only\.$/],
  [
    'history',
    'warning',
    { ...withRules({ needsLinearHistory: true }), ...onlyMerge },
    /Allow squash/,
  ],
  ['merge methods', 'ok', {}, /by merge, squash\.$/],
  ['merge methods', 'ok', withRules({ needsLinearHistory: true }), /by squash\.$/],
  ['merge methods', 'ok', withRules({ mergeMethods: ['MERGE'] }), /by merge\.$/],
  ['merge methods', 'warning', withRules({ mergeMethods: ['REBASE'] }), /no way to merge/],
  ['signatures', 'none', {}, null],
  ['signatures', 'warning', withRules({ needsSignatures: true }), /does not sign\. Land by squash/],
  [
    'signatures',
    'warning',
    { ...withRules({ needsSignatures: true }), ...onlyMerge },
    /Allow squash/,
  ],
  ['queue', 'none', { workflows: [pulls] }, null],
  ['queue', 'note', withRules({ hasQueue: true }), /through a merge queue\.$/],
  [
    'queue',
    'warning',
    { ...withRules({ hasQueue: true }), workflows: [pulls] },
    /ci\.yml does not start in it.*Add the trigger merge_group/,
  ],
  [
    'queue',
    'note',
    { ...withRules({ hasQueue: true }), workflows: [{ ...pulls, isForQueue: true }] },
    /through a merge queue\.$/,
  ],
];

suite('the requirements of landing on a forge', () => {
  for (const [topic, outcome, given, wanted] of cases) {
    const name = wanted === null ? 'says nothing' : `${outcome}, ${wanted.source}`;
    test(`${topic}: ${name}`, () => {
      const found = landingRows(facts(given)).find((row) => row.topic === topic);
      assert.equal(found?.outcome ?? 'none', outcome, found?.message);
      if (wanted !== null) assert.match(found?.message ?? '', wanted);
    });
  }

  test('only an archived repository and a refused push are errors before a run', () => {
    for (const [, , { tried: _, ...given }] of cases) {
      const errors = landingRows(facts(given)).filter(({ outcome }) => outcome === 'error');
      for (const { topic } of errors) assert.match(topic, /^(?:repository|push)$/);
    }
  });

  const workflows: readonly [string, boolean, boolean][] = [
    ['on: pull_request\njobs: {}', true, false],
    ['on: [push, pull_request, merge_group]\njobs: {}', true, true],
    ['on:\n  pull_request:\n    branches: [main]\n  merge_group:\njobs:\n', true, true],
    ['"on":\n- pull_request_target # not merge_group\njobs:\n', true, false],
    ['on: push\njobs:\n  pull_request:\n    if: merge_group\n', false, false],
    ['name: nothing starts it\n', false, false],
  ];
  for (const [yaml, isForPulls, isForQueue] of workflows) {
    test(`the triggers of ${JSON.stringify(yaml.slice(0, 40))} are read`, () => {
      assert.deepEqual(parseWorkflow('ci.yml', yaml), { path: 'ci.yml', isForPulls, isForQueue });
    });
  }
});

suite('merging a pull request without a person', () => {
  const methods: readonly [string, Partial<BranchRules>, string][] = [
    ['as usual', {}, 'REBASE'],
    ['by squash into a linear history', { needsLinearHistory: true }, 'SQUASH'],
    ['by squash if commits must be signed', { needsSignatures: true }, 'SQUASH'],
    ['by what the rules allow', { mergeMethods: ['MERGE'] }, 'MERGE'],
    ['as usual if the rules leave nothing: GitHub refuses it', { mergeMethods: [] }, 'REBASE'],
  ];
  for (const [name, more, method] of methods)
    test(name, () => assert.equal(chooseMethod({ ...noRules, ...more }, 'REBASE'), method));
});
