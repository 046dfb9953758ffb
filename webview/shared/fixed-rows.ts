// The virtual list of rows that are all of one height: only those in sight, and one that holds the
// focus, are on the page.

import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualItem,
} from '@tanstack/virtual-core';
import type { ReactiveController, ReactiveControllerHost } from 'lit';

export interface FixedRowsParts {
  readonly scroller: () => HTMLElement | null;
  readonly count: () => number;
  readonly heightPx: number;
  /** Index that stays on the page although it is out of sight; -1: none. */
  readonly kept: () => number;
}

const overscan = 10;

export class FixedRows implements ReactiveController {
  readonly #component: ReactiveControllerHost;
  readonly #parts: FixedRowsParts;
  readonly #list: Virtualizer<HTMLElement, HTMLElement>;
  #unmount: () => void = () => {};

  constructor(component: ReactiveControllerHost, parts: FixedRowsParts) {
    this.#component = component;
    this.#parts = parts;
    this.#list = new Virtualizer<HTMLElement, HTMLElement>(this.#options());
    component.addController(this);
  }

  hostConnected(): void {
    this.#unmount = this.#list._didMount();
  }

  hostDisconnected(): void {
    this.#unmount();
  }

  hostUpdate(): void {
    this.#list.setOptions(this.#options());
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

  #options(): ConstructorParameters<typeof Virtualizer<HTMLElement, HTMLElement>>[0] {
    const { count, heightPx, kept, scroller } = this.#parts;
    return {
      count: count(),
      getScrollElement: scroller,
      estimateSize: () => heightPx,
      rangeExtractor: (range) => {
        const indexes = defaultRangeExtractor(range);
        const at = kept();
        if (at < 0 || at >= range.count || indexes.includes(at)) return indexes;
        return [...indexes, at].sort((a, b) => a - b);
      },
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      onChange: () => this.#component.requestUpdate(),
      overscan,
    };
  }
}
