// A public history as a plan, in which each commit is a task. Commits that change the same files,
// and all that change more than text and pictures, keep their order; the rest may run in parallel.

import { execFileSync } from 'node:child_process';
import { isSetupInput } from '../../server/core/work/setup-inputs.ts';

export interface ReplayedTask {
  readonly id: string;
  readonly commit: string;
  readonly title: string;
  readonly blocked_by: readonly string[];
}

export interface ReplayedHistory {
  /** The base of the first task. */
  readonly base: string;
  /** The expected tip of the line at the end. */
  readonly tip: string;
  readonly tasks: readonly ReplayedTask[];
  /** Number of different sets of manifests and lock files in the trees, including the base. */
  readonly setupStates: number;
}

/** Whether a change to it can change the gate's verdict. */
const isWords =
  /\.(?:md|rst|txt|svg|png|gif)$|^\.github\/|^docs\/|^(?:LICENSE|\.editorconfig|\.gitattributes)/;

const outputBytesMax = 256 * 1024 * 1024;

function git(repository: string, ...args: readonly string[]): string {
  return execFileSync('git', ['-C', repository, ...args], {
    encoding: 'utf8',
    maxBuffer: outputBytesMax,
  }).trimEnd();
}

/** The last `count` commits below `tip`, along first parents, that change something. */
export function readHistory(repository: string, tip: string, count: number): ReplayedHistory {
  const all = git(repository, 'rev-list', '--first-parent', '--min-parents=1', tip).split('\n');
  const commits: string[] = [];
  for (const commit of all) {
    if (commits.length === count) break;
    if (changedIn(repository, commit).length > 0) commits.unshift(commit);
  }
  const [first] = commits;
  if (first === undefined || commits.length < count)
    throw new Error(`${repository} has only ${commits.length} commits that change something`);
  const base = git(repository, 'rev-parse', `${first}^1`);
  const states = [base, ...commits].map((commit) => setupStateOf(repository, commit));
  return {
    base,
    tip: git(repository, 'rev-parse', `${tip}^{commit}`),
    tasks: asTasks(repository, commits),
    setupStates: new Set(states).size,
  };
}

function asTasks(repository: string, commits: readonly string[]): readonly ReplayedTask[] {
  const lastOf = new Map<string, string>();
  let lastOfCode: string | undefined;
  return commits.map((commit, at) => {
    const id = `c${String(at + 1).padStart(2, '0')}`;
    const paths = changedIn(repository, commit);
    const before = new Set(paths.map((path) => lastOf.get(path)));
    if (!paths.every((path) => isWords.test(path))) {
      before.add(lastOfCode);
      lastOfCode = id;
    }
    for (const path of paths) lastOf.set(path, id);
    const blockers = [...before].filter((blocker) => blocker !== undefined);
    const title = git(repository, 'log', '-1', '--format=%s', commit).slice(0, 200);
    return { id, commit, title, blocked_by: blockers };
  });
}

/** Paths that a commit changes compared with its first parent. */
export function changedIn(repository: string, commit: string): readonly string[] {
  const text = git(repository, 'diff-tree', '-r', '-z', '--name-only', `${commit}^1`, commit);
  return text.split('\0').filter((path) => path !== '');
}

function setupStateOf(repository: string, commit: string): string {
  const lines = git(repository, 'ls-tree', '-r', '-z', commit).split('\0');
  return lines.filter((line) => isSetupInput(line.slice(line.indexOf('\t') + 1))).join('\n');
}
