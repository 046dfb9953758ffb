// A design becomes a plan: the real command and the provider's own library, with a model API on loopback.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureAgents } from '../agents-under-test/install.mjs';
import {
  type Conversation,
  type FakeModelApi,
  keyDigest,
  startFakeModelApi,
  type Step,
} from '../doubles/fake-model-api/fake-model-api.mjs';
import { Refusal } from '../../server/core/failure.ts';
import { dummyKey } from './support/claude-project.ts';
import { panelClient } from './support/panel-client.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized, soakTest } from '../tier.ts';

const design = readFileSync(join(import.meta.dirname, 'support', 'design.md'), 'utf8');

interface PlannedTask {
  readonly key: string;
  readonly epic: string | null;
  readonly title: string;
  readonly description: string;
  readonly type: string;
  readonly priority: string;
  readonly blocked_by: readonly string[];
  readonly acceptance_criteria: readonly string[];
}

function task(key: string, epic: string | null, blockers: readonly string[] = []): PlannedTask {
  return {
    key,
    epic,
    title: `Build ${key}`,
    description: `What the design says about ${key}.`,
    type: 'feature',
    priority: 'normal',
    blocked_by: blockers,
    acceptance_criteria: [`${key} is tested`, `${key} is described in the manual`],
  };
}

const goodPlan = {
  epics: [
    { key: 'core', title: 'Store and shorten', description: 'Links and their short names.' },
    { key: 'web', title: 'Serve', description: 'What people call.' },
  ],
  tasks: [
    task('redirect', 'web', ['lookup']),
    task('storage', 'core'),
    task('lookup', 'core', ['storage']),
    task('create-page', 'web', ['names', 'storage']),
    task('names', 'core'),
    task('counts', 'web', ['redirect']),
  ],
};

function submits(input: unknown): Step {
  return { tools: [{ name: 'submit_plan', input }] };
}

function answers(steps: Step[]): Conversation {
  return { name: 'plan', match: { prompt: 'You plan work', tool: 'submit_plan' }, steps };
}

interface SpecAnswer {
  readonly source: string;
  readonly model: string;
  readonly tasks: readonly { readonly id: string; readonly title: string }[];
  readonly imported: { readonly epics: number; readonly tasks: number } | null;
  readonly usage: { readonly input_tokens: number };
  readonly error?: { readonly kind: string; readonly message: string };
}

