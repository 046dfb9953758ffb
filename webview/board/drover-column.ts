// One column of the Kanban board: a list of cards, of which only the visible ones are on the page.

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import '@vscode-elements/elements/dist/vscode-badge/index.js';
import { FixedRows } from '../shared/fixed-rows.ts';
import { statusLook } from '../shared/status-words.ts';
import { statusStyles } from '../shared/status-styles.ts';
import { icon, iconStyles } from '../shared/looks/icon.ts';
import { cardHeightPx, columnStyles } from './column-styles.ts';
import { cardFacts, cardReason, shown, type Card } from './columns.ts';
import { menuContext, openMenu } from './menu-context.ts';
import { foreseenConflicts } from '../shared/foreseen.ts';

export interface ColumnParts {
  readonly open: (id: string) => void;
  readonly chosen: (id: string) => void;
  /**
   * Moves to the adjacent column at about the same height. Returns false if no column on that side
   * has a card.
   */
  readonly beside: (step: -1 | 1, index: number) => void;
}

export class DroverColumn extends LitElement {
  static override properties = {
    heading: { attribute: false },
    cards: { attribute: false },
    nowMs: { attribute: false },
    parts: { attribute: false },
    showsEpic: { attribute: false },
  };
  static override styles = [iconStyles, statusStyles, columnStyles];
  declare heading: string;
  declare cards: readonly Card[];
  declare nowMs: number;
  declare showsEpic: boolean;
  declare parts: ColumnParts | null;
  readonly #list: FixedRows;
  #active: string | null = null;

  constructor() {
    super();
    this.heading = '';
    this.cards = [];
    this.nowMs = 0;
    this.showsEpic = true;
    this.parts = null;
    this.#list = new FixedRows(this, {
      scroller: () => this.#scroller(),
      count: () => this.cards.length,
      heightPx: cardHeightPx,
      kept: () => [this.activeIndex],
    });
  }

  get activeIndex(): number {
    return this.cards.findIndex(({ task }) => task.id === this.#active);
  }

  /** Focuses the card at the index, or the last card if there are fewer. */
  focusCard(index: number): void {
    this.#goTo(Math.min(index, this.cards.length - 1));
    this.#scroller()?.focus();
  }

  override render(): TemplateResult {
    const { activeIndex } = this;
    return html`<section>
      <h2>
        <span>${this.heading}</span
        ><vscode-badge variant="counter">${this.cards.length}</vscode-badge>
      </h2>
      <div
        class="cards"
        role="listbox"
        tabindex="0"
        aria-label=${`${this.heading}, ${this.cards.length}`}
        aria-activedescendant=${activeIndex < 0 ? nothing : `card-${activeIndex}`}
        @keydown=${this.#onKey}
        @focus=${this.#onFocus}
        @click=${this.#onClick}
        @dblclick=${this.#onDoubleClick}
        @contextmenu=${this.#onClick}
      >
        <div class="space" role="presentation" .style=${`height: ${this.#list.totalPx()}px`}>
          ${repeat(
            this.#list.items(),
            (item) => this.cards[item.index]?.task.id ?? item.index,
            (item) => this.#card(this.cards[item.index], item.index, item.start),
          )}
        </div>
      </div>
    </section>`;
  }

  #card(card: Card | undefined, index: number, startPx: number): TemplateResult | typeof nothing {
    if (card === undefined) return nothing;
    const { task } = card;
    const look = statusLook(task, card.isAsking);
    const isActive = task.id === this.#active;
    const facts = cardFacts(card, this.nowMs).join(' · ');
    const reason = cardReason(card);
    const epic = this.showsEpic && card.epic !== null ? shown(card.epic) : '';
    return html`<div
      id=${`card-${index}`}
      class=${`card ${isActive ? 'active' : ''} ${foreseenConflicts(task).length > 0 ? 'alarm' : ''}`}
      role="option"
      aria-selected=${isActive ? 'true' : 'false'}
      aria-posinset=${index + 1}
      aria-setsize=${this.cards.length}
      data-id=${task.id}
      data-index=${index}
      data-vscode-context=${menuContext(task)}
      .style=${`transform: translateY(${startPx}px)`}
    >
      <div class="line">
        ${icon(look.icon, `tone-${look.tone} ${look.tone === 'busy' ? 'spins' : ''}`)}
        <span class="title"><bdi>${shown(task.title)}</bdi></span>
      </div>
      <div class="quiet"><bdi>${epic}</bdi></div>
      <div class="quiet">${facts}</div>
      <div class="quiet reason"><bdi>${reason ?? ''}</bdi></div>
    </div>`;
  }

  #scroller(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>('.cards');
  }

  #goTo(index: number): void {
    const card = this.cards[Math.max(index, 0)];
    if (card === undefined) return;
    this.#active = card.task.id;
    this.#list.show(Math.max(index, 0));
    this.parts?.chosen(card.task.id);
    this.requestUpdate();
  }

  /**
   * The mouse moves the focus before it clicks, and nothing may move under it then, so the first
   * visible card is selected.
   */
  readonly #onFocus = (): void => {
    if (this.activeIndex >= 0) return;
    const top = this.#scroller()?.scrollTop ?? 0;
    this.#goTo(Math.min(Math.ceil(top / cardHeightPx), this.cards.length - 1));
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.activeIndex;
    const pageCards = Math.max(
      Math.floor((this.#scroller()?.clientHeight ?? 0) / cardHeightPx) - 1,
      1,
    );
    const last = this.cards.length - 1;
    const steps: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.#goTo(Math.min(at + 1, last)),
      ArrowUp: () => this.#goTo(at - 1),
      PageDown: () => this.#goTo(Math.min(at + pageCards, last)),
      PageUp: () => this.#goTo(at - pageCards),
      Home: () => this.#goTo(0),
      End: () => this.#goTo(last),
      ArrowLeft: () => this.parts?.beside(-1, at),
      ArrowRight: () => this.parts?.beside(1, at),
      Enter: () => this.#open(this.#active),
      ContextMenu: () => openMenu(this.renderRoot.querySelector('.card.active')),
      F10: () => openMenu(event.shiftKey ? this.renderRoot.querySelector('.card.active') : null),
    };
    const step = steps[event.key];
    if (step === undefined) return;
    event.preventDefault();
    step();
  };

  readonly #onClick = (event: MouseEvent): void => {
    const card = (event.target as Element).closest<HTMLElement>('.card');
    if (card !== null) this.#goTo(Number(card.dataset['index']));
  };

  readonly #onDoubleClick = (event: MouseEvent): void => {
    const card = (event.target as Element).closest<HTMLElement>('.card');
    this.#open(card?.dataset['id'] ?? null);
  };

  #open(id: string | null): void {
    if (id !== null) this.parts?.open(id);
  }
}

customElements.define('drover-column', DroverColumn);
