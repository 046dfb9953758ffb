// The content of the tree and its selected rows. Depends on the board and a person's choices, not
// on the page.

import { countsByEpic, noTasks, type OutcomeCounts } from '../../server/core/plan/outcome.ts';
import { askingTasks, needsByEpic } from '../../server/protocol/needs.ts';
import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';
import type { RowLook } from './row-template.ts';
import { buildRows, emptyLook, epicKey, rowId, looseKey, type Draft, type Row } from './rows.ts';
import { patchRows } from './patch-rows.ts';
import { keepPresent, noSelection, selectOnly, type Selection } from './selection.ts';
import { listFilteredStatuses, type StatusFilter } from './status-filter.ts';
import type { TreeMemory } from './tree-memory.ts';

export class TreeState {
  rows: readonly Row[] = [];
  keys: readonly string[] = [];
  selection: Selection = noSelection;
  text: string;
  filter: StatusFilter;
  hasBar: boolean;
  draft: Draft | null = null;
  /** The row whose title is being edited. */
  renaming: string | null = null;
  isDragging = false;
  /** The first visible row. */
  top: string | null;
  /** The selection from before a reload, until the rows are loaded. */
  #remembered: Selection | null;
  readonly #collapsed: Set<string>;
  /** Tasks whose agent waits for an answer. */
  asking: ReadonlySet<string> = new Set();
  /** How many items of an epic wait for a person. */
  #needs: ReadonlyMap<string, number> = new Map();
  #counts: ReadonlyMap<string | null, OutcomeCounts> = new Map();
  #board: StatusSnapshot | null = null;
  /** Keyed by id, once requested. */
  #titles: ReadonlyMap<string, string> | null = null;
  #isStale = true;
  /** Indexes of `keys`, once requested. */
  #indexOf: ReadonlyMap<string, number> | null = null;
  /** Each row is selected as soon as the board contains it. */
  #awaited: readonly string[] = [];
  /** The position of entered titles until their rows are selected, and the active row. */
  #added: { readonly draft: Draft; readonly active: string | null; readonly count: number } | null =
    null;

  constructor(memory: TreeMemory) {
    this.#collapsed = new Set(memory.collapsed);
    this.text = memory.text;
    this.filter = memory.filter;
    this.hasBar = memory.hasBar;
    this.top = memory.top;
    const { active, selected } = memory;
    this.#remembered = active === null ? null : { keys: new Set(selected), active, anchor: active };
  }

