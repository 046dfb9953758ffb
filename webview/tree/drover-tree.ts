// The task tree: epics, tasks and sub-tasks, planned with mouse and keyboard, and updated live.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { BoardController } from '../shared/board-controller.ts';
import { FixedRows } from '../shared/fixed-rows.ts';
import type { WebviewAction } from '../messages/messages.ts';
import type { Host } from '../shared/host.ts';
import { Ticks } from '../shared/ticks.ts';
import { WindowFocus } from '../shared/window-focus.ts';
import { statusStyles } from '../shared/status-styles.ts';
import { tellTime } from '../shared/measured.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { focusField, type VscodeTextfield } from '../shared/looks/text-field.ts';
import { iconStyles } from '../shared/looks/icon.ts';
import { pageStyles } from '../shared/looks/page-styles.ts';
import { FailureNote } from '../shared/plan/failure-note.ts';
import { noticeStyles } from '../shared/plan/notice-styles.ts';
import { holdsTemplate } from './holds-template.ts';
import { TypeAhead } from './keys.ts';
import { focusedField, isOnRows, PressedKeys } from './pressed-keys.ts';
import { openRowMenu, pressEpicButton } from './row-menu.ts';
import { rowTemplate, type RowActions } from './row-template.ts';
import { hoverNote } from './notes.ts';
import { rowId, rowTitle, type Row } from './rows.ts';
import { RowsFocus } from './rows-focus.ts';
import { selectClicked, selectOnly } from './selection.ts';
import { closeFilter, filterBar, keepFromWindow, readFilter } from './filter-bar.ts';
import { hoverText } from './hover-text.ts';
import { findRow, TreeDrag } from './tree-drag.ts';
import { openRow, previewRow, runTreeAction, runTreeKey, type TreeParts } from './tree-keys.ts';
import { readMemory } from './tree-memory.ts';
import { ScrollPlace } from './scroll-place.ts';
import { TitleField } from './title-field.ts';
import { TreePlan } from './tree-plan.ts';
import { TreeState } from './tree-state.ts';
import { rowHeightPx, treeStyles } from './tree-styles.ts';
import {
  emptyTemplate,
  reconnectingNote,
  unavailableTemplate,
  type WelcomeActions,
} from '../shared/plan/welcome-template.ts';

const tickMs = 1_000;

