// Repositories for the tests in the extension host: small, real, and created again for each run.

import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const gitIdentity = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];

export function makeRepository(folder) {
  mkdirSync(folder, { recursive: true });
  execFileSync('git', ['init', '-q', '-b', 'main', folder]);
  const git = (...args) => execFileSync('git', ['-C', folder, ...gitIdentity, ...args]);
  git('config', 'user.name', 'Test');
  git('config', 'user.email', 'test@localhost');
  writeFileSync(join(folder, 'start.txt'), 'start\n');
  writeFileSync(
    join(folder, '.drover.toml'),
    '[agent]\nkind = "demo"\n\n[gate]\ncommand = "true"\n',
  );
  git('add', '-A');
  git('commit', '-q', '-m', 'Begin');
}

/** `drover` with its own minimal environment. */
export function drover(root, cli, args, home) {
  return execFileSync(process.execPath, ['--no-warnings', cli, ...args], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: home, XDG_RUNTIME_DIR: home },
  });
}
