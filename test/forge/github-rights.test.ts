// Rules and checks as GitHub reports them: over several pages, from rulesets and from the older
// branch protection, and as far as a token can read them.

import assert from 'node:assert/strict';
import { ForgeClient } from '../../server/forge/client.ts';
import { GithubPulls } from '../../server/forge/github-pulls.ts';
import type { Answer } from '../../server/forge/port.ts';
import {
  type FakeGithub,
  type FakeGithubOptions,
  startFakeGithub,
} from '../doubles/fake-github/fake-github.ts';
import { queryErrors } from '../doubles/fake-github/rights.ts';
import { queueRule, reviewRule } from '../doubles/fake-github/rules.ts';

const slug = 'acme/shop';
const nowMs = Date.UTC(2026, 10, 28);

suite('the facts about GitHub that a token can read', () => {
  let fake: FakeGithub;
  const start = async (options: FakeGithubOptions = {}): Promise<GithubPulls> => {
    fake = await startFakeGithub({ token: 'secret', ...options });
    fake.git.create(slug);
    fake.git.commit(slug, 'main', 'README.md', 'shop\n');
    return pulls();
  };
  const pulls = (): GithubPulls => {
    const baseUrl = `${fake.url}api/v3/`;
    const client = new ForgeClient({ baseUrl, token: 'secret', nowMs: () => nowMs });
    return new GithubPulls(client, { owner: 'acme', name: 'shop' });
  };
  teardown(async () => {
    await fake.close();
    assert.deepEqual(fake.faults, []);
  });

  const tip = (): string => fake.git.tip(slug, 'main') ?? assert.fail('no branch');
  const valueOf = <T>(answer: Answer<T>): T =>
    answer.kind === 'facts' ? answer.value : assert.fail(JSON.stringify(answer));

  test('rules beyond the first page apply', async () => {
    const here = await start();
    for (let count = 0; count < 100; count += 1) fake.rules.push({ type: 'creation' });
    fake.rules.push(reviewRule(2), { type: 'required_linear_history' }, queueRule());
    const rules = valueOf(await here.rules('main'));
    assert.equal(rules.approvals, 2);
    assert.equal(rules.needsLinearHistory, true);
    assert.equal(rules.hasQueue, true);
  });

  test('the older branch protection counts like the rulesets, and the stricter of both applies', async () => {
    const here = await start();
    fake.rules.push(reviewRule(1));
    fake.base.protection = {
      approvals: 2,
      checks: ['unit'],
      linear: true,
      signatures: true,
      codeOwners: true,
    };
    assert.deepEqual(valueOf(await here.rules('main')), {
      requiredChecks: ['unit'],
      approvals: 2,
      needsLinearHistory: true,
      needsSignatures: true,
      needsCodeOwners: true,
      hasQueue: false,
      mergeMethods: null,
      isProtected: true,
    });
  });

  test('a protection that the token may not read is named, and the known facts stay', async () => {
    const here = await start();
    fake.base.protection = { approvals: 2, checks: ['unit'] };
    fake.failingQueries.push(['refUpdateRule', { body: queryErrors('FORBIDDEN') }]);
    const answer = await here.rules('main');
    assert.deepEqual(valueOf(answer).requiredChecks, ['unit']);
    assert.match(answer.kind === 'facts' ? (answer.missing ?? '') : '', /protection of main/u);
  });

  test('a private repository whose plan includes no rules has none', async () => {
    const here = await start();
    const message = 'Upgrade to GitHub Pro or make this repository public to enable this feature.';
    fake.refused.set('rules/branches/main', { status: 403, message });
    assert.deepEqual(valueOf(await here.rules('main')).requiredChecks, []);
  });

  test('a fine-grained token sees the jobs of Actions and the statuses, and reports its limits', async () => {
    const here = await start({ kind: 'fine_grained' });
    fake.checks.set(tip(), [
      { name: 'unit', state: 'failure' },
      { name: 'lint', state: 'in_progress' },
      { name: 'coverage', state: 'success', by: 'app' },
      { name: 'deploy', state: 'success', by: 'status' },
    ]);
    const answer = await here.checks(tip());
    const seen = valueOf(answer).map(({ name, state }) => `${name} ${state}`);
    assert.deepEqual(seen, ['unit red', 'lint running', 'deploy green']);
    const missing = answer.kind === 'facts' ? answer.missing : '';
    assert.match(missing ?? '', /check runs cannot be read.*checks=read.*only jobs of Actions/iu);
  });

  test('a token that may not read checks still reads the statuses', async () => {
    const here = await start({ kind: 'fine_grained' });
    fake.refused.set('actions/runs', { status: 403, message: 'Resource not accessible' });
    fake.checks.set(tip(), [{ name: 'deploy', state: 'failure', by: 'status' }]);
    const answer = await here.checks(tip());
    assert.deepEqual(
      valueOf(answer).map(({ name, state }) => `${name} ${state}`),
      ['deploy red'],
    );
    assert.match((answer.kind === 'facts' && answer.missing) || '', /neither .* nor jobs/u);
  });

  test('checks count as unread if the token can read none of them', async () => {
    const here = await start({ kind: 'fine_grained' });
    fake.refused.set('actions/runs', { status: 403, message: 'Resource not accessible' });
    fake.refused.set('/status', { status: 403, message: 'Resource not accessible' });
    assert.equal((await here.checks(tip())).kind, 'unreadable');
  });

  const resetS = nowMs / 1_000 + 600;
  const refusals = [
    { type: 'FORBIDDEN', wanted: 'refused' },
    { type: 'INSUFFICIENT_SCOPES', wanted: 'refused' },
    { type: 'UNPROCESSABLE', wanted: 'invalid' },
    { type: 'NOT_FOUND', wanted: 'absent' },
    { type: 'SERVICE_UNAVAILABLE', wanted: 'other' },
  ];
  for (const { type, wanted } of refusals) {
    test(`GraphQL's ${type} is ${wanted}`, async () => {
      const here = await start();
      fake.failingQueries.push(['reviewThreads', { body: queryErrors(type, 'No words.') }]);
      const answer = await here.threads({ nativeId: 'PR_41', number: 41 });
      assert.equal(answer.kind === 'unreadable' ? answer.cause : answer.kind, wanted);
      assert.match(answer.kind === 'unreadable' ? answer.why : '', /No words/u);
    });
  }

  test('a query that an older server does not know counts as absent', async () => {
    const here = await start();
    const extensions = { code: 'undefinedField' };
    const errors = [{ message: "Field 'x' doesn't exist on type 'Ref'", extensions }];
    fake.failingQueries.push(['reviewThreads', { body: { errors } }]);
    const answer = await here.threads({ nativeId: 'PR_41', number: 41 });
    assert.equal(answer.kind === 'unreadable' ? answer.cause : answer.kind, 'absent');
  });

  test('a used-up hourly GraphQL budget is a limit, and Drover sends nothing to the host until then', async () => {
    const here = await start();
    const body = queryErrors('RATE_LIMITED', 'API rate limit exceeded.');
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(resetS) };
    fake.failingQueries.push(['reviewThreads', { body, headers }]);
    const limited = { kind: 'limited', untilMs: resetS * 1_000 };
    assert.deepEqual(await here.threads({ nativeId: 'PR_41', number: 41 }), limited);
    const asked = fake.requests.length;
    assert.deepEqual(await here.threads({ nativeId: 'PR_41', number: 41 }), limited);
    assert.equal(fake.requests.length, asked);
  });
});
