// What kind of repository this is: where it lies, what is checked out, and what makes worktrees of it special.

import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { err, ok } from '../core/failure.ts';
import { failureOf, refuse } from './failures.ts';
import { isSha } from './loose-objects.ts';
import { absoluteBytes, splitZero } from './paths.ts';
import type { GitProcesses } from './process.ts';
import type { GitResult, RepositoryFacts } from './port.ts';
import { exists } from './small-files.ts';

export interface RepositoryPlace {
  readonly commonDir: string;
  readonly root: string;
  /** There is no main checkout; the root is the linked worktree that was opened. */
  readonly isBare: boolean;
  /** Keys in lower case as git prints them; of several values the last one. */
  readonly config: ReadonlyMap<string, string>;
}

type Run = GitProcesses['run'];

const maxAttributeFiles = 200;

/** Finds the main checkout from any folder inside it or inside one of its linked worktrees. */
export async function findRepository(run: Run, path: string): Promise<GitResult<RepositoryPlace>> {
  const located = await run({
    args: [
      'rev-parse',
      '--path-format=absolute',
      '--git-common-dir',
      '--git-dir',
      '--is-bare-repository',
    ],
    cwd: path,
  });
  if (located.problem !== null) return err(failureOf(located, `open ${path}`));
  if (located.code !== 0) {
    if (/dubious ownership/i.test(located.stderr)) {
      return refuse(
        'not_a_repository',
        `Git refuses ${path}, which belongs to somebody else: trust it with git config --global --add safe.directory ${path} (${failureOf(located, 'open it').message})`,
      );
    }
    return refuse(
      'not_a_repository',
      `${path} is not inside a git repository: run "git init" first.`,
    );
  }
  const [commonDir = '', gitDir = '', bare = ''] = located.stdout.toString('utf8').split('\n');
  if (bare === 'true') {
    return refuse('not_a_repository', `${path} is a bare repository: Drover needs a checkout.`);
  }
  const configured = await run({ args: ['config', '-z', '--list'], cwd: path });
  if (configured.code !== 0) return err(failureOf(configured, `read the configuration of ${path}`));
  const config = parseConfig(configured.stdout);
  const common = resolve(commonDir);
  const root = await mainRoot(run, path, common, resolve(gitDir), config);
  return ok({ commonDir: common, root, isBare: config.get('core.bare') === 'true', config });
}

async function mainRoot(
  run: Run,
  path: string,
  commonDir: string,
  gitDir: string,
  config: ReadonlyMap<string, string>,
): Promise<string> {
  const inMain = gitDir === commonDir;
  if (!inMain && config.get('core.bare') !== 'true') {
    const elsewhere = config.get('core.worktree');
    if (elsewhere) return resolve(commonDir, elsewhere);
    if (basename(commonDir) === '.git') return dirname(commonDir);
  }
  // A bare repository with worktrees around it has no main checkout: the worktree that was opened stands for it.
  const top = await run({
    args: ['rev-parse', '--path-format=absolute', '--show-toplevel'],
    cwd: path,
  });
  const shownTop = top.stdout.toString('utf8').replace(/\n$/, '');
  return top.code === 0 && shownTop !== '' ? resolve(shownTop) : dirname(commonDir);
}

/** What git's configuration says now, seen from one git folder; null where it can't be read. */
export async function readConfiguration(
  run: Run,
  cwd: string,
  gitDir: string,
): Promise<ReadonlyMap<string, string> | null> {
  const output = await run({ args: ['config', '-z', '--list'], cwd, env: { GIT_DIR: gitDir } });
  return output.code === 0 ? parseConfig(output.stdout) : null;
}

/** Reads `git config -z --list`: `key\nvalue\0`. */
export function parseConfig(output: Buffer): Map<string, string> {
  const config = new Map<string, string>();
  for (const item of output.toString('utf8').split('\0')) {
    if (item === '') continue;
    const end = item.indexOf('\n');
    config.set(end === -1 ? item : item.slice(0, end), end === -1 ? 'true' : item.slice(end + 1));
  }
  return config;
}

export async function readFacts(run: Run, place: RepositoryPlace): Promise<RepositoryFacts> {
  const { root, commonDir } = place;
  const [branch, head, attributes] = await Promise.all([
    run({ args: ['symbolic-ref', '-q', 'HEAD'], cwd: root }),
    run({ args: ['rev-parse', '--verify', '-q', 'HEAD^{commit}'], cwd: root }),
    run({ args: ['ls-files', '-z', '--', '.gitattributes', '**/.gitattributes'], cwd: root }),
  ]);
  const ref = branch.stdout.toString('utf8').trim();
  const sha = head.stdout.toString('utf8').trim();
  return {
    commonDir,
    root,
    headBranch: branch.code === 0 && ref.startsWith('refs/heads/') ? ref.slice(11) : null,
    headSha: isSha(sha) ? sha : null,
    hasSubmodules: exists(join(root, '.gitmodules')),
    usesLfs: await anyUsesLfs(root, commonDir, splitZero(attributes.stdout)),
  };
}

async function anyUsesLfs(
  root: string,
  commonDir: string,
  attributeFiles: readonly string[],
): Promise<boolean> {
  const files = [
    join(root, '.gitattributes'),
    join(commonDir, 'info', 'attributes'),
    ...attributeFiles.slice(0, maxAttributeFiles).map((path) => absoluteBytes(root, path)),
  ];
  for (const file of files) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (/^[^#\n]*\sfilter=lfs(?:\s|$)/m.test(text)) return true;
  }
  return false;
}
