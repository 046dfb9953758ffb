// Determines the commits that an undo removes from each line and the tasks that depend on them.
// Impossible undos are refused before anything starts.
//
// A task's landing is one commit of its line. An epic that lands as a whole has one merge commit on
// its target for each time it landed. An epic whose tasks land one by one consists of their
// commits. Landed work that depends on the reverted work stays: the user is informed beforehand,
// and the gate decides whether it works without it. If dependent work is running, the undo is
// refused until that has ended. Work that the forge merged is reverted on the forge, because a
// local revert would make the branch differ from the forge's.

import { landingRef } from '../../core/work/ref-names.ts';
import { trailer } from '../../core/work/trailers.ts';
import { Refusal } from '../../core/failure.ts';
import type { ForgeMerge } from '../../core/forge/pull-plan.ts';
import {
  readDependents,
  epicById,
  type EpicOnForge,
  epicOnForge,
  type EpicRow,
  flagsOfRun,
  lastAttempt,
  readLine,
  readRootTasks,
  type TaskRow,
} from '../../store/port.ts';
import { isHeld, requireRoot } from './controls.ts';
import type { ForgeUndo } from '../landing/pull-request.ts';
import { nextAction } from './next-action.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { chooseGateCommand, gateOfRun } from '../attempt/submission.ts';
import type { Sha } from '../../git/sha.ts';

/** One commit to revert, and the trailer that identifies it as Drover's. */
export interface Revert {
  readonly sha: Sha;
  /** Null if the forge made the commit. */
  readonly mark: string | null;
}

export interface UndoPlan {
  /** Id of the task or the epic. */
  readonly id: string;
  readonly title: string;
  readonly epicId: string | null;
  /** Tasks that are no longer landed after the undo. */
  readonly tasks: readonly { readonly id: string; readonly epoch: number; readonly landed: Sha }[];
  /** Newest first. */
  readonly reverts: readonly Revert[];
  readonly line: string;
  readonly gate: string | null;
  /** Set if the revert is sent to the forge, which merged the work. */
  readonly forge?: ForgeUndo;
}

/** Maximum number of commits searched for an epic's landings. */
const lineMax = 5_000;

const runningStatuses = new Set(['claimed', 'in_progress', 'needs_review', 'waiting']);

/** Plans an undo. Throws a refusal if it is impossible. */
export async function planUndo(
  engine: Uses<'git' | 'settings' | 'store'>,
  id: string,
): Promise<{ readonly plan: UndoPlan; readonly dependents: readonly string[] }> {
  const epic = await epicById(engine.store.db, id);
  const plan = epic === null ? await planTask(engine, id) : await planEpic(engine, epic);
  const undone = plan.tasks.map((task) => task.id);
  // Tasks of the epic are reverted with it, including those that were undone before.
  const found = await readDependents(engine.store.db, undone);
  const dependents = found.filter(({ epicId }) => epic === null || epicId !== epic.id);
  const running = dependents.find(({ status }) => runningStatuses.has(status));
  if (running !== undefined) {
    throw new Refusal(
      'bad_state',
      `${running.id} depends on ${id} and is ${running.status}; ${nextAction(running.id, running.status)}, then undo ${id}.`,
    );
  }
  return { plan, dependents: dependents.map((task) => task.id) };
}

async function planTask(engine: Uses<'git' | 'settings' | 'store'>, id: string): Promise<UndoPlan> {
  const row = await requireRoot(engine, id, 'undone');
  const { landed_sha: landed, landed_on: line, epic_id: epicId } = row;
  const onForge = epicId === null ? null : await mergedEpic(engine, epicId);
  if (row.status === 'completed' && onForge !== null) {
    throw new Refusal(
      'bad_state',
      `${id} was merged by ${namesOf(onForge)}, with all of ${epicId}. Run "drover undo ${epicId}", or revert ${id} by hand on the forge.`,
    );
  }
  if (row.status !== 'completed') {
    throw new Refusal(
      'bad_state',
      `${id} is ${row.status}. Only landed work can be undone; ${nextAction(id, row.status)}.`,
    );
  }
  if (landed === null || line === null) {
    throw new Refusal('bad_state', `${id} completed without a commit, so it has nothing to undo.`);
  }
  const attempt = await lastAttempt(engine.store.db, row.id);
  const run = await flagsOfRun(engine.store.db, attempt?.run_id ?? null);
  return {
    id,
    title: row.title,
    epicId: null,
    tasks: [{ id, epoch: row.epoch, landed }],
    reverts: [{ sha: landed, mark: trailer('task', id) }],
    line: await lineThatHolds(engine, line, landed),
    gate: chooseGateCommand(engine, run, row),
  };
}

