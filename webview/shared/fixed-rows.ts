// A virtual list of rows of equal height: only the visible rows, and a row that has the focus, are
// on the page.

import type { VirtualItem } from '@tanstack/virtual-core';
import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { VirtualRows } from './virtual-rows.ts';

export interface FixedRowsParts {
  readonly scroller: () => HTMLElement | null;
  readonly count: () => number;
  readonly heightPx: number;
  /** Indexes that stay on the page even if they are not visible (-1 = none). */
  readonly kept: () => readonly number[];
}

const overscan = 10;

export class FixedRows implements ReactiveController {
  readonly #parts: FixedRowsParts;
  readonly #list: VirtualRows['list'];

  constructor(component: ReactiveControllerHost, parts: FixedRowsParts) {
    const { count, heightPx, kept, scroller } = parts;
    this.#parts = parts;
    const rows = new VirtualRows(
      component,
      () => ({
        count: count(),
        getScrollElement: scroller,
        estimateSize: () => heightPx,
        overscan,
      }),
      kept,
    );
    this.#list = rows.list;
    component.addController(this);
  }

  hostUpdated(): void {
    this.#list._willUpdate();
  }

  items(): readonly VirtualItem[] {
    return this.#list.getVirtualItems();
  }

  totalPx(): number {
    return this.#parts.count() * this.#parts.heightPx;
  }

  show(index: number): void {
    if (index >= 0) this.#list.scrollToIndex(index, { align: 'auto' });
  }
}
