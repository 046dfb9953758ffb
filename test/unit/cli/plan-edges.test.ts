// spec: tasks of a plan that name the same files are shown, and wait for each other if a person wants that.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok } from '../../../server/core/failure.ts';
import type { Params } from '../../../server/protocol/api.ts';
import type { SpecPlanView } from '../../../server/protocol/spec-plan.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { memoryTerminal } from '../../doubles/terminal.ts';
import { removeFolder } from '../../remove-folder.ts';

const task = {
  epic_id: null,
  type: 'feature',
  priority: 'normal',
  blocked_by: [],
  acceptance_criteria: [],
} as const;

const plan: SpecPlanView = {
  source: 'api',
  model: 'a-model',
  usage: { input_tokens: 1, output_tokens: 2, cost_usd: null },
  epics: [],
  tasks: [
    { ...task, id: 'a', title: 'Store the cart', description: 'In `src/cart.ts`.' },
    { ...task, id: 'b', title: 'Empty the cart', description: 'In src/cart.ts, too.' },
  ],
  jsonl: '{"id":"a"}\n{"id":"b"}\n',
};

suite('spec: tasks that name the same files', () => {
  let folder = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-cli-'));
    writeFileSync(join(folder, 'design.md'), 'A design.\n');
  });
  teardown(() => removeFolder(folder));

  async function run(
    args: readonly string[],
    lines: readonly string[] | null,
  ): Promise<{ readonly text: string; readonly asked: string; readonly written: string }> {
    const imported = { epics: 0, tasks: 2 };
    const none = { unchanged: 0, differs: [], errors: [], warnings: [] };
    const world = memoryBackend(
      { import: () => ({ imported, ...none }) },
      { planFromSpec: async () => ok(plan) },
    );
    const terminal = memoryTerminal(world.backends, lines !== null);
    terminal.lines.push(...(lines ?? []));
    assert.equal(await terminal.run('spec', '-C', folder, 'design.md', ...args), 0);
    const last = world.calls.findLast(({ name }) => name === 'import') ?? assert.fail('no import');
    const { text: written } = last.params as Params<'import'>;
    return { text: terminal.stdout.text, asked: terminal.stderr.text, written };
  }

  test('they are listed with a dependency that "o" adds', async () => {
    const { text, asked, written } = await run([], ['o']);
    assert.match(text, /may\nconflict:\n {2}2 could wait for 1: src\/cart\.ts\n/);
    assert.match(asked, /o = yes, with these dependencies/);
    assert.equal(written, '{"id":"a"}\n{"id":"b","blocked_by":["a"]}\n');
  });

  test('they stay independent after a plain yes', async () => {
    assert.equal((await run([], ['y'])).written, plan.jsonl);
    assert.equal((await run(['--yes'], null)).written, plan.jsonl);
  });

  test('with --order, they wait for each other, and no warning remains', async () => {
    const { text, written } = await run(['--yes', '--order'], null);
    assert.match(text, /Empty the cart \(feature\)\n +after 1\n/);
    assert.doesNotMatch(text, /name the same files/);
    assert.equal(written, '{"id":"a"}\n{"id":"b","blocked_by":["a"]}\n');
  });
});
