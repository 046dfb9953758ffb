// Executes the action of a key, a VS Code command or a context menu on the tree.

import type { TaskView } from '../../server/protocol/views.ts';
import type { WebviewAction } from '../messages/messages.ts';
import { askForRun, type Host } from '../shared/host.ts';
import { moveByOne } from './drops.ts';
import type { TreeKey, TypeAhead } from './keys.ts';
import { blockOn, moveTo, type Drop } from '../shared/plan/places.ts';
import { rowId, rowTitle, type Row } from './rows.ts';
import { goTo, selectAll, selectOnly } from './selection.ts';
import type { TreePlan } from './tree-plan.ts';
import type { TreeState } from './tree-state.ts';

export interface TreeParts {
  readonly state: TreeState;
  readonly plan: TreePlan;
  readonly host: Host;
  readonly typed: TypeAhead;
  readonly pageRows: () => number;
  readonly fail: (words: string) => void;
  /** Opens the context menu of the active row. */
  readonly menu: () => void;
  readonly showFilter: () => void;
  readonly ran: (action: Promise<unknown>) => void;
}

export function runTreeKey(parts: TreeParts, key: TreeKey): void {
  const { state, plan } = parts;
  const row = state.activeRow;
  switch (key.kind) {
    case 'move':
      return goByKey(parts, key);
    case 'unfold':
      return unfold(state, row);
    case 'fold':
      return fold(state, row);
    case 'unfoldAll':
      if (row !== null) state.unfoldSiblings(row);
      return;
    case 'toggle':
      if (row !== null) state.selection = { ...state.selection, keys: toggled(state, row) };
      return;
    case 'selectAll':
      state.selection = selectAll(state.selection, state.keys);
      return;
    case 'escape':
      if (state.selection.active !== null) state.selection = selectOnly(state.selection.active);
      return;
    case 'undo':
      return plan.undo();
    case 'redo':
      return plan.redo();
    case 'menu':
      return parts.menu();
    case 'copy':
      return runTreeAction(parts, key.kind, []);
    case 'moveOut':
      return drop(parts, (board, ids) => moveTo(board, ids, outOf(board.tasks, ids)));
    case 'moveIn':
      return moveIn(parts);
    case 'type':
      return goByLetter(parts, key.text);
  }
}

/** `given`: the rows that a menu was opened on; absent for the selection. */
export function runTreeAction(
  parts: TreeParts,
  action: WebviewAction,
  given: readonly string[],
): void {
  const { state, plan, host, ran } = parts;
  if (given.length > 0) chooseIds(state, given);
  const isTyping = state.draft !== null || state.renaming !== null;
  switch (action) {
    case 'open':
      return openRow(parts, state.activeRow);
    case 'run':
      return ran(askForRun(host, epicOf(state.activeRow)));
    case 'newTask':
      // A VS Code command also arrives here from the field.
      return isTyping ? undefined : state.startDraft(state.draftHere());
    case 'newEpic':
      return isTyping ? undefined : state.startDraft({ kind: 'epic' });
    case 'rename':
      return rename(state);
    case 'remove':
      if (state.board !== null) plan.remove(state.board, state.selectedIds());
      return;
    case 'filter':
    case 'find':
      return parts.showFilter();
    case 'undo':
      return plan.undo();
    case 'redo':
      return plan.redo();
    case 'moveUp':
      return moveOne(parts, -1);
    case 'moveDown':
      return moveOne(parts, 1);
    case 'moveToEpic':
      return ran(pickEpic(parts));
    case 'addBlocker':
      return ran(pickBlocker(parts));
    case 'removeBlocker':
      return ran(unblock(parts));
    case 'duplicate':
      return duplicate(parts);
    case 'archive':
      return archive(parts);
    case 'collapseAll':
      return state.foldAll();
    case 'copy':
      return ran(host.action('copy', { text: state.selectedIds().join('\n') }));
    case 'focus':
    case 'place':
      return;
  }
}

/** Moves tasks among their siblings, or an epic among the epics. */
function moveOne(parts: TreeParts, step: -1 | 1): void {
  const { state, plan } = parts;
  const row = state.activeRow;
  if (state.selectedTasks().length === 0 && row?.kind === 'epic' && state.board !== null)
    return plan.moveEpic(state.board, row.epic.id, step);
  drop(parts, (board, ids) => moveByOne(board, ids, step));
}

function drop(
  parts: TreeParts,
  find: (board: NonNullable<TreeState['board']>, ids: readonly string[]) => Drop | null,
): void {
  const { state, plan } = parts;
  const ids = state.selectedTasks();
  if (state.board === null || ids.length === 0) return parts.fail('Choose a task first.');
  plan.drop(state.board, find(state.board, ids));
}

/** Moves out of the parent, then out of the epic. */
function outOf(
  tasks: readonly TaskView[],
  ids: readonly string[],
): { readonly epic: string | null; readonly parent: null; readonly before: null } {
  const first = tasks.find((task) => ids.includes(task.id));
  const epic = first !== undefined && first.parent_id !== null ? first.epic_id : null;
  return { epic, parent: null, before: null };
}

/** Moves into the epic above the row. */
function moveIn(parts: TreeParts): void {
  const { state } = parts;
  const epics = state.board?.epics ?? [];
  const first = state.board?.tasks.find((task) => state.selectedTasks().includes(task.id));
  const at = epics.findIndex((epic) => epic.id === first?.epic_id);
  const epic = epics[at - 1] ?? epics.at(-1);
  if (epic === undefined) return parts.fail('No epic to move it into.');
  drop(parts, (board, ids) => moveTo(board, ids, { epic: epic.id, parent: null, before: null }));
}

