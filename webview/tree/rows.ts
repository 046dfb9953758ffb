// The rows of the task tree: epics with their tasks, then tasks without an epic, each with its
// sub-tasks. It makes one pass over the board, so that ten thousand tasks become rows within a
// frame.

import type { TaskStatus } from '../../server/core/plan/state.ts';
import { taskAbove } from '../../server/protocol/candidates.ts';
import { askingTasks, epicNeed, taskNeed } from '../../server/protocol/needs.ts';
import type { EpicView, RunView, StatusSnapshot, TaskView } from '../../server/protocol/views.ts';

/** View settings of a person, never facts of the board. */
export interface TreeLook {
  /** Keys of collapsed rows. */
  readonly collapsed: ReadonlySet<string>;
  readonly text: string;
  /** Empty: every state. */
  readonly statuses: ReadonlySet<TaskStatus>;
  /** Only tasks that wait for a person. */
  readonly needsYou: boolean;
  /** Only archived epics, which are hidden otherwise. */
  readonly archived: boolean;
  /** The position of a new task or epic whose title is being entered. */
  readonly draft: Draft | null;
  /** Shows the group of tasks without an epic even if it is empty, as a drop target. */
  readonly showLoose: boolean;
}

export type Draft =
  | { readonly kind: 'epic' }
  | {
      readonly kind: 'task';
      readonly epic: string | null;
      readonly parent: string | null;
      /** The sibling above which it is placed. If null, it is placed below all of them. */
      readonly before: string | null;
    };

interface Place {
  readonly key: string;
  readonly level: number;
  readonly position: number;
  readonly setSize: number;
}

export type Row = Place &
  (
    | { readonly kind: 'epic'; readonly epic: EpicView; readonly expanded: boolean | null }
    | { readonly kind: 'loose'; readonly count: number; readonly expanded: boolean | null }
    | {
        readonly kind: 'task';
        readonly task: TaskView;
        readonly expanded: boolean | null;
        /** The number of its candidates to choose from. */
        readonly candidates: number;
      }
    | { readonly kind: 'draft'; readonly draft: Draft }
  );

export const looseKey = 'loose';
export const epicKey = (id: string): string => `epic/${id}`;
export const taskKey = (id: string): string => `task/${id}`;

export const emptyLook: TreeLook = {
  collapsed: new Set(),
  text: '',
  statuses: new Set(),
  needsYou: false,
  archived: false,
  draft: null,
  showLoose: false,
};

interface Children {
  readonly ofEpic: ReadonlyMap<string, TaskView[]>;
  readonly loose: TaskView[];
  readonly ofTask: ReadonlyMap<string, TaskView[]>;
}

export function buildRows(board: StatusSnapshot, look: TreeLook): readonly Row[] {
  const shown = shownTasks(board, look);
  const children = childrenOf(board.tasks, shown);
  const isFiltered = shown !== null;
  const epics = board.epics.filter((epic) =>
    isShown(epic, look, board.run, children.ofEpic, isFiltered),
  );
  const hasLoose = children.loose.length > 0 || look.showLoose || isLooseDraft(look.draft);
  const asGroup = board.epics.length > 0 || look.draft?.kind === 'epic';
  const writer = new RowWriter(children, look, isFiltered);
  const newEpic = look.draft?.kind === 'epic' ? 1 : 0;
  const roots = asGroup ? epics.length + newEpic + (hasLoose ? 1 : 0) : children.loose.length;
  for (const [index, epic] of epics.entries()) writer.epic(epic, index + 1, roots);
  if (newEpic === 1)
    writer.rows.push({
      kind: 'draft',
      draft: { kind: 'epic' },
      key: 'draft',
      level: 1,
      position: epics.length + 1,
      setSize: roots,
    });
  if (!asGroup) writer.tasks(children.loose, 1, null, null);
  else if (hasLoose) writer.loose(roots, roots);
  return writer.rows;
}

/** Archived epics are shown by their own filter, and during a search. */
function isShown(
  epic: EpicView,
  look: TreeLook,
  run: RunView | null,
  ofEpic: Children['ofEpic'],
  isFiltered: boolean,
): boolean {
  const isArchived = epic.status === 'closed';
  if (look.archived && !isArchived) return false;
  if (isArchived && !look.archived && look.text.trim() === '') return false;
  if (!isFiltered || ofEpic.has(epic.id)) return true;
  if (look.needsYou) return epicNeed(epic, run) !== null;
  return look.statuses.size === 0 && matches(epic.title, look.text);
}

function isLooseDraft(draft: Draft | null): boolean {
  return draft?.kind === 'task' && draft.epic === null && draft.parent === null;
}

class RowWriter {
  readonly rows: Row[] = [];
  readonly #children: Children;
  readonly #look: TreeLook;
  readonly #isFiltered: boolean;

  constructor(children: Children, look: TreeLook, isFiltered: boolean) {
    this.#children = children;
    this.#look = look;
    this.#isFiltered = isFiltered;
  }

  epic(epic: EpicView, position: number, setSize: number): void {
    const key = epicKey(epic.id);
    const tasks = this.#children.ofEpic.get(epic.id) ?? [];
    const draft = this.#draftIn(epic.id, null);
    const expanded = this.#expanded(key, tasks.length > 0 || draft !== null, draft !== null);
    this.rows.push({ kind: 'epic', epic, key, level: 1, position, setSize, expanded });
    if (expanded === true) this.tasks(tasks, 2, epic.id, null);
  }