async function planEpic(
  engine: Uses<'git' | 'settings' | 'store'>,
  epic: EpicRow,
): Promise<UndoPlan> {
  const { id } = epic;
  const rows = await readRootTasks(engine.store.db, id);
  const busy = rows.find((row) => isHeld(row) || row.status === 'needs_review');
  if (busy !== undefined) {
    throw new Refusal(
      'bad_state',
      `${busy.id} of ${id} is ${busy.status}; ${nextAction(busy.id, busy.status)}, then undo ${id}.`,
    );
  }
  const landed = rows.flatMap((row) => landedOf(row));
  const [first] = landed;
  if (first === undefined) {
    throw new Refusal(
      'bad_state',
      `No task of ${id} has landed, so it has nothing to undo. Run "drover epic show ${id}" to list its tasks.`,
    );
  }
  const attempt = await lastAttempt(engine.store.db, first.id);
  const run = await flagsOfRun(engine.store.db, attempt?.run_id ?? null);
  const plan = {
    id,
    title: epic.title,
    epicId: id,
    tasks: landed.map((task) => ({ id: task.id, epoch: task.epoch, landed: task.landed })),
    gate: gateOfRun(engine, run),
  };
  const onForge = await mergedEpic(engine, id);
  if (onForge !== null) return { ...plan, ...(await planOnForge(engine, epic, onForge)) };
  const line = await oneLine(engine, epic, landed);
  return { ...plan, reverts: await revertsOf(engine, epic, line, landed), line };
}

/** Returns null if the epic's work reached its target in another way. */
async function mergedEpic({ store }: Uses<'store'>, id: string): Promise<EpicOnForge | null> {
  const epic = await epicById(store.db, id);
  return epic?.landing_state === 'landed' ? epicOnForge(store.db, id) : null;
}

async function planOnForge(
  engine: Uses<'git' | 'store'>,
  { id, branch }: EpicRow,
  onForge: EpicOnForge,
): Promise<Pick<UndoPlan, 'reverts' | 'line' | 'forge'>> {
  const { merged: merges, base, runId, undo, undoCount: round } = onForge;
  if (undo !== null) {
    const remedy = `Merge it or close it; "drover pr ${id}" shows it.`;
    throw new Refusal('bad_state', `PR #${undo} already reverts ${id}. ${remedy}`);
  }
  for (const merge of merges) {
    if (await isWhole(engine, merge)) continue;
    const remedy = `Use the button "Revert" on the page of PR #${merge.number}.`;
    throw new Refusal(
      'bad_state',
      `PR #${merge.number} was merged as several commits, which Drover does not revert. ${remedy}`,
    );
  }
  const parent = branch === null ? null : await readLine(engine.store.db, branch);
  return {
    reverts: merges.map(({ commit }) => ({ sha: commit, mark: null })),
    line: parent?.parent_branch ?? base,
    forge: { merges, base, runId, round },
  };
}

/**
 * Whether the merge is a single commit that contains all of the work. A rebase would have put
 * further commits below it.
 */
async function isWhole({ git }: Uses<'git'>, { commit, head }: ForgeMerge): Promise<boolean> {
  const listed = await git.lineCommits(null, commit, 1);
  const parents = listed.ok ? (listed.value[0]?.parents ?? []) : [];
  const [before] = parents;
  if (before === undefined || parents.length > 1) return true;
  const base = await git.mergeBase(head, before);
  if (base === null) return true;
  const [wanted, done] = [
    await git.changedPaths(base, head),
    await git.changedPaths(before, commit),
  ];
  if (!wanted.ok || !done.ok) return true;
  return wanted.value.every((path) => done.value.includes(path));
}

