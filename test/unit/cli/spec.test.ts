// spec: the request to the planner, the questions to a person, and the files written.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PlanFromSpecOptions } from '../../../server/cli/backends.ts';
import { displayWidth } from '../../../server/cli/render/fit.ts';
import { planText } from '../../../server/cli/render/plan-text.ts';
import { err, failure, ok } from '../../../server/core/failure.ts';
import type { ImportResultView } from '../../../server/protocol/api.ts';
import type { SpecPlanView } from '../../../server/protocol/spec-plan.ts';
import { memoryBackend, type MemoryBackend } from '../../doubles/memory-backend.ts';
import { memoryTerminal, type MemoryTerminal } from '../../doubles/terminal.ts';
import { removeFolder } from '../../remove-folder.ts';

const task: SpecPlanView['tasks'][number] = {
  id: 'task-aaaaaaaa',
  epic_id: 'epic-aaaaaaaa',
  title: 'Store \u001b[31mlinks\u001b[0m',
  description: 'All of it.',
  type: 'feature',
  priority: 'high',
  blocked_by: [],
  acceptance_criteria: [
    'A link that was stored is found again after the server was killed and started',
  ],
};

const plan: SpecPlanView = {
  source: 'api',
  model: 'a-model',
  usage: { input_tokens: 1, output_tokens: 2, cost_usd: null },
  epics: [{ id: 'epic-aaaaaaaa', title: 'Short links', description: '' }],
  tasks: [
    task,
    { ...task, id: 'task-bbbbbbbb', title: '短い名前を作る', priority: 'normal', type: 'test' },
    {
      ...task,
      id: 'task-cccccccc',
      epic_id: null,
      title: `Describe ${'everything '.repeat(12)}`,
      blocked_by: ['task-bbbbbbbb', 'task-aaaaaaaa'],
    },
  ],
  jsonl: '{"id":"task-aaaaaaaa"}\n',
};

const written: ImportResultView = {
  imported: { epics: 1, tasks: 3 },
  unchanged: 0,
  differs: [],
  errors: [],
  warnings: [],
};

