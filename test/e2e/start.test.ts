// The cost of a command before it does anything: reading the plan starts no other program.

import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { StatusSnapshot } from '../../server/protocol/api.ts';
import { droverProgram } from './support/program.ts';
import { useProjects } from './support/suite-projects.ts';

suite('the start of a command', function () {
  this.timeout(120_000);
  const project = useProjects({ isEachProcess: true });

  test('reading and changing the plan do not start git', async () => {
    const here = project();
    await here.expect(0, ['init']);
    here.write('bin/git', `#!/bin/sh\necho "$*" >> '${here.folder}/asked.txt'\nexit 1\n`);
    chmodSync(join(here.folder, 'bin/git'), 0o755);
    const env = { PATH: `${join(here.folder, 'bin')}:${here.env['PATH'] ?? ''}` };
    await here.expect(0, ['add', 'One'], { env });
    const { tasks, target } = await here.json<StatusSnapshot>(['status'], { env });
    const id = tasks[0]?.id ?? '';
    for (const args of [['show', id], ['why', id], ['events'], ['export'], ['status', '--tree']]) {
      await here.expect(0, args, { env });
    }
    assert.equal(existsSync(join(here.folder, 'asked.txt')), false);
    assert.deepEqual([target?.branch, target?.sha], ['main', here.git('rev-parse', 'main').trim()]);
  });

  test('git is used for facts that the files do not contain', async () => {
    const here = project();
    await here.expect(0, ['init']);
    here.git('checkout', '-q', '--detach');
    assert.equal((await here.status()).target, null);
    here.git('checkout', '-q', 'main');
    here.git('pack-refs', '--all');
    here.git('symbolic-ref', 'refs/heads/same', 'refs/heads/main');
    const sha = here.git('rev-parse', 'main').trim();
    assert.equal((await here.status()).target?.sha, sha);
    here.write('repo/.drover.toml', '[land]\ntarget = "same"\n');
    assert.deepEqual((await here.status()).target, { branch: 'same', sha, pending: 0 });
  });

  test('compiled code is stored beside the bundles, but is not required', async () => {
    const here = project();
    const env = { NODE_DISABLE_COMPILE_CACHE: '1' };
    await here.expect(0, ['init'], { env });
    assert.match(await here.expect(0, ['status'], { env }), /0 running/);
    await here.expect(0, ['status']);
    const folder = join(dirname(droverProgram()), '.compiled');
    assert.ok(readdirSync(folder).length > 0);
  });

  test('a run loads nothing that opens a database', async () => {
    const here = project();
    await here.expect(0, ['init']);
    const folder = join(here.folder, 'compiled');
    const env = { NODE_COMPILE_CACHE: folder };
    await here.expect(0, ['run'], { env });
    await here.expect(0, ['server', 'stop']);
    const kept = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    const ofRun = kept.filter((name) => name.includes('-cli-main-lean-part-'));
    assert.ok(
      ofRun.some((name) => name.endsWith('-part-client.cjs')),
      kept.join(' '),
    );
    assert.deepEqual(
      ofRun.filter((name) => name.endsWith('-part-local.cjs')),
      [],
    );
  });

  test("a command's compiled code is stored atomically, and regenerated if it is damaged", async () => {
    const here = project();
    await here.expect(0, ['init']);
    const folder = join(here.folder, 'compiled');
    const env = { NODE_COMPILE_CACHE: folder };
    const kept = (): Map<string, Buffer> => {
      const all = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      const names = all.filter((name) => basename(name).startsWith('drover-'));
      return new Map(names.map((name) => [name, readFileSync(join(folder, name))]));
    };
    await here.expect(0, ['status'], { env });
    const first = kept();
    // A few large files, because opening a file costs more than running most of them.
    assert.ok(first.size >= 3 && first.size <= 12, [...first.keys()].join(' '));
    await here.expect(0, ['status'], { env });
    assert.deepEqual(kept(), first, 'a known command keeps nothing more');

    for (const [at, [name, bytes]] of [...first].entries()) {
      const damaged = [
        bytes.subarray(0, bytes.length >> 1),
        Buffer.alloc(bytes.length),
        Buffer.of(),
      ];
      writeFileSync(join(folder, name), damaged[at % 3] ?? '');
    }
    assert.match(await here.expect(0, ['status'], { env }), /0 running/);
    for (const [name, bytes] of kept()) {
      const { length = 0 } = first.get(name) ?? {};
      assert.ok(Math.abs(bytes.length - length) < length / 4, `${name} is not whole again`);
    }
    const words = (): string[] => [...kept().values()].map((bytes) => bytes.toString('latin1'));
    await here.expect(0, ['events'], { env });
    assert.ok(words().some((text) => text.includes('"words":["status","events"]')));
    await here.expect(64, ['no-such-command'], { env });
    assert.ok(!words().some((text) => text.includes('no-such-command')));
  });

  test('the version and the help need no project, no repository and no PATH', async () => {
    const here = project();
    const alone = { cwd: here.folder, env: { PATH: '/nonexistent' } };
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
    assert.equal(await here.expect(0, ['--version'], alone), `${version}\n`);
    assert.match(await here.expect(0, ['--help'], alone), /Usage: drover/);
    assert.match(await here.expect(0, ['completion', 'bash'], alone), /complete/);
  });
});