async function pickEpic(parts: TreeParts): Promise<void> {
  const { state, host } = parts;
  const ids = state.selectedTasks();
  if (ids.length === 0) return parts.fail('Choose a task first.');
  const epics = state.board?.epics ?? [];
  const items = [
    ...epics.map((epic) => ({ id: epic.id, label: epic.title, detail: epic.id })),
    { id: '', label: 'No epic' },
  ];
  const { id } = await host.action('pick', { title: 'Move to epic', items });
  if (id === null || state.board === null) return;
  const to = { epic: id === '' ? null : id, parent: null, before: null };
  parts.plan.drop(state.board, moveTo(state.board, ids, to));
}

async function pickBlocker(parts: TreeParts): Promise<void> {
  const { state, host } = parts;
  const ids = state.selectedTasks();
  if (ids.length === 0) return parts.fail('Choose a task first.');
  const items = (state.board?.tasks ?? [])
    .filter((task) => !ids.includes(task.id))
    .map((task) => ({ id: task.id, label: task.title, detail: task.id }));
  const { id } = await host.action('pick', { title: 'Wait for which task?', items });
  if (id === null || state.board === null) return;
  parts.plan.drop(state.board, blockOn(state.board, ids, id));
}

/** Asks for a task that the selected tasks wait for; with a single one, no choice is needed. */
async function unblock({ state, plan, host, fail }: TreeParts): Promise<void> {
  const { board } = state;
  const ids = state.selectedTasks();
  if (board === null || ids.length === 0) return fail('Choose a task first.');
  const chosen = board.tasks.filter(({ id }) => ids.includes(id));
  const blockers = new Set(chosen.flatMap(({ blocked_by }) => blocked_by));
  const items = board.tasks
    .filter(({ id }) => blockers.has(id))
    .map(({ id, title }) => ({ id, label: title }));
  const [only] = items;
  if (only === undefined) return fail('It waits for no other task.');
  const title = 'Stop waiting for which task?';
  const id = items.length === 1 ? only.id : (await host.action('pick', { title, items })).id;
  if (id !== null) plan.unblock(board, ids, id);
}

function duplicate({ state, plan, fail }: TreeParts): void {
  const { board } = state;
  const ids = state.selectedTasks();
  if (board === null || ids.length === 0) return fail('Choose a task first.');
  plan.duplicate(board, ids);
}

function archive({ state, plan, fail }: TreeParts): void {
  const { board } = state;
  const ids = state.selectedIds().filter((id) => board?.epics.some((epic) => epic.id === id));
  if (board === null || ids.length === 0) return fail('Choose an epic first.');
  plan.archive(board, ids);
}

function goByLetter({ state, typed }: TreeParts, letter: string): void {
  const at = typed.find(letter, state.rows.map(rowTitle), state.activeIndex, performance.now());
  if (at >= 0) state.selection = goTo(state.selection, state.keys, at, false);
}

function goByKey(parts: TreeParts, key: Extract<TreeKey, { kind: 'move' }>): void {
  const { state } = parts;
  const at = state.activeIndex;
  const page = Math.max(1, parts.pageRows() - 1);
  const targets = {
    up: at - 1,
    down: at + 1,
    pageUp: at - page,
    pageDown: at + page,
    home: 0,
    end: state.keys.length - 1,
  };
  state.selection = goTo(state.selection, state.keys, targets[key.to], key.extend);
}

function unfold(state: TreeState, row: Row | null): void {
  if (row === null || row.kind === 'draft' || row.expanded === null) return;
  if (!row.expanded) return state.unfold(row.key);
  state.selection = goTo(state.selection, state.keys, state.activeIndex + 1, false);
}

function fold(state: TreeState, row: Row | null): void {
  if (row === null) return;
  if (row.kind !== 'draft' && row.expanded === true) return state.fold(row.key);
  const parent = state.parentIndex(state.activeIndex);
  if (parent >= 0) state.selection = goTo(state.selection, state.keys, parent, false);
}

export function openRow(parts: TreeParts, row: Row | null): void {
  if (row === null) return;
  if (row.kind === 'task') parts.ran(parts.host.action('openStream', { task: row.task.id }));
  else parts.state.toggle(row);
}

/** Previews a row that is clicked once, like VS Code's own lists. */
export function previewRow(parts: TreeParts | null, row: Row): void {
  if (row.kind === 'task') parts?.ran(parts.host.action('previewTask', { task: row.task.id }));
}

function rename(state: TreeState): void {
  const row = state.activeRow;
  if (row === null || rowId(row) === null) return;
  state.draft = null;
  state.renaming = row.key;
  state.changed();
}

function toggled(state: TreeState, row: Row): ReadonlySet<string> {
  const keys = new Set(state.selection.keys);
  if (!keys.delete(row.key)) keys.add(row.key);
  return keys;
}

function chooseIds(state: TreeState, ids: readonly string[]): void {
  const wanted = new Set(ids);
  const keys = state.rows.filter((row) => wanted.has(rowId(row) ?? '')).map((row) => row.key);
  const [first] = keys;
  if (first === undefined) return;
  const isChosen = keys.every((key) => state.selection.keys.has(key));
  if (!isChosen) state.selection = { keys: new Set(keys), active: first, anchor: first };
}

function epicOf(row: Row | null): string | null {
  if (row?.kind === 'epic') return row.epic.id;
  return row?.kind === 'task' ? row.task.epic_id : null;
}
