// The virtual list of a transcript: rows of any height, anchored at the end, with rows kept that
// have the focus or a selection. Sizes are cached by key; removed keys are dropped.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { VirtualItem } from '@tanstack/virtual-core';
import { endThresholdPx } from './follow.ts';
import type { Entry } from '../../shared/log/transcript.ts';
import { VirtualRows, type RowOptions } from '../../shared/virtual-rows.ts';

export interface VirtualLogParts {
  readonly scroller: () => HTMLElement | null;
  readonly entries: () => readonly Entry[];
  /** Indexes that stay on the page even if they are not visible. */
  readonly kept: () => readonly number[];
  readonly estimate: (entry: Entry | undefined) => number;
  /** New rows are scrolled to if the end is visible. */
  readonly isFollowing: () => boolean;
}

/** The desired position of a row in the view, and how far it is scrolled out there. */
export interface RowPlace {
  readonly align: 'center' | 'start';
  readonly px: number;
}

const overscan = 8;
const forgetAbove = 30_000;

export class VirtualLog implements ReactiveController {
  readonly #parts: VirtualLogParts;
  readonly #list: VirtualRows['list'];

  constructor(component: ReactiveControllerHost, parts: VirtualLogParts) {
    this.#parts = parts;
    this.#list = new VirtualRows(component, () => this.#options(), parts.kept).list;
    component.addController(this);
  }

  /**
   * After the rows are on the page, sets heights and positions, then reads sizes. All writes come
   * before the reads.
   */
  hostUpdated(): void {
    const scroller = this.#parts.scroller();
    const space = scroller?.querySelector<HTMLElement>('.space');
    const height = `${this.totalSize()}px`;
    if (space && space.style.height !== height) space.style.height = height;
    const rows = scroller?.querySelectorAll<HTMLElement>('.row') ?? [];
    const starts = new Map(this.items().map((item) => [item.index, item.start]));
    for (const row of rows) {
      const start = starts.get(Number(row.dataset['index']));
      const transform = `translateY(${start ?? 0}px)`;
      if (row.style.transform !== transform) row.style.transform = transform;
    }
    this.#list._willUpdate();
    for (const row of rows) this.#list.measureElement(row);
    this.#forgetSizes();
  }

  items(): VirtualItem[] {
    return this.#list.getVirtualItems();
  }

  totalSize(): number {
    return this.#list.getTotalSize();
  }

  fromEnd(): number {
    return this.#list.getDistanceFromEnd();
  }

  toEnd(): void {
    this.#list.scrollToEnd();
  }

  toIndex(index: number): void {
    this.#list.scrollToIndex(index, { align: 'auto' });
  }

  scrollBy(px: number): void {
    this.#list.scrollBy(px);
  }

  /** The first visible row and how far it is scrolled out above. */
  topRow(): { readonly index: number; readonly px: number } | null {
    const offset = this.#list.scrollOffset ?? 0;
    const item = this.#list.getVirtualItemForOffset(offset);
    return item === undefined ? null : { index: item.index, px: Math.round(offset - item.start) };
  }

  get hasSize(): boolean {
    return (this.#list.scrollRect?.height ?? 0) > 0;
  }

  /**
   * Moves a row to its position; returns false while it is not there yet. This changes sizes, so
   * call it again.
   */
  isAt(index: number, { align, px }: RowPlace): boolean {
    const offset = this.#list.getOffsetForIndex(index, align)?.[0];
    if (offset === undefined) return false;
    if (Math.abs((this.#list.scrollOffset ?? 0) - offset - px) <= 1) return true;
    this.#list.scrollToOffset(offset + px);
    return false;
  }

  #options(): RowOptions {
    const { entries, estimate, isFollowing, scroller } = this.#parts;
    return {
      count: entries().length,
      getScrollElement: scroller,
      estimateSize: (index) => estimate(entries()[index]),
      getItemKey: (index) => entries()[index]?.key ?? index,
      anchorTo: 'end',
      followOnAppend: isFollowing(),
      scrollEndThreshold: endThresholdPx,
      overscan,
      paddingStart: 4,
      paddingEnd: 8,
    };
  }

  #forgetSizes(): void {
    const sizes = this.#list.itemSizeCache;
    if (sizes.size < forgetAbove) return;
    const present = new Set<unknown>(this.#parts.entries().map((entry) => entry.key));
    for (const key of sizes.keys()) if (!present.has(key)) sizes.delete(key);
  }
}