  /** Figures of an epic's tasks, and the tasks that a task waits for. */
  figuresOf(row: Row): Pick<RowLook, 'counts' | 'needs' | 'after'> {
    const id = row.kind === 'epic' ? row.epic.id : null;
    return {
      counts: (id === null ? null : this.#counts.get(id)) ?? noTasks,
      needs: (id === null ? null : this.#needs.get(id)) ?? 0,
      after: row.kind === 'task' ? this.#waitsFor(row.task) : [],
    };
  }

  #waitsFor({ status, waits_for: ids }: TaskView): readonly string[] {
    if (status !== 'blocked' || ids.length === 0) return [];
    this.#titles ??= new Map(this.#board?.tasks.map(({ id, title }) => [id, title]));
    return ids.map((id) => this.#titles?.get(id) ?? id);
  }

  get memory(): TreeMemory {
    const { text, filter, hasBar, top } = this;
    const { keys, active } = this.#remembered ?? this.selection;
    return {
      collapsed: [...this.#collapsed],
      text,
      filter,
      hasBar,
      selected: [...keys],
      active,
      top,
    };
  }

  get board(): StatusSnapshot | null {
    return this.#board;
  }

  /** Creates the rows again if something has changed. */
  update(board: StatusSnapshot | null): void {
    if (board === this.#board && !this.#isStale) return;
    const patched = this.#isStale ? null : this.#patched(board);
    if (board !== this.#board) {
      this.asking = board === null ? new Set() : askingTasks(board);
      this.#needs = board === null ? new Map() : needsByEpic(board);
      this.#counts = board === null ? new Map() : countsByEpic(board);
    }
    if (board !== this.#board) this.#titles = null;
    this.#board = board;
    this.#isStale = false;
    if (patched !== null) {
      this.rows = patched;
      return;
    }
    this.#indexOf = null;
    const before = this.keys;
    this.rows =
      board === null
        ? []
        : buildRows(board, {
            ...emptyLook,
            collapsed: this.#collapsed,
            text: this.hasBar ? this.text : '',
            statuses: this.hasBar ? listFilteredStatuses(this.filter) : new Set(),
            needsYou: this.hasBar && this.filter === 'asks',
            archived: this.hasBar && this.filter === 'archived',
            draft: this.draft,
            showLoose: this.isDragging,
          });
    this.keys = this.rows.map((row) => row.key);
    if (this.#remembered !== null && board !== null) {
      if (this.selection.active === null) this.selection = this.#remembered;
      this.#remembered = null;
    }
    const present = new Set(this.keys);
    const arrived = this.#awaited.filter((key) => present.has(key));
    const newest = arrived.at(-1);
    if (newest !== undefined) {
      this.selection = selectOnly(newest);
      this.#awaited = this.#awaited.filter((key) => !present.has(key));
      const added = this.#added;
      const count = (added?.count ?? 0) - arrived.length;
      this.#added = added === null || count <= 0 ? null : { ...added, active: newest, count };
    } else {
      this.selection = keepPresent(this.selection, before, this.keys);
    }
  }

  /**
   * Returns null if all rows must be created again, because text or state determine which rows a
   * filter shows.
   */
  #patched(board: StatusSnapshot | null): readonly Row[] | null {
    const isFiltered = this.hasBar && (this.text.trim() !== '' || this.filter !== 'all');
    if (board === null || this.#board === null || isFiltered || this.#awaited.length > 0)
      return null;
    this.#indexOf ??= new Map(this.keys.map((key, index) => [key, index]));
    return patchRows(this.rows, this.#indexOf, this.#board, board);
  }

  changed(): void {
    this.#isStale = true;
  }

  await(key: string): void {
    this.#awaited = [...this.#awaited, key];
    this.changed();
  }

  get activeIndex(): number {
    return this.selection.active === null ? -1 : this.keys.indexOf(this.selection.active);
  }

  /** The row with the title field, or -1. */
  get fieldIndex(): number {
    if (this.draft === null && this.renaming === null) return -1;
    return this.keys.indexOf(this.renaming ?? 'draft');
  }

  get activeRow(): Row | null {
    return this.rows[this.activeIndex] ?? null;
  }

  /** Selected tasks and epics, in the order of the rows. */
  selectedIds(): readonly string[] {
    return this.rows.flatMap((row) => {
      const id = this.selection.keys.has(row.key) ? rowId(row) : null;
      return id === null ? [] : [id];
    });
  }

  selectedTasks(): readonly string[] {
    return this.rows.flatMap((row) =>
      row.kind === 'task' && this.selection.keys.has(row.key) ? [row.task.id] : [],
    );
  }

  fold(key: string): void {
    this.#collapsed.add(key);
    this.changed();
  }

  unfold(key: string): void {
    this.#collapsed.delete(key);
    this.changed();
  }

  toggle(row: Row): void {
    if (row.kind === 'draft' || row.expanded === null) return;
    if (row.expanded) this.fold(row.key);
    else this.unfold(row.key);
  }

  foldAll(): void {
    for (const row of this.rows)
      if (row.kind !== 'draft' && row.expanded !== null) this.#collapsed.add(row.key);
    this.changed();
  }

  unfoldSiblings(of: Row): void {
    for (const row of this.rows) if (row.level === of.level) this.#collapsed.delete(row.key);
    this.changed();
  }

  /**
   * A new task is added at the end of the active epic, or right below the active task. Titles that
   * are entered one after another keep their order, even while the first is still on its way to the
   * board.
   */
  draftHere(): Draft {
    const added = this.#added;
    if (added !== null && added.active === this.selection.active) return added.draft;
    const row = this.activeRow;
    if (row?.kind !== 'task') return draftAtEnd(row?.kind === 'epic' ? row.epic.id : null);
    const { epic_id: epic, parent_id: parent } = row.task;
    const siblings = (this.#board?.tasks ?? []).filter((task) =>
      parent === null
        ? task.parent_id === null && task.epic_id === epic
        : task.parent_id === parent,
    );
    const at = siblings.findIndex(({ id }) => id === row.task.id);
    return { kind: 'task', epic, parent, before: siblings[at + 1]?.id ?? null };
  }

  startDraft(draft: Draft): void {
    this.renaming = null;
    this.draft = draft;
    if (draft.kind === 'task' && draft.parent === null)
      this.unfold(draft.epic === null ? looseKey : epicKey(draft.epic));
    this.changed();
  }

  /** `isKept`: its title was entered and is being added. */
  endText(isKept: boolean): void {
    const { draft, selection } = this;
    if (isKept && draft?.kind === 'task') {
      this.#added = { draft, active: selection.active, count: (this.#added?.count ?? 0) + 1 };
    }
    this.draft = null;
    this.renaming = null;
    this.changed();
  }

  /** Index of the parent row (-1 = the row is at the top level). */
  parentIndex(index: number): number {
    const level = this.rows[index]?.level ?? 1;
    for (let at = index - 1; at >= 0; at -= 1) if ((this.rows[at]?.level ?? 1) < level) return at;
    return -1;
  }
}

/** At the end of an epic, or of the tasks without one. */
export function draftAtEnd(epic: string | null): Draft {
  return { kind: 'task', epic, parent: null, before: null };
}