suite('a design becomes a plan', function () {
  this.timeout(180_000);
  const project = useProjects();
  let fake: FakeModelApi;

  setup(async () => {
    fake = await startFakeModelApi();
  });

  teardown(async () => {
    await fake.close();
  });

  async function begin(steps: Step[], more: Record<string, string> = {}): Promise<Project> {
    fake.setScript({ conversations: [answers(steps)] });
    const here = project({
      files: { 'docs/design.md': design },
      env: { ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: dummyKey, ...more },
    });
    await here.expect(0, ['init']);
    return here;
  }

  async function assertEmpty(here: Project): Promise<void> {
    const { tasks, epics } = await here.status();
    assert.deepEqual([tasks, epics], [[], []]);
    assert.deepEqual(
      (await here.events()).filter(({ type }) => type === 'import.finished'),
      [],
    );
  }

  test('a panel gets a plan to review and adds it as a whole, and a canceled plan is refused', async () => {
    const here = await begin([submits(goodPlan)]);
    const client = await panelClient(here);
    try {
      const documents = { 'docs/design.md': design };
      const planned = await client.call('spec.plan', { documents });
      assert.deepEqual([planned.source, planned.epics.length, planned.tasks.length], ['api', 2, 6]);
      await assertEmpty(here);
      const file = { text: planned.jsonl, bad_utf8_lines: [], file: 'plan.jsonl' };
      const { imported } = await client.call('import', { ...file, format: 'jsonl' });
      assert.deepEqual([imported.epics, imported.tasks], [2, 6]);
      fake.setScript({ conversations: [answers([{ say: 'late', delayMs: 50_000 }])] });
      const late = client.call('spec.plan', { documents });
      const refused = assert.rejects(late, Refusal);
      await assert.rejects(client.call('spec.plan', { documents }), /already being planned/);
      assert.deepEqual(await client.call('spec.cancel', {}), { cancelled: true });
      await refused;
    } finally {
      client.close();
    }
  });

  test('two pages become epics, tasks and dependencies in one step', async () => {
    const here = await begin([submits(goodPlan)]);
    const said = await here.json<SpecAnswer>(['spec', 'docs/design.md', '--yes']);
    assert.deepEqual(said.imported, { epics: 2, tasks: 6 });
    assert.equal(said.source, 'api');
    assert.equal(said.model, 'claude-opus-5-5');
    const { tasks, epics } = await here.status();
    assert.deepEqual(epics.map(({ title }) => title).toSorted(), ['Serve', 'Store and shorten']);
    const byTitle = new Map(tasks.map((each) => [each.title, each]));
    const idOf = (key: string): string => byTitle.get(`Build ${key}`)?.id ?? '';
    for (const wanted of goodPlan.tasks) {
      const written = byTitle.get(wanted.title);
      assert.deepEqual(
        written?.blocked_by.toSorted(),
        wanted.blocked_by.map(idOf).toSorted(),
        wanted.title,
      );
      assert.deepEqual(written?.acceptance_criteria, wanted.acceptance_criteria);
      const title = goodPlan.epics.find(({ key }) => key === wanted.epic)?.title;
      assert.equal(epics.find(({ id }) => id === written?.epic_id)?.title, title);
    }
    const finished = (await here.events()).filter(({ type }) => type === 'import.finished');
    assert.equal(finished.length, 1);
    const [request] = fake.requests;
    assert.equal(fake.requests.length, 1);
    // How the library passes a key; a proxy must accept it as well.
    assert.equal(request?.headers['authorization'], keyDigest(dummyKey));
    assert.deepEqual(request?.body.tool_choice, { type: 'tool', name: 'submit_plan' });
    assert.ok(JSON.stringify(request?.body.messages).includes('four hundred and ten'));
  });

  test('the preview is in work order within 80 columns, and a dry run writes nothing', async () => {
    const here = await begin([submits(goodPlan)]);
    const shown = await here.expect(0, ['spec', 'docs', '--dry-run', '--model', 'some-model']);
    assert.equal(fake.requests[0]?.model, 'some-model');
    const lines = shown.split('\n');
    assert.deepEqual(
      lines.filter((line) => line.length > 80),
      [],
    );
    const at = (text: string): number => lines.findIndex((line) => line.includes(text));
    assert.ok(at('Epic: Store and shorten') !== -1);
    for (const { title, blocked_by: blockers } of goodPlan.tasks) {
      assert.ok(at(title) !== -1, title);
      for (const key of blockers) assert.ok(at(`Build ${key} `) < at(title), `${key} ${title}`);
    }
    await assertEmpty(here);
  });

  soakTest('import accepts a plan that was saved for editing', async () => {
    const here = await begin([submits(goodPlan)]);
    const shown = await here.expect(0, ['spec', 'docs/design.md', '--out', 'plan.jsonl']);
    assert.match(shown, /Build counts[\s\S]*drover import plan\.jsonl/);
    await assertEmpty(here);
    const text = here.read('repo/plan.jsonl').replace('Build counts', 'Count visits');
    here.write('repo/plan.jsonl', text);
    await here.expect(0, ['import', 'plan.jsonl']);
    const titles = (await here.status()).tasks.map(({ title }) => title);
    assert.equal(titles.length, 6);
    assert.ok(titles.includes('Count visits'));
    const again = await here.drover(['spec', 'docs/design.md', '--out', 'plan.jsonl']);
    assert.equal(again.code, 3);
    assert.match(again.stderr, /plan\.jsonl: it already exists/);
    assert.equal(fake.requests.length, 1);
    assert.equal(here.read('repo/plan.jsonl'), text);
  });

  test('the model corrects a first answer that is not a plan', async () => {
    const here = await begin([{ say: 'Sure, here is what I think.' }, submits(goodPlan)]);
    const done = await here.drover(['spec', 'docs/design.md', '--yes']);
    assert.equal(done.code, 0, done.stderr);
    assert.match(done.stderr, /the answer is a string; use an object/);
    const [, second] = fake.requests;
    const messages = second?.body.messages as { role: string; content: unknown }[];
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'assistant', 'user'],
    );
    assert.match(JSON.stringify(messages[2]), /use an object/);
    assert.equal((await here.status()).tasks.length, 6);
  });

  const loop = {
    epics: [],
    tasks: [task('a', null, ['c']), task('b', null, ['a']), task('c', null, ['b'])],
  };
  const rubbish: readonly (readonly [string, Step, RegExp])[] = [
    ['words', { say: 'I would rather talk about sheep.' }, /the answer is a string/],
    ['another shape', submits({ plan: 'yes' }), /`epics` of the answer is missing/],
    ['an unknown blocker', submits({ epics: [], tasks: [task('a', null, ['b'])] }), /task `b` of/],
    ['a loop', submits(loop), /a → c → b → a/],
  ];
  for (const [what, step, sentence] of sized(rubbish.slice(-1), rubbish)) {
    test(`${what}, twice: a clear error is printed, and nothing is written`, async () => {
      const here = await begin([step]);
      const done = await here.drover(['spec', 'docs/design.md', '--yes', '--json']);
      assert.equal(done.code, 3, done.stderr);
      const { error } = JSON.parse(done.stdout) as SpecAnswer;
      assert.equal(error?.kind, 'bad_plan');
      assert.match(error?.message ?? '', sentence);
      assert.match(error?.message ?? '', /could not be used/);
      assert.equal(fake.requests.length, 2);
      await assertEmpty(here);
      const kept = await here.drover(['spec', 'docs/design.md', '--out', 'plan.jsonl']);
      assert.equal(kept.code, 3);
      assert.ok(!existsSync(join(here.root, 'plan.jsonl')));
    });
  }

  const faults: readonly (readonly [string, Step, number, RegExp])[] = [
    [
      'a wrong key',
      { faults: [{ http: 401, message: `bad ${dummyKey}` }] },
      1,
      /ANTHROPIC_API_KEY/,
    ],
    ['an unknown model', { faults: [{ http: 404 }] }, 1, /--model/],
    ['an answer cut short', { ...submits(goodPlan), stop: 'max_tokens' }, 1, /in parts/],
    [
      'a broken stream',
      { ...submits(goodPlan), faults: [{ disconnect: 'mid-stream' }] },
      1,
      /try again/,
    ],
  ];
  for (const [what, step, code, sentence] of faults) {
    test(`${what}: the remedy is printed, and nothing is written`, async () => {
      const here = await begin([step]);
      const done = await here.drover(['spec', 'docs/design.md', '--yes']);
      assert.equal(done.code, code, done.stderr);
      assert.match(done.stderr, sentence);
      assert.ok(!done.stderr.includes(dummyKey));
      await assertEmpty(here);
    });
  }

  const addresses: readonly (readonly [string, RegExp])[] = [
    ['http://somebody:pass-word-1@127.0.0.1:9', /http:\/\/127\.0\.0\.1:9/],
    ['no address: pass-word-1', /The address in ANTHROPIC_BASE_URL/],
  ];
  for (const [address, sentence] of addresses) {
    test(`an unreachable address is reported without its password: ${address}`, async () => {
      const here = await begin([submits(goodPlan)], { ANTHROPIC_BASE_URL: address });
      const done = await here.drover(['spec', 'docs/design.md', '--yes']);
      assert.equal(done.code, 1, done.stderr);
      assert.match(done.stderr, sentence);
      assert.ok(!done.stderr.includes('pass-word-1'), done.stderr);
      await assertEmpty(here);
    });
  }

  soakTest('a model that does not support forced tools is asked without one', async () => {
    const here = await begin([{ ...submits(goodPlan), faults: [{ http: 400, times: 1 }] }]);
    await here.expect(0, ['spec', 'docs/design.md', '--yes']);
    assert.deepEqual(
      fake.requests.map(({ body }) => body.tool_choice.type),
      ['tool', 'auto'],
    );
  });

  test('without a key and an agent, it prints the remedy', async () => {
    const here = await begin([submits(goodPlan)], { ANTHROPIC_API_KEY: '' });
    const done = await here.drover(['spec', 'docs/design.md', '--yes'], {
      env: { DROVER_AGENT_TYPE: 'claude', DROVER_AGENT_PATH: 'no-such-claude' },
    });
    assert.equal(done.code, 3);
    assert.match(done.stderr, /Set the key .* or install Claude Code/);
    await assertEmpty(here);
  });

  suite('with the real Claude Code and no API key', () => {
    let claude: string;
    suiteSetup(async function () {
      this.timeout(600_000);
      claude = (await ensureAgents()).claude;
    });

    /** The login is Claude Code's; here, it is a key that only the agent gets. */
    async function beginWithAgent(steps: Step[]): Promise<Project> {
      fake.setScript({
        conversations: [{ name: 'plan', match: { prompt: 'You plan work' }, steps }],
      });
      const login = `ANTHROPIC_BASE_URL = "${fake.url}"\nANTHROPIC_API_KEY = "${dummyKey}"\n`;
      const here = project({
        files: { 'docs/design.md': design },
        settings: `[agent]\nkind = "claude"\npath = "${claude}"\n[agent.env]\n${login}`,
        env: { DROVER_AGENT_TYPE: 'claude', DROVER_AGENT_PATH: claude },
      });
      for (const args of [['init'], ['trust', '--yes']]) await here.expect(0, args);
      return here;
    }

    function structured(input: unknown): Step {
      return { tools: [{ name: 'StructuredOutput', input }] };
    }

    test('the installed agent plans with read access only', async () => {
      const here = await beginWithAgent([structured(goodPlan), { say: 'Done.' }]);
      const said = await here.json<SpecAnswer>(['spec', 'docs/design.md', '--yes']);
      assert.equal(said.source, 'agent');
      assert.deepEqual(said.imported, { epics: 2, tasks: 6 });
      const offered = fake.requests.flatMap(({ body }) =>
        ((body?.tools ?? []) as { name: string }[]).map(({ name }) => name),
      );
      // The placeholder is a name that the program reserves, and does nothing.
      const harmless = ['Read', 'Glob', 'Grep', 'DeferredToolPlaceholder', 'StructuredOutput'];
      assert.ok(offered.includes('StructuredOutput'));
      assert.deepEqual(
        offered.filter((name) => !harmless.includes(name)),
        [],
      );
      assert.equal(here.git('status', '--porcelain'), '');
    });

    soakTest('a loop that its schema cannot detect is corrected once', async () => {
      const here = await beginWithAgent([structured(loop), { say: 'Done.' }]);
      fake.setScript({
        conversations: [
          {
            name: 'corrected',
            match: { prompt: 'waits for itself in the end' },
            steps: [structured(goodPlan), { say: 'Done.' }],
          },
          {
            name: 'plan',
            match: { prompt: 'You plan work' },
            steps: [structured(loop), { say: 'Done.' }],
          },
        ],
      });
      const done = await here.drover(['spec', 'docs/design.md', '--yes']);
      assert.equal(done.code, 0, done.stderr);
      assert.match(done.stderr, /a → c → b → a/);
      assert.equal((await here.status()).tasks.length, 6);
    });

    soakTest('prose instead of a plan, twice, is an error that writes nothing', async () => {
      const here = await beginWithAgent([{ say: 'I would rather talk about sheep.' }]);
      const done = await here.drover(['spec', 'docs/design.md', '--yes']);
      assert.equal(done.code, 3, done.stderr);
      assert.match(done.stderr, /no usable plan: the answer is a string/);
      await assertEmpty(here);
    });

    test('Ctrl-C kills the agent with all processes it started', async () => {
      const here = await beginWithAgent([{ say: 'too late', delayMs: 120_000 }]);
      const running = here.start(['spec', 'docs/design.md', '--yes']);
      await fake.waitFor(
        ({ body }) => JSON.stringify(body ?? null).includes('You plan work'),
        60_000,
      );
      running.signal('SIGINT');
      assert.equal((await running.ended).code, 130);
      await assertEmpty(here);
    });
  });

  test('without a terminal and a decision, it refuses before it asks a model', async () => {
    const here = await begin([submits(goodPlan)]);
    const done = await here.drover(['spec', 'docs/design.md']);
    assert.equal(done.code, 3);
    assert.match(done.stderr, /--yes .* --out .* --dry-run/);
    const missing = await here.drover(['spec', 'nowhere.md', '--yes']);
    assert.equal(missing.code, 3);
    assert.match(missing.stderr, /nowhere\.md cannot be read: the file does not exist/);
    assert.deepEqual(fake.requests, []);
  });
});
