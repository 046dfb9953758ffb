// The transcript: a feed of entries that follows its end unless the user reads above. Arrow keys
// move between entries, Enter opens and closes an entry, and Ctrl+C copies it if nothing is
// selected.

import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { repeat } from 'lit/directives/repeat.js';
import type { QuestionView } from '../../../server/protocol/views.ts';
import { SizeController } from '../../shared/size-controller.ts';
import { controlStyles } from '../../shared/looks/control-styles.ts';
import '../drover-answer.ts';
import { entryLabel } from '../../shared/log/entry-text.ts';
import { entryTemplate } from './entry-template.ts';
import { foldKey, isOpenAtFirst, type EntryActions, type EntryLook } from './entry-view.ts';
import { highlightFound } from '../find/find-highlight.ts';
import type { FindQuery } from '../find/find-entries.ts';
import { follow, following, type FollowState } from './follow.ts';
import { iconStyles } from '../../shared/looks/icon.ts';
import { estimatedHeight } from './row-height.ts';
import { codeStyles, proseStyles } from '../../shared/text/prose-styles.ts';
import { ansiStyles, blockStyles, rowStyles } from './transcript-styles.ts';
import type { Entry } from '../../shared/log/transcript.ts';
import { type RowPlace, VirtualLog } from './virtual-log.ts';

/** Distance from an edge, in view heights, at which the next page is requested. */
const edgeViews = 3;
/** Maximum number of frames in which a scroll position is searched for. */
const placeTries = 30;

export class DroverTranscript extends LitElement {
  static override properties = {
    entries: { attribute: false },
    revision: { attribute: false },
    questions: { attribute: false },
    answering: { attribute: false },
    folds: { attribute: false },
    shownAll: { attribute: false },
    actions: { attribute: false },
    query: { attribute: false },
    currentHit: { attribute: false },
    followState: { attribute: false },
    context: { attribute: false },
    worktree: { attribute: false },
    isPaused: { attribute: false },
    activeKey: { state: true },
  };
  static override styles = [
    controlStyles,
    iconStyles,
    ansiStyles,
    rowStyles,
    proseStyles,
    codeStyles,
    blockStyles,
    css`
      :host {
        display: block;
        position: relative;
        overflow: hidden;
      }
      .scroller {
        height: 100%;
        overflow: auto;
        overflow-anchor: none;
        contain: strict;
      }
      .space {
        position: relative;
        width: 100%;
      }
    `,
  ];
  declare entries: readonly Entry[];
  /** Increases when entries have changed in place. */
  declare revision: number;
  declare questions: ReadonlyMap<number, QuestionView>;
  declare answering: ReadonlySet<string>;
  /** Entries that differ from their initial state. */
  declare folds: ReadonlySet<string>;
  declare shownAll: ReadonlySet<number>;
  declare actions: EntryActions | null;
  declare query: FindQuery | null;
  declare currentHit: number | null;
  declare followState: FollowState;
  /** For the context menus of VS Code. */
  declare context: string;
  /** Worktree of the displayed attempt. */
  declare worktree: string | null;
  declare isPaused: boolean;
  declare activeKey: number | null;
  readonly list: VirtualLog;
  #lastTop = 0;
  #pendingFocus: number | null = null;
  #place: { readonly key: number; readonly at: RowPlace; triesLeft: number } | null = null;

  constructor() {
    super();
    this.entries = [];
    this.revision = 0;
    this.questions = new Map();
    this.answering = new Set();
    this.folds = new Set();
    this.shownAll = new Set();
    this.actions = null;
    this.query = null;
    this.currentHit = null;
    this.followState = following;
    this.context = '{}';
    this.worktree = null;
    this.isPaused = false;
    this.activeKey = null;
    // Elements that open above or grow below take space from the rows: the end stays visible, and
    // no row moves on a later click.
    new SizeController(this, () => requestAnimationFrame(() => this.requestUpdate()));
    this.list = new VirtualLog(this, {
      scroller: () => this.renderRoot?.querySelector<HTMLElement>('.scroller') ?? null,
      entries: () => this.entries,
      kept: () => this.#keptIndexes(),
      isFollowing: () => this.followState.isFollowing,
      estimate: (entry) => estimatedHeight(entry, this.clientWidth),
    });
  }

