// What is the person's and must be as they left it: branches and tags, stash, index, changed files, configuration, hooks.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stage } from './stage.ts';

export interface PersonFacts {
  readonly head: string;
  readonly refs: string;
  readonly stash: string;
  readonly staged: string;
  /** Status and content of each file that differs from the commit they are on. */
  readonly changed: string;
  readonly config: string;
  readonly hooks: string;
  readonly exclude: string;
}

const looksMax = 10;

/** Read again while a landing moves under the look. */
export function personFacts(stage: Stage): PersonFacts {
  let before = look(stage);
  for (let at = 0; at < looksMax; at += 1) {
    const again = look(stage);
    if (JSON.stringify(again) === JSON.stringify(before)) return again;
    before = again;
  }
  return before;
}

function look(stage: Stage): PersonFacts {
  const git = (...args: readonly string[]): string => stage.git(args) ?? '';
  const inGit = (path: string): string => {
    const full = join(stage.root, '.git', path);
    return existsSync(full) ? readFileSync(full, 'utf8') : '';
  };
  const hooks = join(stage.root, '.git', 'hooks');
  const head = inGit('HEAD').trim();
  return {
    head: head.startsWith('ref: ') ? head : 'detached',
    refs: git(
      'for-each-ref',
      '--format=%(refname) %(objectname)',
      'refs/heads',
      'refs/tags',
      'refs/remotes',
    )
      .split('\n')
      .filter(
        (line) =>
          !line.startsWith('refs/heads/main ') &&
          !/\/drover\/|heads\/(mine|side|lost)-t/.test(line),
      )
      .join('\n'),
    stash:
      existsSync(join(stage.root, '.git', 'refs', 'stash')) ||
      inGit('packed-refs').includes('refs/stash')
        ? git('stash', 'list', '--format=%H')
        : '',
    staged: git('--no-optional-locks', 'diff', '--cached', '--raw', '--abbrev=40').replace(
      /^:.{12} [0-9a-f]+ /gm,
      '',
    ),
    changed: git('--no-optional-locks', 'status', '--porcelain', '-uall')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => `${line} ${hashOf(join(stage.root, line.slice(3)))}`)
      .join('\n'),
    config: inGit('config'),
    hooks: existsSync(hooks) ? readdirSync(hooks).join(' ') : '',
    exclude: inGit('info/exclude'),
  };
}

function hashOf(path: string): string {
  return existsSync(path)
    ? createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)
    : 'gone';
}
