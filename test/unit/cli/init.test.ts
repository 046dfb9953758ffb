// drover init in a terminal: which of the agents and gates found it writes, and when it asks.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DoctorReport } from '../../../server/cli/backends.ts';
import type { SetupProposal } from '../../../server/core/work/gate-proposal.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';
import { memoryTerminal, type MemoryTerminal } from '../../doubles/terminal.ts';
import { removeFolder } from '../../remove-folder.ts';

const everything: SetupProposal = {
  asks: ['agent', 'gate', 'workers'],
  gate: { command: 'npm test', file: 'package.json' },
  workers: 4,
};
const agent = (kind: string, more: object = {}): DoctorReport['agents'][number] => {
  const found = { found: true, version: '1.0', signed_in: true, path: `/bin/${kind}` };
  return { kind, remedy: null, ...found, ...more };
};

suite('init in a terminal', () => {
  let root = '';
  setup(() => {
    root = mkdtempSync(join(tmpdir(), 'drover-init-'));
    writeFileSync(join(root, '.drover.toml'), '# A comment.\n');
  });
  teardown(() => removeFolder(root));

  const settings = (): string => readFileSync(join(root, '.drover.toml'), 'utf8');
  const terminal = (proposal: SetupProposal | null, lines: readonly string[], isTTY = true) => {
    const agents = [
      agent('claude', { signed_in: false }),
      agent('codex'),
      agent('amp', { broken: true }),
      agent('gemini', { found: false }),
      agent('demo'),
    ];
    const backend = { running: false, pid: null, version: null };
    const { backends } = memoryBackend(
      {},
      {
        initProject: async () => ({ root, database: 'd', already: proposal === null, proposal }),
        doctor: async () => ({ backend, checks: [], agents }),
      },
    );
    const made: MemoryTerminal = memoryTerminal(backends, isTTY);
    made.lines.push(...lines);
    return made;
  };

  test('Enter accepts the found agent and the found gate, and init recommends committing the file', async () => {
    const here = terminal(everything, ['', '']);
    assert.equal(await here.run('init'), 0);
    assert.match(
      settings(),
      /^# A comment\.\n\n\[agent\]\nkind = "codex"\n\n\[gate\]\ncommand = "npm test"\n$/,
    );
    assert.match(here.stdout.text, /Wrote agent codex and gate “npm test” to \.drover\.toml\./);
    assert.match(here.stdout.text, /\.drover\.toml is not tracked by git yet: commit it/);
    assert.doesNotMatch(here.stderr.text, /Amp|Gemini|Demo/);
  });

  test('another agent and another command can be entered', async () => {
    const here = terminal(everything, ['7', 'claude', 'make check']);
    await here.run('init');
    assert.match(settings(), /kind = "claude"\n\n\[gate\]\ncommand = "make check"/);
  });

  test('a project can have no gate', async () => {
    const here = terminal({ ...everything, asks: ['gate'] }, ['none']);
    await here.run('init');
    assert.equal(settings(), '# A comment.\n');
  });

  test('the end of the input keeps the defaults, and init reports that', async () => {
    const here = terminal(everything, ['']);
    assert.equal(await here.run('init'), 0);
    assert.equal(settings(), '# A comment.\n');
    assert.match(here.stdout.text, /The defaults are kept\./);
  });

  for (const [words, proposal, args, isTTY] of [
    ['--yes', everything, ['--yes'], true],
    ['without a terminal', everything, [], false],
    ['with --json', everything, ['--json'], true],
    ['for settings that have values', { ...everything, asks: [] }, [], true],
    ['in a project', null, [], true],
  ] as const) {
    test(`nothing is asked ${words}`, async () => {
      const here = terminal(proposal, ['never read'], isTTY);
      assert.equal(await here.run('init', ...args), 0);
      assert.deepEqual(here.lines, ['never read']);
      assert.equal(settings(), '# A comment.\n');
    });
  }
});