  override render(): TemplateResult {
    const items = this.list.items();
    return html`<div
      class="scroller"
      @scroll=${this.#onScroll}
      @wheel=${{ handleEvent: () => (this.#place = null), passive: true }}
      @keydown=${this.#onKey}
    >
      <div
        class="space"
        role=${items.length > 0 ? 'feed' : nothing}
        aria-label=${items.length > 0 ? 'Transcript' : nothing}
        aria-busy=${items.length > 0 ? 'false' : nothing}
        data-vscode-context=${this.context}
      >
        ${repeat(
          items,
          (item) => item.key,
          (item) => this.#row(item.index),
        )}
      </div>
    </div>`;
  }

  override updated(changed: PropertyValues<this>): void {
    if (this.followState.isFollowing && this.list.fromEnd() > 0) this.list.toEnd();
    if (this.query !== null || changed.has('query')) {
      highlightFound(this.renderRoot, this.query, this.currentHit);
    }
    this.#moveFocus();
    this.#settle();
  }

  /** Brings an entry to the top of the view, scrolled out as far as before. */
  startAt(key: number, px: number): void {
    this.#place = { key, at: { align: 'start', px }, triesLeft: placeTries };
    this.requestUpdate();
  }

  /** Brings an entry into the middle of the view. */
  showEntry(key: number): void {
    this.#place = { key, at: { align: 'center', px: 0 }, triesLeft: placeTries };
    this.requestUpdate();
  }

