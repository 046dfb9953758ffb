// Creates repositories with a given number of files once, copies of them for single runs, and the
// agent that all runs share.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const filesPerFolder = 50;

/**
 * Small repositories have larger files, which gives about 1, 40 and 100 MB for 100, 2,000 and
 * 50,000 files.
 */
function linesOfFile(files: number): number {
  if (files <= 500) return 1_000;
  return files <= 5_000 ? 2_000 : 200;
}

export function git(folder: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', folder, ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/** Returns the repository of that size below the folder, and creates it if it is missing. */
export function repositoryOf(folder: string, files: number): string {
  const path = join(folder, `repository-${files}`);
  if (existsSync(path)) return path;
  const unfinished = `${path}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  git(unfinished, 'init', '-q', '-b', 'main');
  nameUser(unfinished);
  for (let index = 0; index < files; index += 1) {
    const place = join(unfinished, 'src', `d${Math.floor(index / filesPerFolder)}`);
    if (index % filesPerFolder === 0) mkdirSync(place, { recursive: true });
    const text = `line ${index}\n`.repeat(linesOfFile(files));
    writeFileSync(join(place, `f${index}.txt`), text);
  }
  // Git's own background maintenance would interfere with the measurement.
  git(unfinished, 'config', 'gc.auto', '0');
  git(unfinished, 'config', 'maintenance.auto', 'false');
  git(unfinished, 'add', '-A');
  git(unfinished, 'commit', '-q', '-m', 'first');
  git(unfinished, 'gc', '-q');
  renameSync(unfinished, path);
  return path;
}

export function nameUser(repository: string): void {
  git(repository, 'config', 'user.name', 'Bench');
  git(repository, 'config', 'user.email', 'bench@localhost');
}

export interface RunFolder {
  readonly folder: string;
  readonly repository: string;
  readonly home: string;
  remove(): void;
}

/**
 * A copy with hard-linked objects whose target branch is not checked out anywhere, as in the
 * floor's own runs.
 */
export function copyOf(folder: string, source: string): RunFolder {
  const made = mkdtempSync(join(folder, 'run-'));
  const repository = join(made, 'repo');
  const home = join(made, 'home');
  mkdirSync(home);
  git(made, 'clone', '-q', '--no-checkout', source, repository);
  nameUser(repository);
  git(repository, 'symbolic-ref', 'HEAD', 'refs/heads/parking');
  return {
    folder: made,
    repository,
    home,
    remove: () => rmSync(made, { recursive: true, force: true }),
  };
}

/** An agent that only writes one file, named after its task. Both sides of a comparison run it. */
export function smallAgent(folder: string): string {
  return script(
    folder,
    'small-agent',
    'id=${DROVER_TASK_ID:-$TASK_ID}\nmkdir -p made\necho "$id" > "made/$id.txt"\n',
  );
}

export function script(folder: string, name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}`);
  chmodSync(path, 0o755);
  return path;
}