suite('spec', () => {
  let folder = '';
  let asked: PlanFromSpecOptions[] = [];
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-cli-'));
    asked = [];
    writeFileSync(join(folder, 'design.md'), 'A design.\n');
  });
  teardown(() => removeFolder(folder));

  function backend(answer: ImportResultView = written): MemoryBackend {
    return memoryBackend(
      { import: () => answer },
      {
        planFromSpec: async (options) => {
          asked.push(options);
          return ok(plan);
        },
      },
    );
  }

  /** For each import, whether it was only a check. */
  function dryRuns(world: MemoryBackend): unknown[] {
    return world.calls
      .filter(({ name }) => name === 'import')
      .map(({ params }) => (params as { dry_run: boolean }).dry_run);
  }

  async function run(
    world: MemoryBackend,
    args: readonly string[],
    lines: readonly string[] | null,
  ): Promise<{ code: number; terminal: MemoryTerminal }> {
    const terminal = memoryTerminal(world.backends, lines !== null);
    terminal.lines.push(...(lines ?? []));
    const code = await terminal.run('spec', '-C', folder, ...args);
    return { code, terminal };
  }

  test('a person sees the plan and agrees, and it is written once', async () => {
    const world = backend();
    const { code, terminal } = await run(world, ['design.md'], ['y']);
    assert.equal(code, 0);
    assert.deepEqual(dryRuns(world), [true, false]);
    assert.match(terminal.stderr.text, /Add 1 epic and 3 tasks to the project\?/);
    assert.match(terminal.stdout.text, /Short links[\s\S]*Store links[\s\S]*Added 1 epic and 3/);
    assert.deepEqual(asked[0]?.documents, [{ name: 'design.md', text: 'A design.\n' }]);
    assert.equal(asked[0]?.one_epic, false);
    assert.equal(asked[0]?.model, null);
  });

  for (const line of ['n', '', 'yesterday', null]) {
    test(`any answer but yes writes nothing: ${JSON.stringify(line)}`, async () => {
      const world = backend();
      const { code, terminal } = await run(world, ['design.md'], line === null ? [] : [line]);
      assert.equal(code, 3);
      assert.deepEqual(dryRuns(world), [true]);
      assert.match(terminal.stderr.text, /Nothing was written/);
    });
  }

  test('a plan can be saved for editing instead, but never over another one', async () => {
    for (const name of ['plan.jsonl', 'plan-2.jsonl']) {
      const world = backend();
      const { code, terminal } = await run(world, ['design.md'], ['s']);
      assert.equal(code, 0);
      assert.deepEqual(dryRuns(world), [true]);
      assert.ok(terminal.stdout.text.includes(`drover import ${name}`));
      assert.equal(readFileSync(join(folder, name), 'utf8'), plan.jsonl);
    }
  });

  test('with --json, only JSON is on standard output, even when a person is asked', async () => {
    const world = backend();
    const { code, terminal } = await run(
      world,
      ['design.md', '--json', '--epic', '--model', 'other'],
      ['YES'],
    );
    assert.equal(code, 0);
    const answer = JSON.parse(terminal.stdout.text) as { imported: unknown; file: unknown };
    assert.deepEqual(answer.imported, { epics: 1, tasks: 3 });
    assert.equal(answer.file, null);
    assert.match(terminal.stderr.text, /Short links/);
    assert.equal(asked[0]?.one_epic, true);
    assert.equal(asked[0]?.model, 'other');
  });

  test('a folder stands for its text files by name, and standard input has its own name', async () => {
    mkdirSync(join(folder, 'docs'));
    for (const name of ['b.md', 'a.txt', 'c.png']) writeFileSync(join(folder, 'docs', name), name);
    const { code } = await run(backend(), ['docs', '-', '--dry-run'], null);
    assert.equal(code, 0);
    assert.deepEqual(
      asked[0]?.documents.map(({ name }) => name),
      [join('docs', 'a.txt'), join('docs', 'b.md'), 'design'],
    );
  });

  const refused: readonly (readonly [string, readonly string[], number, RegExp])[] = [
    ['no terminal', ['design.md'], 3, /--yes .* --out <file> .* --dry-run/],
    [
      'no such file',
      ['no.md', '--yes'],
      3,
      /design no\.md cannot be read: the file does not exist/,
    ],
    ['an empty folder', ['empty', '--yes'], 3, /folder empty has no \.md or \.txt file/],
    ['a file in the way', ['design.md', '--out', 'design.md'], 3, /already exists/],
    ['a folder that is not there', ['design.md', '-o', 'no/p.jsonl'], 3, /cannot be written to no/],
    ['yes and a dry run', ['design.md', '--yes', '--dry-run'], 64, /cannot be used with/],
    ['no file', ['--yes'], 64, /missing required argument/],
  ];
  for (const [what, args, code, sentence] of refused) {
    test(`it refuses before it asks a model: ${what}`, async () => {
      mkdirSync(join(folder, 'empty'));
      const done = await run(backend(), args, null);
      assert.equal(done.code, code);
      assert.match(done.terminal.stderr.text, sentence);
      assert.deepEqual(asked, []);
      assert.equal(readFileSync(join(folder, 'design.md'), 'utf8'), 'A design.\n');
    });
  }

  test('a plan that the project refuses is not written, and the sentence names the task', async () => {
    const error = {
      line: 2,
      code: 'differs',
      kind: 'differs',
      id: 'task-aaaaaaaa',
      message: 'is there',
    } as const;
    const world = backend({ ...written, errors: [error] });
    const { code, terminal } = await run(world, ['design.md', '--yes'], null);
    assert.equal(code, 3);
    assert.match(terminal.stderr.text, /task-aaaaaaaa is there/);
    assert.deepEqual(dryRuns(world), [true]);
  });

  test('a provider that fails is a failure of the command, and the new file is removed', async () => {
    const world = memoryBackend(
      {},
      { planFromSpec: async () => err(failure('agent_auth', 'The key is wrong.')) },
    );
    const { code, terminal } = await run(
      world,
      ['design.md', '--out', 'plan.jsonl', '--json'],
      null,
    );
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(terminal.stdout.text), {
      error: { kind: 'agent_auth', message: 'The key is wrong. Nothing was written.' },
    });
    assert.ok(!existsSync(join(folder, 'plan.jsonl')));
  });

  test('Ctrl-C cancels the request to the model', async () => {
    const held: { interrupt: () => void } = { interrupt: () => undefined };
    const world = memoryBackend(
      {},
      {
        planFromSpec: async ({ signal }) => {
          held.interrupt();
          assert.ok(signal.aborted);
          return err(failure('interrupted', 'Interrupted.'));
        },
      },
    );
    const terminal = memoryTerminal(world.backends);
    held.interrupt = () => terminal.interrupt();
    assert.equal(await terminal.run('spec', '-C', folder, 'design.md', '--yes'), 130);
    assert.deepEqual(dryRuns(world), []);
  });

  test('the preview fits into 80 columns and refers backward by number', () => {
    const text = planText(plan, { width: 80, paint: (_tone, line) => line });
    const lines = text.split('\n');
    assert.deepEqual(
      lines.filter((line) => displayWidth(line) > 80),
      [],
    );
    assert.deepEqual(lines.slice(0, 3), [
      'Epic: Short links',
      '  1  Store links (feature, high)',
      '     - A link that was stored is found again after the server was killed and',
    ]);
    assert.ok(lines.includes('No epic'));
    assert.ok(lines.includes('     after 1, 2'));
  });
});
