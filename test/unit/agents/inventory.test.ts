// Which agents `drover doctor` finds, and which programs it must not start to find out.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type InventoryRequest, lookForAgents } from '../../../server/agents/inventory.ts';
import { askVersion } from '../../../server/agents/kit/process/program-version.ts';
import { agentKinds } from '../../../server/core/plan/task.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('inventory of agents', () => {
  let folder = '';
  setup(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-inventory-')));
    mkdirSync(join(folder, 'repo'));
  });
  teardown(() => removeFolder(folder));

  const program = (path: string, body: string): string => {
    const full = join(folder, path);
    mkdirSync(dirname(full), { recursive: true });
    writeFileSync(full, `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    return full;
  };
  const look = async (more: Partial<InventoryRequest> = {}) => {
    const entries = await lookForAgents({
      env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin` },
      home: join(folder, 'home'),
      baseDir: join(folder, 'repo'),
      projectDir: join(folder, 'repo'),
      named: {},
      version: '1.2.3',
      ...more,
    });
    return new Map(entries.map((entry) => [entry.kind, entry]));
  };

  test("every kind has an entry, and a missing agent's entry says how to get it", async () => {
    const found = await look();
    assert.deepEqual([...found.keys()], [...agentKinds]);
    assert.match(found.get('codex')?.remedy ?? '', /npm install -g/u);
    assert.match(found.get('command')?.remedy ?? '', /DROVER_AGENT_PATH/u);
    const demo = { found: true, version: '1.2.3', signedIn: null, path: null, remedy: null };
    assert.deepEqual(found.get('demo'), { kind: 'demo', ...demo });
  });

  test('found programs are listed with version, path and login', async () => {
    const codex = program('bin/codex-acp', 'echo "codex-acp 0.9.1"');
    const gemini = program('bin/gemini', 'echo 0.30.0-rc.1');
    program('bin/amp', 'exit 1');
    mkdirSync(join(folder, 'home/.gemini'), { recursive: true });
    writeFileSync(join(folder, 'home/.gemini/oauth_creds.json'), '{}');
    const found = await look();
    const { remedy, ...rest } = found.get('codex') ?? {};
    assert.deepEqual(rest, {
      kind: 'codex',
      found: true,
      version: '0.9.1',
      signedIn: false,
      path: codex,
    });
    assert.match(remedy ?? '', /codex login/u);
    assert.deepEqual(found.get('gemini'), {
      kind: 'gemini',
      found: true,
      version: '0.30.0-rc.1',
      signedIn: true,
      path: gemini,
      remedy: null,
    });
    assert.deepEqual([found.get('amp')?.found, found.get('amp')?.version], [true, null]);
    assert.match(
      found.get('amp')?.remedy ?? '',
      /does not report its version: it ended with exit code 1\.$/,
    );
    assert.equal(found.get('amp')?.isBroken, true);
    const keyed = await look({ env: { PATH: join(folder, 'bin'), OPENAI_API_KEY: 'x' } });
    assert.equal(keyed.get('codex')?.signedIn, true);
  });

  test('a program that does not report its version is shown with its output instead', async () => {
    program('bin/amp', 'echo "node: bad option" >&2; exit 9');
    program('bin/gemini', ':');
    program('bin/opencode', 'echo hello');
    const found = await look();
    const said = (kind: 'amp' | 'gemini' | 'opencode'): string => found.get(kind)?.remedy ?? '';
    assert.match(said('amp'), /it ended with exit code 9 and printed “node: bad option”\.$/);
    assert.match(said('gemini'), /does not report its version: it printed nothing\./);
    assert.match(said('opencode'), /does not report its version: it printed “hello”\./);
    assert.deepEqual(
      [found.get('amp')?.isBroken, found.get('gemini')?.isBroken],
      [true, undefined],
    );
    const slow = program('bin/slow', 'sleep 60');
    const env = { PATH: '/usr/bin:/bin' };
    const answer = await askVersion({ program: slow, env, timeoutMs: 200 });
    assert.deepEqual([answer.ran, answer.reason], [false, 'it did not end within 0.2 s']);
  });

  test('Claude Code itself reports whether a user is signed in', async () => {
    const answer = (account: object): string =>
      `[ "$1" = --version ] && { echo 2.1.329; exit; }; read -r line; echo '${JSON.stringify({ response: { response: { account } } })}'`;
    program('bin/claude', answer({ tokenSource: 'none' }));
    const out = (await look()).get('claude');
    assert.deepEqual([out?.version, out?.signedIn], ['2.1.329', false]);
    program('bin/claude', answer({ tokenSource: 'claude.ai' }));
    assert.equal((await look()).get('claude')?.signedIn, true);
  });

  test('programs that the project contains or names are found but not started', async () => {
    const mark = join(folder, 'started');
    const leaves = `touch ${mark}`;
    program('repo/tools/evil', leaves);
    program('repo/node_modules/.bin/gemini', leaves);
    const env = { PATH: `${join(folder, 'repo/node_modules/.bin')}:.:/usr/bin:/bin` };
    const named = { claude: { path: './tools/evil', byPerson: false } };
    const found = await look({ env, named });
    for (const kind of ['claude', 'gemini'] as const) {
      const entry = found.get(kind);
      assert.deepEqual([entry?.found, entry?.version, entry?.signedIn], [true, null, null], kind);
      assert.match(entry?.remedy ?? '', /the project contains or names/u);
    }
    assert.equal(existsSync(mark), false);
    // The same program, named by the person.
    await look({ env, named: { codex: { path: './tools/evil', byPerson: true } } });
    assert.equal(existsSync(mark), true);
  });
});
