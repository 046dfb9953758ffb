// Stages of a gate: which of them a change needs, and what a verdict on a tree says about them.

import assert from 'node:assert/strict';
import {
  decodeStages,
  encodeStages,
  gateTitle,
  neededStages,
} from '../../../server/core/settings/gate-stages.ts';
import { parseSettingsText } from '../../../server/config/toml-file.ts';
import { resolveSettings } from '../../../server/core/settings/settings-resolve.ts';
import { gateVerdict, keepGateVerdict } from '../../../server/store/port.ts';
import { memoryStore } from '../store/memory-store.ts';

const lint = { name: 'lint', command: 'make lint', paths: [] };
const docs = { name: 'docs', command: 'make docs', paths: ['docs', '*.md'] };
const gate = encodeStages([lint, docs]);

type Texts = { readonly user?: string; readonly project?: string };

function resolve({ user = '', project = '' }: Texts): ReturnType<typeof resolveSettings> {
  return resolveSettings([
    { source: 'user', entries: parseSettingsText(user, 'user').entries },
    { source: 'project', entries: parseSettingsText(project, 'project').entries },
  ]);
}

suite('stages of a gate', () => {
  const inline = 'docs = { command = "make docs", paths = ["docs", "*.md"] }';
  const lines = `[gate.stages]\nlint = "make lint"\n${inline}`;
  const table = '[gate.stages.docs]\ncommand = "make docs"\npaths = ["docs", "*.md"]';
  const one = '[gate]\ncommand = "make"';
  const written: readonly (readonly [string, Texts, string])[] = [
    ['lines', { project: lines }, gate],
    ['tables', { project: `[gate]\nstages.lint = "make lint"\n${table}` }, gate],
    ['a higher layer than a command', { user: one, project: lines }, gate],
    ['a lower layer than a command', { user: lines, project: one }, 'make'],
    ['beside an empty command', { project: `[gate]\ncommand = ""\n${lines}` }, gate],
  ];
  for (const [name, texts, expected] of written)
    test(`are read from ${name}`, () => {
      const { problems, settings } = resolve(texts);
      assert.deepEqual([problems, settings.gate.command], [[], expected]);
    });

  const nine = Array.from({ length: 9 }, (_, at) => `a${at} = "make"`).join('\n');
  const faults: readonly (readonly [string, RegExp])[] = [
    ['[gate]\ncommand = "make"\nstages.a = "b"', /are both set\. Remove one of them/],
    ['[gate]\nstages = "make"', /`gate\.stages` is `make`; expected at most 8 stages/],
    [`[gate.stages]\n${nine}`, /expected at most 8 stages/],
    ['[gate.stages]\n"a b" = "make"', /expected .*; "a b" is no name/],
    ['[gate.stages]\na = ""', /expected a command in the stage "a"/],
    ['[gate.stages]\na = 1', /expected a command in the stage "a"/],
    ['[gate.stages.a]\ncommand = "b"\npaths = ["/etc"]', /paths inside the project in the stage/],
    [
      '[gate.stages.a]\ncommand = "b"\npath = "c"',
      /command and paths in the stage "a", not "path"/,
    ],
  ];
  for (const [text, message] of faults)
    test(`refuse ${JSON.stringify(text.slice(0, 60))}`, () => {
      const { problems } = resolve({ project: text });
      assert.equal(problems.length, 1);
      assert.match(problems[0]?.message ?? '', message);
    });

  test('are kept in the text of the gate, which is shown by their names', () => {
    assert.deepEqual(decodeStages(gate), [lint, docs]);
    assert.equal(gateTitle(gate), 'stages lint, docs');
    assert.equal(decodeStages('make stages'), null);
    assert.equal(gateTitle('make stages'), 'make stages');
  });

  const cases: readonly (readonly [readonly string[], readonly string[]])[] = [
    [['src/a.ts'], ['lint']],
    [['docs/guide.txt'], ['lint', 'docs']],
    [
      ['src/a.ts', 'packages/a/README.md'],
      ['lint', 'docs'],
    ],
    [[], ['lint']],
  ];
  for (const [changed, needed] of cases)
    test(`a change of ${changed.join(', ') || 'nothing'} needs ${needed.join(' and ')}`, () => {
      const found = neededStages(gate, changed);
      assert.deepEqual(
        decodeStages(found.gate ?? '')?.map(({ name }) => name),
        needed,
      );
      assert.equal(found.skipped.length, 2 - needed.length);
    });

  test('a gate none of whose stages is needed is no gate; one command is always needed', () => {
    assert.equal(neededStages(encodeStages([docs]), ['src/a.ts']).gate, null);
    assert.deepEqual(neededStages('make', []), { gate: 'make', skipped: [] });
  });

  test('a tree on which a stage was skipped is not known to pass the whole gate', async () => {
    const { store, close } = await memoryStore();
    const keep = (command: string, ok: 0 | 1): Promise<void> =>
      store.transaction((tx) =>
        keepGateVerdict(tx, {
          tree_sha: 't',
          command,
          ok,
          exit_code: 1 - ok,
          duration_ms: 5,
          output_tail: '',
          flaky: 0,
          at_ms: 1,
        }),
      );
    await keep('make lint', 1);
    assert.equal(await gateVerdict(store.db, 't', gate), null);
    assert.equal((await gateVerdict(store.db, 't', encodeStages([lint])))?.ok, 1);
    await keep('make docs', 1);
    assert.equal((await gateVerdict(store.db, 't', gate))?.ok, 1);
    await keep('make docs', 0);
    assert.equal((await gateVerdict(store.db, 't', gate))?.command, 'make docs');
    await close();
  });
});
