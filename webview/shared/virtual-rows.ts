// The virtual list used by every list of rows: mounted with its component, and asked for its
// options before each update. Kept rows stay on the page even if they are not visible.

import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type Range,
} from '@tanstack/virtual-core';
import type { ReactiveController, ReactiveControllerHost } from 'lit';

type List = Virtualizer<HTMLElement, HTMLElement>;
type Options = ConstructorParameters<typeof Virtualizer<HTMLElement, HTMLElement>>[0];

export type RowOptions = Pick<Options, 'count' | 'getScrollElement' | 'estimateSize' | 'overscan'> &
  Partial<Options>;

const keptMax = 400;

export class VirtualRows implements ReactiveController {
  readonly list: List;
  readonly #component: ReactiveControllerHost;
  readonly #rows: () => RowOptions;
  readonly #kept: () => readonly number[];
  #unmount: () => void = () => {};

  constructor(
    component: ReactiveControllerHost,
    rows: () => RowOptions,
    kept: () => readonly number[],
  ) {
    this.#component = component;
    this.#rows = rows;
    this.#kept = kept;
    this.list = new Virtualizer<HTMLElement, HTMLElement>(this.#options());
    component.addController(this);
  }

  hostConnected(): void {
    this.#unmount = this.list._didMount();
  }

  hostDisconnected(): void {
    this.#unmount();
  }

  hostUpdate(): void {
    this.list.setOptions(this.#options());
  }

  #options(): Options {
    return {
      rangeExtractor: (range) => this.#indexes(range),
      observeElementRect,
      observeElementOffset,
      scrollToFn: elementScroll,
      onChange: () => this.#component.requestUpdate(),
      ...this.#rows(),
    };
  }

  #indexes(range: Range): number[] {
    const kept = this.#kept().filter((index) => index >= 0 && index < range.count);
    const usual = defaultRangeExtractor(range);
    if (kept.length === 0) return usual;
    return [...new Set([...kept.slice(0, keptMax), ...usual])].sort((a, b) => a - b);
  }
}
