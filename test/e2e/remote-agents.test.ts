// Agents with their own protocol on workers of this machine: the real Claude Code and Codex with a
// model API on loopback, and Drover Code's double. Their output is read as if they ran locally.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ensureAgents } from '../agents-under-test/install.mjs';
import type { DoubleCall, DoubleScript } from '../doubles/drover-code.ts';
import { type FakeModelApi, keyDigest } from '../doubles/fake-model-api/fake-model-api.mjs';
import {
  assertOnlyDummy,
  claudeEnvironment,
  conversation,
  dummyKey,
  says,
  startModelApi,
  writes,
} from './support/claude-project.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

const doublePath = join(import.meta.dirname, '..', 'doubles', 'drover-code.ts');
const remote = 'runs_on = "remote"\n[remote]\nprovisioner = "process"\n';

interface LoggedEvent {
  readonly type: string;
  readonly name?: string;
  readonly text?: string;
  readonly usage?: { readonly inputTokens: number };
}

suite('agents on workers', function () {
  this.timeout(240_000);
  const project = useProjects();
  let agents: Awaited<ReturnType<typeof ensureAgents>>;
  let fake: FakeModelApi;
  suiteSetup(async function () {
    this.timeout(600_000);
    agents = await ensureAgents();
  });
  setup(async () => {
    fake = await startModelApi();
  });
  teardown(() => fake.close());

  const events = async (here: ReturnType<typeof project>, id: string): Promise<LoggedEvent[]> =>
    (await here.expect(0, ['log', id, '--json']))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as LoggedEvent);

  test('Claude Code: its events and usage are read, a backend dies in between, and forbidden actions are refused', async () => {
    const bash = {
      name: 'Bash',
      input: { command: 'sh -c "date > by-bash.txt"', description: 'x' },
    };
    fake.setScript({
      conversations: [
        conversation('far', [
          writes('far'),
          { tools: [bash], expect: { lastToolIsError: false } },
          { ...says('Wrote far.'), expect: { lastToolIsError: true }, delayMs: 3_000 },
        ]),
      ],
    });
    const here = project({
      settings: remote,
      env: { ...claudeEnvironment(agents.claude, fake), CLAUDE_CONFIG_DIR: '/nowhere' },
    });
    await beginPlan(here, ['far']);
    const run = here.start(['run']);
    await eventually('its last answer is awaited', () => fake.requests.length === 3, 120_000);
    await here.killBackend();
    await run.ended;
    await here.expect(0, ['resume']);
    assert.deepEqual(landedTasks(here), ['far']);
    assert.equal(here.git('show', 'main:far.txt'), 'work of far');
    assert.equal((await here.task('far')).attempts, 0);
    const told = await events(here, 'far');
    const tools = told.flatMap(({ type, name }) => (type === 'tool_call' ? [name] : []));
    assert.deepEqual(tools, ['Write', 'Bash']);
    assert.ok(
      told.some(({ type, text }) => type === 'note' && /cannot ask a person/.test(text ?? '')),
    );
    assert.ok((told.findLast(({ type }) => type === 'usage')?.usage?.inputTokens ?? 0) >= 1000);
    // Asked only once: the adopted run continued, and none was started again.
    assert.equal(fake.requests.filter(({ step }) => step === 0).length, 1);
    assertOnlyDummy(fake);
  });

  test('Codex: its exec mode prints JSON lines, gets the key that it needs, and its edits land', async () => {
    const tool = { name: 'exec_command', input: { cmd: 'printf "work of far\\n" > far.txt' } };
    fake.setScript({
      conversations: [
        {
          match: { prompt: 'Task id: far ', api: 'responses' },
          steps: [{ tools: [tool] }, says('Wrote far.')],
        },
      ],
    });
    const provider = 'model_providers.fake';
    const settings = [
      'model="fake-model"',
      'model_provider="fake"',
      'check_for_update_on_startup=false',
      'analytics.enabled=false',
      `${provider}.name="Fake"`,
      `${provider}.base_url="${fake.url}/v1"`,
      `${provider}.env_key="CODEX_API_KEY"`,
      `${provider}.wire_api="responses"`,
    ].flatMap((one) => ['-c', one]);
    const here = project({
      settings: `[agent]\nkind = "codex"\nargs = ${JSON.stringify(settings)}\npermission_mode = "bypassPermissions"\n`,
      env: {
        DROVER_AGENT_TYPE: 'codex',
        DROVER_AGENT_PATH: agents.codex,
        DROVER_RUNS_ON: 'remote',
        DROVER_REMOTE_PROVISIONER: 'process',
        OPENAI_API_KEY: dummyKey,
      },
    });
    await beginPlan(here, ['far']);
    await here.expect(0, ['run']);
    assert.equal(here.git('show', 'main:far.txt'), 'work of far');
    const told = await events(here, 'far');
    assert.ok(told.some(({ type, name }) => type === 'tool_call' && name === 'shell'));
    assert.ok(told.some(({ type, text }) => type === 'text' && text === 'Wrote far.'));
    const keys = fake.requests.map(({ headers }) => headers['authorization']);
    assert.deepEqual([...new Set(keys)], [keyDigest(`Bearer ${dummyKey}`)]);
  });

  test('Drover Code: prompt and result are files, its events and exit codes are read, and only the credential is sent', async () => {
    const here = project({ settings: remote });
    const folder = join(here.folder, 'double');
    mkdirSync(folder);
    const program = join(folder, 'drover-code');
    const start = `exec "${process.execPath}" "${doublePath}" "${folder}" "$@"`;
    writeFileSync(program, `#!/bin/sh\n${start}\n`, { mode: 0o755 });
    const play = (script: DoubleScript): void =>
      writeFileSync(join(folder, 'script.json'), JSON.stringify(script));
    const print = (type: string, fields: object): { do: 'print'; text: string } => ({
      do: 'print',
      text: `${JSON.stringify({ ...fields, type, ts: '2026-01-02T03:04:05.1Z' })}\n`,
    });
    play({
      steps: [
        print('tool_start', { id: '1', name: 'write_file', input_summary: 'far.txt' }),
        { do: 'write', path: 'far.txt', text: 'work of far\n' },
        print('tool_done', { id: '1', name: 'write_file', output_summary: 'ok' }),
        print('usage', { total_input_tokens: 70, total_output_tokens: 7 }),
      ],
    });
    const env = {
      DROVER_AGENT_TYPE: 'drover-code',
      DROVER_AGENT_PATH: program,
      ANTHROPIC_API_KEY: 'key-0123456789',
      ANTHROPIC_AUTH_TOKEN: 'token-0123456789',
      GITHUB_TOKEN: 'never',
    };
    await beginPlan(here, ['far']);
    await here.expect(0, ['run'], { env });
    assert.equal(here.git('show', 'main:far.txt'), 'work of far');
    const call = readFileSync(join(folder, 'calls.ndjson'), 'utf8')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as DoubleCall)
      .find(({ argv }) => argv.length > 0);
    assert.ok(call !== undefined);
    assert.deepEqual(call.argv, [
      '--headless',
      '--prompt-file',
      '.drover-job/prompt',
      '--result-json',
      '.drover-job/result.json',
    ]);
    assert.match(Buffer.from(call.promptBase64 ?? '', 'base64').toString(), /Task id: far/);
    assert.equal(call.env['ANTHROPIC_API_KEY'], 'key-0123456789');
    assert.equal(call.env['ANTHROPIC_AUTH_TOKEN'], 'token-0123456789');
    assert.equal(call.env['DROVER_CODE_JSONL'], '1');
    assert.match(call.env['DROVER_CODE_TIMEOUT_SECS'] ?? '', /^\d+$/);
    assert.equal(call.env['GITHUB_TOKEN'], undefined);
    assert.equal(call.env['AGENT_TOKEN'], undefined);
    const told = await events(here, 'far');
    assert.equal(told.filter(({ type }) => type === 'tool_call').length, 1);
    assert.equal(told.findLast(({ type }) => type === 'usage')?.usage?.inputTokens, 70);
    // The limits of one run are not a reason for another try: exit code 4, with its result file.
    play({ exit: 4, result: { schema_version: 1, ok: false, error: 'token cap reached' } });
    const later = await here.add('Later');
    await here.expect(1, ['run'], { env });
    assert.match((await here.task(later)).last_error ?? '', /used up the tokens .* token cap/);
  });
});