export class DroverTree extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [
    controlStyles,
    iconStyles,
    statusStyles,
    noticeStyles,
    pageStyles,
    treeStyles,
  ];
  declare host: Host | null;
  #board: BoardController | null = null;
  #parts: TreeParts | null = null;
  #list: FixedRows | null = null;
  #state = new TreeState(readMemory(null));
  #drag: TreeDrag | null = null;
  #said = '';
  readonly #failed = new FailureNote(this, () => this.#board?.state ?? null);
  #changedMs: number | null = null;
  #hasPainted = false;
  #filterShown = Promise.resolve();
  readonly #focus = new RowsFocus(this, () => this.#scroller());
  readonly #pressed = new PressedKeys({
    selection: () => this.#state.selection,
    act: (key) => {
      this.#failed.clear();
      if (this.#parts !== null) runTreeKey(this.#parts, key);
      this.#changed();
    },
    mayLeave: () => this.#focus.counts,
    carryOut: (action) => this.#act(action),
    ask: async () => await this.host?.action('keysDone', {}),
    field: async () => {
      await this.updateComplete;
      await this.#filterShown;
      return focusedField(this.shadowRoot);
    },
  });
  readonly #field = new TitleField({
    state: () => this.#state,
    end: (title, focusesRows) => this.#endText(title, focusesRows),
    again: (draft) => {
      this.#state.startDraft(draft);
      this.#changed();
    },
  });

  constructor() {
    super();
    this.host = null;
    this.addController(this.#field);
    new ScrollPlace(this, { state: () => this.#state, keep: () => this.#keep() });
    new WindowFocus(this, () => this.#focusMain());
    new Ticks(this, tickMs, () => {
      if (this.#state.board?.counts.in_progress !== 0) this.requestUpdate();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('host') && this.host !== null && this.#board === null) this.#begin(this.host);
    const { board } = this.#board ?? { board: null };
    if (board !== this.#state.board && this.#hasPainted) this.#changedMs ??= performance.now();
    this.#state.update(board);
  }

  #begin(host: Host): void {
    this.#state = new TreeState(readMemory(host.memory.get()));
    this.#list = new FixedRows(this, {
      scroller: () => this.renderRoot.querySelector<HTMLElement>('.rows'),
      count: () => this.#state.rows.length,
      heightPx: rowHeightPx,
      kept: () => [this.#state.activeIndex, this.#state.fieldIndex],
    });
    const plan = new TreePlan(host, {
      say: (words) => this.#say(words),
      fail: (error) => this.#failed.show(error),
      choose: (key) => {
        this.#state.await(key);
        this.requestUpdate();
      },
    });
    const state = this.#state;
    const focus = (): void => this.#scroller()?.focus();
    this.#drag = new TreeDrag({ state, plan, changed: () => this.requestUpdate(), focus });
    this.#parts = {
      state,
      plan,
      host,
      typed: new TypeAhead(),
      pageRows: () => Math.floor((this.#scroller()?.clientHeight ?? 0) / rowHeightPx),
      fail: (words) => this.#failed.show(words),
      menu: () => openRowMenu(this.renderRoot),
      showFilter: () => this.#showFilter(),
      ran: (action) => {
        this.#failed.clear();
        action.catch((error: unknown) => this.#failed.show(error));
      },
    };
    this.#board = new BoardController(this, host);
    this.#board.onAction = (action, ids, byKey) => this.#obey(action, ids, byKey);
  }

  override render(): TemplateResult {
    const state = this.#board?.state ?? null;
    if (state === null) return html`${nothing}`;
    const welcome: WelcomeActions = {
      onCommand: (id) => this.#parts?.ran(this.#parts.host.action('command', { id })),
      onNewEpic: () => this.#act('newEpic'),
      onNewTask: () => this.#act('newTask'),
    };
    const unavailable = unavailableTemplate(
      state.connection,
      welcome.onCommand,
      state.board !== null,
    );
    if (unavailable !== null)
      return html`<div class="page">
        <div class="fill">${unavailable}</div>
        ${this.#note()}
      </div>`;
    const { board, rows, draft } = this.#state;
    const isEmpty = board?.tasks.length === 0 && board.epics.length === 0 && draft === null;
    return html`<div class="page">
      ${this.#state.hasBar ? filterBar(this.#state, this.#onFilter, this.#onFilterKey) : nothing}
      ${isEmpty ? emptyTemplate(welcome) : this.#tree(rows)} ${holdsTemplate(board, this.#parts)}
      ${this.#note()}
      <div class="hidden" role="status" aria-live="polite">${this.#said}</div>
    </div>`;
  }

  #tree(rows: readonly Row[]): TemplateResult {
    const { activeIndex, fieldIndex } = this.#state;
    const isField = ({ index }: { index: number }): number => Number(index === fieldIndex);
    // The field comes last, because a row that the list moves on the page loses the focus.
    const items = (this.#list?.items() ?? []).toSorted((a, b) => isField(a) - isField(b));
    const height = this.#list?.totalPx() ?? 0;
    return html`<div
      class="rows"
      role="tree"
      tabindex="0"
      aria-label="Tasks"
      aria-multiselectable="true"
      aria-activedescendant=${activeIndex < 0 ? nothing : `row-${activeIndex}`}
      data-vscode-context=${JSON.stringify({ webviewSection: 'empty', preventDefaultContextMenuItems: true })}
      @keydown=${this.#onKey}
      @focus=${this.#onFocus}
      @click=${this.#onClick}
      @dblclick=${this.#onDoubleClick}
      @contextmenu=${this.#onContextMenu}
      @mouseover=${this.#onHover}
      @dragstart=${this.#drag?.onStart}
      @dragover=${this.#drag?.onOver}
      @dragleave=${this.#drag?.onLeave}
      @drop=${this.#drag?.onDrop}
      @dragend=${this.#drag?.onEnd}
    >
      <div class="space" role="presentation" .style=${`height: ${height}px`}>
        ${repeat(
          items,
          (item) => rows[item.index]?.key ?? item.index,
          (item) => this.#row(rows[item.index], item.index, item.start),
        )}
      </div>
    </div>`;
  }

  #row(row: Row | undefined, index: number, startPx: number): TemplateResult | typeof nothing {
    if (row === undefined) return nothing;
    const { selection, renaming, board } = this.#state;
    const hovered = this.#drag?.hovered?.index === index ? this.#drag.hovered : null;
    return rowTemplate(
      row,
      {
        index,
        startPx,
        isSelected: selection.keys.has(row.key),
        isActive: selection.active === row.key,
        drop: hovered === null ? null : hovered.drop.kind === 'refused' ? 'refused' : hovered.zone,
        renaming: renaming === row.key ? rowTitle(row) : null,
        nowMs: Date.now(),
        canRun: board?.run?.active !== true || board.run.epic_id !== rowId(row),
        run: board?.run ?? null,
        isAsking: row.kind === 'task' && this.#state.asking.has(row.task.id),
        ...this.#state.figuresOf(row),
      },
      this.#rowActions,
    );
  }

  readonly #rowActions: RowActions = {
    onText: (event) => this.#field.onKey(event),
    onLeaveText: (event) => this.#field.onLeave(event),
  };

  #note(): TemplateResult | typeof nothing {
    const hover = this.#drag?.hovered?.drop ?? null;
    if (hover !== null) return hoverNote(hover);
    return this.#failed.template() ?? reconnectingNote(this.#board?.state ?? null);
  }

  override updated(): void {
    const field = this.renderRoot.querySelector<HTMLInputElement>('input.text');
    if (field !== null && !this.#field.isLeaving && this.shadowRoot?.activeElement !== field) {
      field.focus();
      field.select();
    }
    if (!this.#hasPainted && this.#state.board !== null) {
      this.#hasPainted = true;
      requestAnimationFrame(() => tellTime(this.host, 'tree.firstPaint'));
    } else if (this.#changedMs !== null) {
      const since = this.#changedMs;
      this.#changedMs = null;
      requestAnimationFrame(() => tellTime(this.host, 'tree.change', since));
    }
  }

  /** The rows, or the first button of a view without rows. */
  #focusMain(): void {
    (this.#scroller() ?? this.renderRoot.querySelector<HTMLElement>('vscode-button'))?.focus();
  }

  #scroller(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>('.rows');
  }

  /** A key of the rows does nothing in the fields and buttons around them. */
  #obey(action: WebviewAction, ids: readonly string[], byKey: boolean): void {
    if (this.#parts === null || (byKey && !isOnRows(this.shadowRoot, this.#scroller()))) return;
    const pressed = this.#pressed.commanded(action, byKey);
    // The row that was added last may have appeared since its key was pressed.
    if (pressed !== null && action !== 'newTask') this.#state.selection = pressed;
    if (byKey) this.#failed.clear();
    runTreeAction(this.#parts, action, pressed === null ? ids : []);
    if (action === 'focus') this.#focusMain();
    this.#changed();
    this.#pressed.release();
  }

  #act(action: WebviewAction): void {
    this.#failed.clear();
    if (this.#parts !== null) runTreeAction(this.#parts, action, []);
    this.#changed();
  }

  #changed(): void {
    this.#state.update(this.#state.board);
    const { activeIndex, fieldIndex } = this.#state;
    this.#list?.show(fieldIndex < 0 ? activeIndex : fieldIndex);
    this.#keep();
    this.host?.select(this.#state.selectedIds());
    this.requestUpdate();
  }

  #keep(): void {
    this.host?.memory.set(this.#state.memory);
  }

  #say(words: string): void {
    this.#said = words;
    this.#failed.clear();
    this.requestUpdate();
  }

  #showFilter(): void {
    this.#state.hasBar = true;
    this.#changed();
    this.#filterShown = this.updateComplete.then(() =>
      focusField(this.renderRoot.querySelector('vscode-textfield')),
    );
  }

  readonly #onFilter = (event: Event): void => {
    readFilter(this.#state, event.target as VscodeTextfield | HTMLSelectElement);
    this.#changed();
  };

  readonly #onFilterKey = (event: KeyboardEvent): void => {
    keepFromWindow(event);
    if (event.key !== 'Escape' && event.key !== 'ArrowDown') return;
    if (event.key === 'Escape') closeFilter(this.#state);
    this.#scroller()?.focus();
    this.#changed();
    event.preventDefault();
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (!(event.target instanceof HTMLInputElement)) this.#pressed.press(event);
  };

  /**
   * The mouse moves the focus before it clicks, and nothing may move under it then, so the first
   * visible row is selected.
   */
  readonly #onFocus = (): void => {
    const top = Math.ceil((this.#scroller()?.scrollTop ?? 0) / rowHeightPx);
    const first = this.#state.keys[top] ?? this.#state.keys.at(-1);
    if (this.#state.selection.active !== null || first === undefined) return;
    this.#state.selection = selectOnly(first);
    this.#changed();
  };

  #endText(title: string | null, focusesRows: boolean): void {
    const { draft, renaming, board, rows } = this.#state;
    if (draft === null && renaming === null) return;
    this.#state.endText(title !== null);
    const renamed = rows.find((row) => row.key === renaming);
    const id = renamed === undefined ? null : rowId(renamed);
    if (title !== null && draft !== null) this.#parts?.plan.add(draft, title);
    else if (title !== null && id !== null && board !== null)
      this.#parts?.plan.rename(board, id, title);
    this.#changed();
    if (focusesRows) this.#focus.focusRows();
  }

  readonly #onClick = (event: MouseEvent): void => {
    const state = this.#state;
    const found = findRow(state, event);
    if (found === null || event.target instanceof HTMLInputElement) return;
    const isOn = (part: string): boolean => (event.target as Element).closest(part) !== null;
    this.#failed.clear();
    if (pressEpicButton(this.#parts, found.row, isOn)) return this.#changed();
    const how = { toggle: event.ctrlKey || event.metaKey, range: event.shiftKey };
    state.selection = selectClicked(state.selection, state.keys, found.row.key, how);
    if (isOn('[data-twisty]')) state.toggle(found.row);
    else if (event.detail === 1 && !how.toggle && !how.range) previewRow(this.#parts, found.row);
    this.#changed();
  };

  readonly #onDoubleClick = (event: MouseEvent): void => {
    const found = findRow(this.#state, event);
    if (found === null || this.#parts === null || event.target instanceof HTMLInputElement) return;
    openRow(this.#parts, found.row);
    this.#changed();
  };

  readonly #onHover = (event: MouseEvent): void => {
    const found = findRow(this.#state, event);
    const { board } = this.#state;
    if (found !== null && board !== null) found.element.title = hoverText(found.row, board);
  };

  readonly #onContextMenu = (event: MouseEvent): void => {
    const found = findRow(this.#state, event);
    if (found === null || this.#state.selection.keys.has(found.row.key)) return;
    this.#state.selection = selectOnly(found.row.key);
    this.#changed();
  };
}

customElements.define('drover-tree', DroverTree);
