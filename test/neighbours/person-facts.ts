// The person's own state, which must be unchanged: branches and tags, stash, index, changed files,
// configuration, hooks.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { landingRef } from '../../server/core/work/ref-names.ts';
import { readPlain } from '../../server/files/small-files.ts';
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
  /**
   * Lines of `staged` and `changed` that a landing has written and that are arriving now, or have
   * yet to arrive.
   */
  readonly arriving: readonly string[];
}

/** Every line that belongs to the person. */
export function ownLines(text: string, { arriving }: PersonFacts): string {
  return text
    .split('\n')
    .filter((line) => !arriving.includes(line))
    .join('\n');
}

const looksMax = 10;

/** Read again if a landing moves during the check. */
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
  const staged = git('--no-optional-locks', 'diff', '--cached', '--raw', '--abbrev=40').replace(
    /^:\d+ \d+ [0-9a-f]+ /gm,
    '',
  );
  const changed = git('--no-optional-locks', 'status', '--porcelain', '-uall')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${line} ${hashOf(join(stage.root, line.slice(3)))}`)
    .join('\n');
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
    staged,
    changed,
    config: inGit('config'),
    hooks: existsSync(hooks) ? readdirSync(hooks).join(' ') : '',
    exclude: inGit('info/exclude'),
    arriving: arrivingOf(stage, staged, changed),
  };
}

/**
 * Between index and branch, and until a pending switch has been checked again, the checkout has the
 * landed changes, or lacks them. All of these are in files that a person leaves to agents, or match
 * the landed version.
 */
function arrivingOf(stage: Stage, staged: string, changed: string): readonly string[] {
  const line = stage.git(['for-each-ref', '--format=%(objectname)', landingRef('main')]) ?? '';
  if (line === '' || `${staged}${changed}` === '') return [];
  const landed = new Map<string, string>();
  const tree = stage.git(['ls-tree', '-r', line]) ?? '';
  for (const [, blob = '', path = ''] of tree.matchAll(/^\d+ blob ([0-9a-f]+)\t(.*)$/gm))
    landed.set(path, blob);
  const isAgents = (path: string): boolean => /^(?:src\/)?t\d/.test(path);
  const index = staged.split('\n').filter((entry) => {
    const [, blob = '', status, path = ''] = /^([0-9a-f]+) (\w)\t(.*)$/.exec(entry) ?? [];
    return status === 'D' ? isAgents(path) : landed.get(path) === blob;
  });
  const inIndex = new Set(index.map((entry) => entry.slice(entry.indexOf('\t') + 1)));
  const files = changed.split('\n').filter((entry) => {
    const path = entry.slice(3, entry.lastIndexOf(' '));
    if (inIndex.has(path) && entry[1] === ' ') return true;
    return entry.endsWith(' gone') ? isAgents(path) : landed.get(path) === blobOf(stage, path);
  });
  return [...index, ...files];
}

function blobOf(stage: Stage, path: string): string | undefined {
  const content = readPlain(join(stage.root, path));
  if (content === null) return undefined;
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex');
}

function hashOf(path: string): string {
  return existsSync(path)
    ? createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)
    : 'gone';
}