  /**
   * Rows that are measured on the way, or appear above, change the position, so it is searched
   * again.
   */
  #settle(): void {
    const place = this.#place;
    // A view without a size updates again when it gets one.
    if (place === null || !this.list.hasSize) return;
    const index = this.indexOf(place.key);
    place.triesLeft -= 1;
    const isThere = index !== -1 && this.list.isAt(index, place.at);
    if (isThere || place.triesLeft <= 0) this.#place = null;
    else requestAnimationFrame(() => this.requestUpdate());
  }

  #row(index: number): TemplateResult | typeof nothing {
    const entry = this.entries[index];
    if (entry === undefined || this.actions === null) return nothing;
    const isActive = entry.key === (this.activeKey ?? this.entries.at(-1)?.key);
    const look = this.#look(entry, isActive);
    const { actions } = this;
    return html`<div
      class=${entry.body.kind === 'output' ? 'row tight' : 'row'}
      role="article"
      tabindex=${isActive ? 0 : -1}
      data-index=${index}
      data-key=${entry.key}
      aria-posinset=${index + 1}
      aria-setsize="-1"
      aria-label=${guard([entry, entry.revision], () => entryLabel(entry))}
      @focusin=${() => {
        this.activeKey = entry.key;
      }}
    >
      ${guard(
        [
          entry,
          entry.revision,
          look.isOpen,
          look.showsAll,
          look.question,
          look.isAnswering,
          look.isActive,
          look.worktree,
          look.isPaused,
        ],
        () => entryTemplate(entry, look, actions),
      )}
    </div>`;
  }

  #look(entry: Entry, isActive: boolean): EntryLook {
    const key = foldKey(entry);
    const question = this.questions.get(entry.key) ?? null;
    return {
      isOpen: isOpenAtFirst(entry) !== (key !== null && this.folds.has(key)),
      showsAll: this.shownAll.has(entry.key),
      question,
      isAnswering: question !== null && this.answering.has(question.id),
      isActive,
      worktree: this.worktree,
      isPaused: this.isPaused && entry === this.entries.at(-1),
    };
  }

  /** Opens a folded entry. */
  open(entry: Entry): void {
    if (!this.#look(entry, false).isOpen && foldKey(entry) !== null) this.actions?.toggle(entry);
  }

  indexOf(key: number): number {
    return this.entries.findIndex((entry) => entry.key === key);
  }

  /** Focuses an entry, and scrolls to it. */
  focusEntry(index: number): void {
    const at = Math.max(0, Math.min(this.entries.length - 1, index));
    const entry = this.entries[at];
    if (entry === undefined) return;
    this.activeKey = entry.key;
    this.#pendingFocus = entry.key;
    this.#place = null;
    this.list.toIndex(at);
    this.requestUpdate();
  }

  get activeEntry(): Entry | null {
    return this.entries.find((entry) => entry.key === this.activeKey) ?? null;
  }

  selectedText(): string {
    return this.#selection()?.toString() ?? '';
  }

  #selection(): Selection | null {
    // Chromium has a separate selection for a shadow root.
    const root = this.renderRoot as ShadowRoot & { getSelection?: () => Selection | null };
    return root.getSelection?.() ?? document.getSelection();
  }

  #keptIndexes(): number[] {
    const kept: number[] = [];
    if (this.activeKey !== null && this.renderRoot?.querySelector('.row:focus-within') !== null) {
      kept.push(this.indexOf(this.activeKey));
    }
    const selection = this.renderRoot === undefined ? null : this.#selection();
    if (selection === null || selection.isCollapsed) return kept;
    const [from, to] = [selection.anchorNode, selection.focusNode]
      .map((node) => (node instanceof Element ? node : node?.parentElement)?.closest('.row'))
      .map((row) => Number(row?.getAttribute('data-index') ?? Number.NaN));
    if (from === undefined || to === undefined || Number.isNaN(from + to)) return kept;
    for (let index = Math.min(from, to); index <= Math.max(from, to); index += 1) kept.push(index);
    return kept;
  }

  #moveFocus(): void {
    if (this.#pendingFocus === null) return;
    const row = this.renderRoot.querySelector<HTMLElement>(`[data-key="${this.#pendingFocus}"]`);
    if (row === null) return;
    this.#pendingFocus = null;
    row.focus({ preventScroll: true });
  }

  readonly #onScroll = (event: Event): void => {
    const scroller = event.target as HTMLElement;
    const movedPx = scroller.scrollTop - this.#lastTop;
    this.#lastTop = scroller.scrollTop;
    const fromEndPx = scroller.scrollHeight - scroller.clientHeight - scroller.scrollTop;
    const next = follow(this.followState, { type: 'scrolled', fromEndPx, movedPx });
    const edgePx = edgeViews * scroller.clientHeight;
    if (scroller.scrollTop < edgePx) this.#say('near-front');
    if (fromEndPx < edgePx) this.#say('near-back');
    if (
      next.isFollowing !== this.followState.isFollowing ||
      next.newCount !== this.followState.newCount
    ) {
      this.dispatchEvent(new CustomEvent<FollowState>('follow', { detail: next }));
    }
    this.#say('moved');
  };

  #say(name: 'near-front' | 'near-back' | 'moved'): void {
    this.dispatchEvent(new CustomEvent(name));
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const target = event.composedPath()[0];
    const row = target instanceof HTMLElement && target.classList.contains('row') ? target : null;
    if (event.key === 'Escape' && row === null) {
      const inside = target instanceof Element ? target.closest<HTMLElement>('.row') : null;
      inside?.focus();
      return;
    }
    if (row === null || event.altKey || event.metaKey || event.ctrlKey) return;
    const index = Number(row.dataset['index']);
    if (this.#handleKey(event.key, row, index)) event.preventDefault();
  };

  #handleKey(key: string, row: HTMLElement, index: number): boolean {
    const entry = this.entries[index];
    const scroller = row.closest<HTMLElement>('.scroller');
    if (entry === undefined || scroller === null) return false;
    const box = row.getBoundingClientRect();
    const view = scroller.getBoundingClientRect();
    switch (key) {
      case 'ArrowDown':
        // Scroll through a row that is taller than the view before moving off it.
        if (box.bottom > view.bottom + 1 && box.height > view.height) this.list.scrollBy(60);
        else this.focusEntry(index + 1);
        return true;
      case 'ArrowUp':
        if (box.top < view.top - 1 && box.height > view.height) this.list.scrollBy(-60);
        else this.focusEntry(index - 1);
        return true;
      case 'Home':
        this.focusEntry(0);
        return true;
      case 'End':
        this.dispatchEvent(new CustomEvent('to-end'));
        return true;
      case 'Enter':
      case ' ':
        if (foldKey(entry) !== null) this.actions?.toggle(entry);
        else this.actions?.showAll(entry);
        return true;
      case 'ArrowRight':
      case 'ArrowLeft': {
        const isOpen = this.#look(entry, true).isOpen;
        if (foldKey(entry) === null || isOpen === (key === 'ArrowRight')) return false;
        this.actions?.toggle(entry);
        return true;
      }
      default:
        return false;
    }
  }
}

customElements.define('drover-transcript', DroverTranscript);
