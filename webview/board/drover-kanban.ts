// The Kanban board: columns by state, navigated with the arrow keys.

import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { Ticks } from '../shared/ticks.ts';
import { columnNames, groupByColumn, columnTitles, type Columns } from './columns.ts';
import './drover-column.ts';
import type { ColumnParts, DroverColumn } from './drover-column.ts';
import { BoardContent } from './board-content.ts';
import { kanbanStyles } from './board-styles.ts';

const tickMs = 1_000;
/** Columns whose cards show a duration; the others need not be redrawn each second. */
const hasTimes: ReadonlySet<string> = new Set(['working', 'asks']);

export class DroverKanban extends BoardContent {
  static override properties = {
    atMs: { attribute: false },
  };
  static override styles = [kanbanStyles];
  /** The displayed time, or null for now. */
  declare atMs: number | null;
  #columns: Columns | null = null;
  #parts: readonly ColumnParts[] = [];

  constructor() {
    super();
    this.atMs = null;
    this.#parts = columnNames.map((_name, index) => this.#partsOf(index));
    new Ticks(this, tickMs, () => {
      const columns = this.#columns;
      if (columns !== null && columns.working.length + columns.asks.length > 0)
        this.requestUpdate();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('board') && !changed.has('epic')) return;
    this.#columns = this.board === null ? null : groupByColumn(this.board, this.epic);
  }

  override render(): TemplateResult | typeof nothing {
    const columns = this.#columns;
    if (columns === null) return nothing;
    const nowMs = this.atMs ?? Date.now();
    return html`<div class="columns">
      ${columnNames.map(
        (name, index) =>
          html`<drover-column
            ?data-empty=${columns[name].length === 0}
            .heading=${columnTitles[name]}
            .cards=${columns[name]}
            .nowMs=${hasTimes.has(name) ? nowMs : 0}
            .showsEpic=${this.epic === null}
            .parts=${this.#parts[index]}
          ></drover-column>`,
      )}
    </div>`;
  }

  #partsOf(column: number): ColumnParts {
    return {
      open: (id) => this.plan?.ask(async () => this.host?.action('openStream', { task: id })),
      chosen: (id) => this.host?.select([id]),
      beside: (step, index) => {
        const all = [...this.renderRoot.querySelectorAll<DroverColumn>('drover-column')];
        const rest = step === 1 ? all.slice(column + 1) : all.slice(0, column).toReversed();
        rest.find(({ cards }) => cards.length > 0)?.focusCard(Math.max(index, 0));
      },
    };
  }

  override focus(): void {
    const all = [...this.renderRoot.querySelectorAll<DroverColumn>('drover-column')];
    all.find(({ cards }) => cards.length > 0)?.focusCard(0);
  }
}

customElements.define('drover-kanban', DroverKanban);
