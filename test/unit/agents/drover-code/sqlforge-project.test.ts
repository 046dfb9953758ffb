// sqlforge apply: the plan is shown first, and only the environment's own name, said by a person, lets it be applied. The
// first word of a name is the line of Drover Code's conformance checklist that it shows.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSqlforge } from '../../../../server/agents/drover-code/sqlforge-project.ts';
import { memoryBackend } from '../../../doubles/memory-backend.ts';
import { memoryTerminal, type MemoryTerminal } from '../../../doubles/terminal.ts';
import { removeFolder } from '../../../remove-folder.ts';

suite('sqlforge apply', () => {
  let folder = '';
  let log = '';
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-sqlforge-'));
    log = join(folder, 'calls');
    mkdirSync(join(folder, 'bin'));
    mkdirSync(join(folder, 'project', 'models'), { recursive: true });
    writeFileSync(join(folder, 'project', 'sqlforge.yml'), 'default_environment: dev\n');
    program('');
  });
  teardown(() => removeFolder(folder));

  function program(more: string): void {
    const script = `#!/bin/sh\necho "$PWD $*" >> '${log}'\n${more}\n`;
    writeFileSync(join(folder, 'bin', 'sqlforge'), script, { mode: 0o755 });
  }

  function calls(): string[] {
    return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [];
  }

  async function run(
    args: readonly string[],
    lines: readonly string[] | null,
  ): Promise<{ code: number; terminal: MemoryTerminal }> {
    const terminal = memoryTerminal(memoryBackend({}, { openSqlforge }).backends, lines !== null);
    terminal.env['PATH'] = `${join(folder, 'bin')}:/usr/bin:/bin`;
    terminal.lines.push(...(lines ?? []));
    const from = join(folder, 'project', 'models');
    const code = await terminal.run('sqlforge', 'apply', '-C', from, ...args);
    return { code, terminal };
  }

  const planned = (name: string): string => `${join(folder, 'project')} plan ${name}`;
  const applied = (name: string): string => `${join(folder, 'project')} apply ${name}`;

  test("S03 the plan is shown first, then applied once the environment's name was typed", async () => {
    const { code, terminal } = await run([], ['dev']);
    assert.equal(code, 0, terminal.stderr.text);
    assert.match(terminal.stderr.text, /Type "dev" to apply the plan above/);
    assert.deepEqual(calls(), [planned('dev'), applied('dev')]);
  });

  for (const line of ['', 'y', 'yes', 'prod', 'DEV', null]) {
    test(`S03 anything but its name applies nothing: ${JSON.stringify(line)}`, async () => {
      const { code, terminal } = await run(['dev'], line === null ? [] : [line]);
      assert.equal(code, 3);
      assert.match(terminal.stderr.text, /Nothing was applied/);
      assert.deepEqual(calls(), [planned('dev')]);
    });
  }

  test('S03 without a terminal, an option of the command confirms the environment', async () => {
    const silent = await run(['prod'], null);
    assert.equal(silent.code, 3);
    assert.match(silent.terminal.stderr.text, /--confirm prod/);
    assert.equal((await run(['prod', '--confirm', 'dev'], null)).code, 3);
    assert.deepEqual(calls(), [planned('prod')]);
    const { code, terminal } = await run(['prod', '--confirm', 'prod', '--json'], null);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(terminal.stdout.text), { environment: 'prod', applied: true });
    assert.deepEqual(calls().slice(1), [planned('prod'), applied('prod')]);
  });

  test('S03 a plan that fails is not applied', async () => {
    program('exit 4');
    const { code, terminal } = await run(['dev'], ['dev']);
    assert.equal(code, 1);
    assert.match(terminal.stderr.text, /exit code 4; nothing was applied/);
    assert.deepEqual(calls(), [planned('dev')]);
  });

  for (const name of ['dev; rm -rf /', '--help', '../prod', '']) {
    test(`S02 this is not an environment: ${JSON.stringify(name)}`, async () => {
      const { code, terminal } = await run(['--', name], ['dev']);
      assert.equal(code, 3, terminal.stderr.text);
      assert.match(terminal.stderr.text, /not the name of an environment/);
      assert.deepEqual(calls(), []);
    });
  }

  test('S02 an invalid default name is refused with the remedy', async () => {
    writeFileSync(join(folder, 'project', 'sqlforge.yml'), 'default_environment: dev; rm -rf /\n');
    const { code, terminal } = await run([], ['dev']);
    assert.equal(code, 3);
    assert.match(terminal.stderr.text, /drover sqlforge apply dev/);
    assert.deepEqual(calls(), []);
  });

  test('the missing parts are listed', async () => {
    rmSync(join(folder, 'bin', 'sqlforge'));
    assert.match((await run([], ['dev'])).terminal.stderr.text, /sqlforge was not found/);
    rmSync(join(folder, 'project', 'sqlforge.yml'));
    const { code, terminal } = await run([], ['dev']);
    assert.equal(code, 3);
    assert.match(terminal.stderr.text, /No sqlforge\.yml/);
  });
});
