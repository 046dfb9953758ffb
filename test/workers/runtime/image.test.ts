// docs/drover-worker.Dockerfile: the files that it copies are built, nothing runs as root or holds
// a secret, and its entry point is a runtime.

import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { droverProgram } from '../../e2e/support/program.ts';
import { startProgram } from '../../e2e/support/run-program.ts';
import { removeFolder } from '../../remove-folder.ts';
import { runtimeProgram, runtimeToken } from '../support/runtime-process.ts';

const root = join(import.meta.dirname, '..', '..', '..');

interface Instruction {
  readonly name: string;
  readonly rest: string;
}

/** Instructions with their continued lines joined; comments are left out. */
function instructionsOf(text: string): readonly Instruction[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, rest] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      assert.ok(name !== undefined && rest !== undefined, `not an instruction: ${line}`);
      return { name, rest };
    });
}

suite("a worker's image", () => {
  const file = 'docs/drover-worker.Dockerfile';
  const instructions = instructionsOf(readFileSync(join(root, file), 'utf8'));
  const all = (name: string): readonly string[] =>
    instructions.filter((one) => one.name === name).map(({ rest }) => rest);

  test('its base has a version, packages leave no lists, and the user is not root', () => {
    assert.equal(instructions[0]?.name, 'FROM');
    assert.match(all('FROM').join(), /^node:\d+-[a-z-]+$/);
    assert.deepEqual(
      [...new Set(instructions.map(({ name }) => name))].toSorted(),
      ['COPY', 'ENTRYPOINT', 'EXPOSE', 'FROM', 'RUN', 'USER', 'WORKDIR'],
      'no ADD, and no ARG or ENV that could hold a secret',
    );
    for (const run of all('RUN').filter((one) => one.includes('apt-get install'))) {
      assert.match(run, /--yes --no-install-recommends .*rm -rf \/var\/lib\/apt\/lists/);
    }
    assert.deepEqual(all('USER'), ['node']);
  });

  test('the files that it copies are in the build, and the pages name the file', () => {
    for (const copied of all('COPY')) {
      const [from = '', to = ''] = copied.split(' ');
      assert.ok(existsSync(join(dirname(droverProgram()), basename(from))), from);
      assert.ok(to.startsWith('/'));
    }
    for (const page of ['docs/worker-runtime.md', 'docs/remote.md']) {
      assert.match(readFileSync(join(root, page), 'utf8'), /\(drover-worker\.Dockerfile\)/, page);
    }
  });

  test('its entry point serves the contract, and accepts the lifetime as an argument', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-image-'));
    const words = JSON.parse(all('ENTRYPOINT').join()) as string[];
    const [init, separator, node, program, ...args] = words;
    assert.deepEqual([init, separator, node], ['tini', '--', 'node']);
    const copied = all('COPY').map((one) => one.split(' ')[1]);
    assert.ok(copied.includes(program));
    const here = args.map((word) => word.replace(/^\/work\//, `${folder}/`));
    assert.notDeepEqual(here, args, 'the workspace is below the working folder');
    const running = startProgram({
      program: process.execPath,
      args: [runtimeProgram(), ...here, '--lifetime', '60s', '--json'],
      cwd: folder,
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: folder,
        TMPDIR: folder,
        AGENT_TOKEN: runtimeToken,
        AGENT_ADDR: '127.0.0.1:0',
      },
      timeoutMs: 60_000,
    });
    try {
      const { url } = JSON.parse(await running.line((line) => line.includes('listening'))) as {
        url: string;
      };
      const answer = await fetch(`${url}/health`, {
        headers: { authorization: `Bearer ${runtimeToken}` },
      });
      assert.deepEqual([answer.status, await answer.text()], [200, 'ok']);
    } finally {
      running.signal('SIGTERM');
      await running.ended;
      removeFolder(folder);
    }
  });
});
