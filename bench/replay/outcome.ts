// Reads the results of a run (its journal, its branch and its commits) as facts for the figures.

import type { Moment, Replay } from '../../test/replay/figures.ts';
import { git } from '../repositories.ts';
import type { WindowRun } from './window-run.ts';
import type { Noted } from './scripts.ts';

export interface Landed extends Moment {
  /** Null if the program does not report it. */
  readonly commit: string | null;
}

export interface Left
  extends WindowRun, Pick<Replay, 'conflicts' | 'forecast' | 'kills' | 'open' | 'unusedGateMs'> {
  readonly repository: string;
  readonly beganMs: number;
  readonly journal: readonly Noted[];
  readonly landed: readonly Landed[];
  readonly parallelGates: number | null;
}

export function asReplay(left: Left): Replay {
  const { journal, landed, beganMs, repository, window } = left;
  const starts = momentsOf(journal, 'start');
  const all = [...new Set(window.changes.flatMap(({ files }) => files))];
  const equal = all.filter(
    (path) => blobAt(repository, 'main', path) === blobAt(repository, window.tip, path),
  );
  return {
    mode: left.mode,
    tasks: left.tasks,
    parallelGates: left.parallelGates,
    starts,
    ends: momentsOf(journal, 'done'),
    landings: landed,
    wallMs: Math.max(0, ...landed.map(({ atMs }) => atMs)) - beganMs,
    gates: gatesOf(journal),
    conflicts: left.conflicts,
    unusedGateMs: left.unusedGateMs,
    forecast: left.forecast,
    kills: left.kills,
    lost: lostAmong(left, starts),
    equalPaths: equal.length,
    allPaths: all.length,
    isTreeEqual: treeOf(repository, 'main') === treeOf(repository, window.tip),
    open: left.open,
  };
}

function momentsOf(journal: readonly Noted[], what: Noted['what']): Moment[] {
  return journal.filter((each) => each.what === what).map(({ of: id, atMs }) => ({ id, atMs }));
}

/** A cancelled gate has no end: it is counted, but its time is not part of any mean. */
function gatesOf(journal: readonly Noted[]): Replay['gates'] {
  const begun = journal.filter(({ what }) => what === 'gate');
  const ended = journal.filter(({ what }) => what === 'pass' || what === 'fail');
  const spans = ended.flatMap(({ of: tree, atMs }) => {
    const start = begun.findLast((each) => each.of === tree && each.atMs <= atMs);
    return start === undefined ? [] : [atMs - start.atMs];
  });
  return {
    count: begun.length,
    meanMs: spans.reduce((sum, ms) => sum + ms, 0) / spans.length,
    red: ended.filter(({ what }) => what === 'fail').length,
  };
}

/**
 * Landed work that is not on the branch, or whose agent was started again afterwards; and tasks
 * without a landing or a known reason.
 */
function lostAmong({ landed, open, repository, tasks }: Left, starts: readonly Moment[]): string[] {
  const onBranch = new Set(git(repository, 'rev-list', 'main').split('\n'));
  const gone = landed.filter(({ commit }) => commit !== null && !onBranch.has(commit));
  const repeated = landed.filter(({ id, atMs }) =>
    starts.some((start) => start.id === id && start.atMs > atMs),
  );
  const known = new Set([...landed.map(({ id }) => id), ...open.map((line) => line.split(' ')[0])]);
  const unknown = tasks.filter(({ id }) => !known.has(id));
  return [...new Set([...gone, ...repeated, ...unknown].map(({ id }) => id))];
}

function treeOf(repository: string, revision: string): string {
  return git(repository, 'rev-parse', `${revision}^{tree}`);
}

function blobAt(repository: string, revision: string, path: string): string {
  return git(repository, 'ls-tree', '--', revision, `:(literal)${path}`).split('\t')[0] ?? '';
}
