// Commands run on the Node that the project brings, whatever npm has changed and whichever Node
// called them.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { removeFolder } from '../../remove-folder.ts';

const root = resolve(import.meta.dirname, '..', '..', '..');
const launcher = join(root, 'bin', 'node24.mjs');

/**
 * These run on any Node from 20 on: scripts that npm itself runs, and tools that are not part of
 * Drover.
 */
const anyNode = new Set([
  'prepare',
  'prepack',
  'postpack',
  'build',
  'typecheck',
  'lint',
  'format',
  'format:check',
  'check',
  'release:check',
  'release:build',
  'release:publish',
  'release:dry',
  'nightly:issue',
]);

suite('the Node of the project', () => {
  test('every script that needs it requests it', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>;
    };
    const needing = Object.keys(scripts).filter((name) => !anyNode.has(name));
    assert.ok(needing.includes('test') && needing.includes('demo'));
    for (const name of needing) {
      assert.match(
        scripts[name] ?? '',
        /(^|&& )node bin\/node24\.mjs \S+\.(ts|[cm]?js)\b[^&]*$/u,
        name,
      );
    }
  });

  test('it is found among the packages, gets the arguments, is "node" for its children, and its exit ends the launcher', () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-node24-'));
    try {
      const platform = process.platform === 'win32' ? 'win' : process.platform;
      const prefix =
        process.platform === 'darwin' && process.arch === 'arm64' ? 'node-bin' : 'node';
      const own = join(folder, 'node_modules', `${prefix}-${platform}-${process.arch}`);
      mkdirSync(join(own, 'bin'), { recursive: true });
      for (const name of ['node24.mjs', 'system.mjs']) {
        cpSync(join(root, 'bin', name), join(folder, 'bin', name));
      }
      writeFileSync(join(own, 'package.json'), '{}');
      const script = `#!/bin/sh\necho "own $* by $(command -v node)"\nexit 7\n`;
      writeFileSync(join(own, 'bin', 'node'), script, { mode: 0o755 });
      const done = spawnSync(process.execPath, ['bin/node24.mjs', 'a.ts', '--b', 'c d'], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin' },
      });
      assert.equal(done.stdout, `own a.ts --b c d by ${join(own, 'bin', 'node')}\n`);
      assert.equal(done.status, 7);
    } finally {
      removeFolder(folder);
    }
  });

  test('it runs the program itself in its folder, with the original arguments', () => {
    const program = join('test', 'runner', 'main.ts');
    const done = spawnSync(process.execPath, [launcher, program, 'no-such-suite'], {
      cwd: root,
      encoding: 'utf8',
      env: { PATH: '/usr/bin:/bin' },
    });
    assert.match(done.stderr, /^no-such-suite: no such suite or file/u);
    assert.equal(done.status, 2);
  });
});