function namesOf({ merged }: EpicOnForge): string {
  return merged.map(({ number }) => `PR #${number}`).join(' and ');
}

interface Landed {
  readonly id: string;
  readonly epoch: number;
  readonly landed: Sha;
  readonly landedOn: string;
}

function landedOf(row: TaskRow): readonly Landed[] {
  const { id, epoch, status, landed_sha: landed, landed_on: landedOn } = row;
  if (status !== 'completed' || landed === null || landedOn === null) return [];
  return [{ id, epoch, landed, landedOn }];
}

/**
 * All of the epic's work must be on the same line. Otherwise the epic has not landed as a whole
 * yet.
 */
async function oneLine(
  engine: Uses<'git' | 'store'>,
  epic: EpicRow,
  landed: readonly Landed[],
): Promise<string> {
  const lines = new Map<string, string>();
  for (const task of landed) {
    const line = await lineThatHolds(engine, task.landedOn, task.landed);
    if (!lines.has(line)) lines.set(line, task.id);
  }
  const [[line] = ['']] = lines;
  if (lines.size > 1) {
    const places = [...lines].map(([branch, task]) => `${task} on ${branch}`).join(', ');
    throw new Refusal(
      'bad_state',
      `The work of ${epic.id} is on several branches (${places}). Undo its tasks one by one.`,
    );
  }
  const parent = (await readLine(engine.store.db, line))?.parent_branch ?? null;
  if (parent !== null && line === epic.branch) {
    throw new Refusal(
      'bad_state',
      `${epic.id} has not landed on ${parent} yet. Undo its tasks one by one, or let its run finish first.`,
    );
  }
  return line;
}

async function revertsOf(
  engine: Uses<'git'>,
  epic: EpicRow,
  line: string,
  landed: readonly Landed[],
): Promise<readonly Revert[]> {
  const tip = await engine.git.readRef(landingRef(line));
  const listed = tip === null ? null : await engine.git.lineCommits(null, tip, lineMax);
  const commits = listed?.ok === true ? listed.value : [];
  const [mark, undone] = [trailer('epic', epic.id), trailer('undo', epic.id)];
  const end = commits.findIndex(({ trailers }) => trailers.includes(undone));
  const merges = (end === -1 ? commits : commits.slice(0, end))
    .filter(({ trailers }) => trailers.includes(mark))
    .map(({ sha }) => ({ sha, mark }));
  // If users rewrote the line, the merge may be gone and only the tasks' own commits remain.
  const alone = landed.filter((task) => task.landedOn === line || merges.length === 0);
  const own = alone.map((task) => ({ sha: task.landed, mark: trailer('task', task.id) }));
  return await newestFirst(
    engine,
    [...merges, ...own],
    commits.map(({ sha }) => sha),
  );
}

/**
 * Sorts the landings by their position on the line. A landing that another commit brought in is
 * compared with the others one by one.
 */
async function newestFirst(
  engine: Uses<'git'>,
  reverts: readonly Revert[],
  line: readonly Sha[],
): Promise<readonly Revert[]> {
  const placeOf = new Map(line.map((sha, place) => [sha, place]));
  const sorted: Revert[] = [];
  for (const revert of reverts) {
    const place = placeOf.get(revert.sha);
    let at = 0;
    for (const before of sorted) {
      const other = placeOf.get(before.sha);
      const isOlder =
        place !== undefined && other !== undefined
          ? place > other
          : await engine.git.isAncestor(revert.sha, before.sha);
      if (!isOlder) break;
      at += 1;
    }
    sorted.splice(at, 0, revert);
  }
  return sorted;
}

/**
 * The line with the work. An epic that landed as a whole has its work on its target, not on its own
 * line.
 */
async function lineThatHolds(
  engine: Uses<'git' | 'store'>,
  line: string,
  landed: Sha,
): Promise<string> {
  const known = await readLine(engine.store.db, line);
  const parent = known?.parent_branch ?? null;
  if (parent === null) return line;
  const tip = await engine.git.readRef(landingRef(parent));
  return tip !== null && (await engine.git.isAncestor(landed, tip)) ? parent : line;
}