  loose(position: number, setSize: number): void {
    const { loose } = this.#children;
    const draft = this.#draftIn(null, null);
    const expanded = this.#expanded(looseKey, loose.length > 0 || draft !== null, draft !== null);
    const row = { kind: 'loose', count: loose.length, key: looseKey, level: 1 } as const;
    this.rows.push({ ...row, position, setSize, expanded });
    if (expanded === true) this.tasks(loose, 2, null, null);
  }

  tasks(
    tasks: readonly TaskView[],
    level: number,
    epic: string | null,
    parent: string | null,
  ): void {
    const draft = this.#draftIn(epic, parent);
    const setSize = tasks.length + (draft === null ? 0 : 1);
    const found = tasks.findIndex(({ id }) => draft?.kind === 'task' && draft.before === id);
    const draftAt = found === -1 ? tasks.length : found;
    for (let at = 0; at < setSize; at += 1) {
      const task = draft === null || at < draftAt ? tasks[at] : tasks[at - 1];
      if (draft !== null && at === draftAt)
        this.rows.push({ kind: 'draft', draft, key: 'draft', level, position: at + 1, setSize });
      else if (task !== undefined) this.#task(task, level, at + 1, setSize);
    }
  }

  #task(task: TaskView, level: number, position: number, setSize: number): void {
    const key = taskKey(task.id);
    const parts = this.#children.ofTask.get(task.id) ?? [];
    const draft = this.#draftIn(task.epic_id, task.id);
    const expanded = this.#expanded(key, parts.length > 0 || draft !== null, draft !== null);
    const live = parts.filter((part) => part.candidate !== null && part.status !== 'cancelled');
    const row = { kind: 'task', task, key, level, position, setSize, expanded } as const;
    this.rows.push({ ...row, candidates: live.length });
    if (expanded === true) this.tasks(parts, level + 1, task.epic_id, task.id);
  }

  /** Null if it has no children. While a filter is active, all matches are shown. */
  #expanded(key: string, hasChildren: boolean, hasDraft: boolean): boolean | null {
    if (!hasChildren) return null;
    return this.#isFiltered || hasDraft || !this.#look.collapsed.has(key);
  }

  #draftIn(epic: string | null, parent: string | null): Draft | null {
    const { draft } = this.#look;
    if (draft?.kind !== 'task' || draft.parent !== parent) return null;
    return parent !== null || draft.epic === epic ? draft : null;
  }
}

/** Returns null without a filter, otherwise the matching tasks with all their parents. */
function shownTasks(board: StatusSnapshot, look: TreeLook): ReadonlySet<string> | null {
  const { tasks } = board;
  const text = look.text.trim();
  const isAll = look.statuses.size === 0 && !look.needsYou && !look.archived;
  if (text === '' && isAll) return null;
  const archived = new Set(look.archived ? archivedEpics(board) : []);
  const asking = look.needsYou ? askingTasks(board) : new Set<string>();
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const shown = new Set<string>();
  for (const task of tasks) {
    if (look.statuses.size > 0 && !look.statuses.has(task.status)) continue;
    if (look.archived && !archived.has(task.epic_id ?? '')) continue;
    if (look.needsYou && taskNeed(task) === null && !asking.has(task.id)) continue;
    const fits =
      matches(task.title, text) ||
      matches(task.id, text) ||
      task.labels.some((one) => matches(one, text));
    if (!fits) continue;
    for (let at: TaskView | undefined = task; at !== undefined && !shown.has(at.id);) {
      shown.add(at.id);
      at = byId.get(taskAbove(at) ?? '');
    }
  }
  return shown;
}

function archivedEpics({ epics }: StatusSnapshot): readonly string[] {
  return epics.filter(({ status }) => status === 'closed').map(({ id }) => id);
}

function matches(value: string, text: string): boolean {
  return text === '' || value.toLowerCase().includes(text.toLowerCase());
}

function childrenOf(tasks: readonly TaskView[], shown: ReadonlySet<string> | null): Children {
  const ofEpic = new Map<string, TaskView[]>();
  const ofTask = new Map<string, TaskView[]>();
  const loose: TaskView[] = [];
  for (const task of tasks) {
    if (shown !== null && !shown.has(task.id)) continue;
    const above = taskAbove(task);
    if (above !== null) append(ofTask, above, task);
    else if (task.epic_id !== null) append(ofEpic, task.epic_id, task);
    else loose.push(task);
  }
  return { ofEpic, loose, ofTask };
}

function append(lists: Map<string, TaskView[]>, key: string, task: TaskView): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [task]);
  else list.push(task);
}

/** The task or epic of a row. Returns null if it has none. */
export function rowId(row: Row): string | null {
  switch (row.kind) {
    case 'epic':
      return row.epic.id;
    case 'task':
      return row.task.id;
    case 'loose':
    case 'draft':
      return null;
  }
}

export function rowTitle(row: Row): string {
  switch (row.kind) {
    case 'epic':
      return row.epic.title;
    case 'task':
      return row.task.title;
    case 'loose':
      return 'Without an epic';
    case 'draft':
      return '';
  }
}
