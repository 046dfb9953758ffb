// The inbox: everything that waits for a person, answered with the mouse or the keyboard.

import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { WindowFocus } from '../shared/window-focus.ts';
import { BoardController } from '../shared/board-controller.ts';
import { AskFailure } from '../shared/asks.ts';
import type { Host } from '../shared/host.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, iconStyles, type IconName } from '../shared/looks/icon.ts';
import { wordsForm, wordsFormStyles } from '../shared/looks/words-form.ts';
import { visibleLine, visibleText } from '../shared/looks/visible-text.ts';
import { actionTitle, runItemAction, mayBeBlank, wordsAsked } from './item-actions.ts';
import { inboxItems, type InboxItem, type ItemAction } from './inbox-items.ts';
import '../shared/looks/button.ts';
import { focusField, VscodeTextfield } from '../shared/looks/text-field.ts';

/** Number of items on the page; the rest is shown as a count. */
const shownMax = 100;
const titleCharsMax = 300;
const textCharsMax = 4_000;

const icons: { readonly [K in InboxItem['kind']]: IconName } = {
  question: 'question',
  permission: 'shield',
  review: 'eye',
  plan: 'checklist',
  conflict: 'git-merge',
  blocked: 'lock',
  failed: 'error',
  unlanded: 'git-merge',
  landed: 'info',
  noRoom: 'debug-pause',
};

const names: { readonly [K in InboxItem['kind']]: string } = {
  question: 'Question',
  permission: 'Permission',
  review: 'Review',
  plan: 'Plan',
  conflict: 'Conflict',
  blocked: 'Blocked',
  failed: 'Failed',
  unlanded: 'Not landed',
  landed: 'Landed',
  noRoom: 'Held',
};

export class DroverInbox extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [
    controlStyles,
    iconStyles,
    wordsFormStyles,
    css`
      :host {
        display: block;
        height: 100%;
        overflow: auto;
      }
      ul {
        margin: 0;
        padding: 4px 0;
        list-style: none;
      }
      li {
        padding: 6px 12px;
        outline-offset: -1px;
        overflow-wrap: anywhere;
        border-bottom: 1px solid
          var(--vscode-sideBarSectionHeader-border, var(--vscode-contrastBorder, transparent));
      }
      li:focus {
        outline: 1px solid var(--vscode-focusBorder);
        background: var(--vscode-list-inactiveSelectionBackground);
        color: var(--vscode-list-inactiveSelectionForeground, inherit);
      }
      .head {
        display: flex;
        gap: 6px;
        align-items: center;
        font-weight: 600;
      }
      .text {
        margin: 4px 0;
        white-space: pre-wrap;
        max-height: 9em;
        overflow-y: auto;
      }
      .actions {
        display: flex;
        flex-wrap: wrap;
        gap: 6px;
      }
      .empty,
      .error {
        padding: 12px 20px;
      }
      .error {
        color: var(--vscode-errorForeground);
      }
      kbd {
        font: inherit;
        opacity: 0.8;
      }
    `,
  ];
  declare host: Host | null;
  #board: BoardController | null = null;
  #items: readonly InboxItem[] = [];
  #active = 0;
  /** A task, an epic or a question whose item gets the focus as soon as it is listed. */
  #wanted: string | null = null;
  /** The item and action for which the user enters a text. */
  #asking: { readonly key: string; readonly action: ItemAction } | null = null;
  readonly #busy = new Set<string>();
  /** The reason why the last action failed, as long as its item waits. */
  #failed: { readonly key: string; readonly words: string } | null = null;

  constructor() {
    super();
    this.host = null;
    // A press also focuses the view, and nothing may move under the mouse then.
    new WindowFocus(this, () => this.#focus(this.#active, { preventScroll: true }));
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('host') && this.host !== null && this.#board === null) {
      this.#board = new BoardController(this, this.host);
      this.#board.onAction = (action, [about]) => {
        if (action !== 'focus') return;
        this.#wanted = about ?? null;
        this.#focus(this.#active);
      };
    }
    const board = this.#board?.board ?? null;
    this.#items = board === null ? [] : inboxItems(board);
    if (!this.#items.some(({ key }) => key === this.#failed?.key)) this.#failed = null;
    const wanted = this.#items.findIndex(
      ({ about, questionId }) =>
        this.#wanted !== null && [about, questionId].includes(this.#wanted),
    );
    if (wanted >= 0) {
      this.#wanted = null;
      this.#focus(wanted);
    }
    this.#active = Math.min(this.#active, Math.max(0, this.#items.length - 1));
  }

  override render(): TemplateResult {
    const state = this.#board?.state ?? null;
    if (state === null) return html`${nothing}`;
    if (state.board === null)
      // The view above shows the reason.
      return html`<div class="empty">
        ${state.connection.kind === 'unavailable' ? 'Questions, reviews and failures appear here.' : ''}
      </div>`;
    if (this.#items.length === 0)
      return html`<div class="empty" role="status">Nothing waits for you.</div>`;
    const more = this.#items.length - shownMax;
    return html`${
        this.#failed === null
          ? nothing
          : html`<div class="error" role="alert">${this.#failed.words}</div>`
      }
      <ul aria-label=${`${this.#items.length} waiting for you`} @keydown=${this.#onKey}>
        ${repeat(
          this.#items.slice(0, shownMax),
          (item) => item.key,
          (item, index) => this.#item(item, index),
        )}
      </ul>
      ${more > 0 ? html`<div class="empty">… and ${more} more</div>` : nothing}`;
  }

  #item(item: InboxItem, index: number): TemplateResult {
    const title = visibleLine(item.title.slice(0, titleCharsMax));
    const isBusy = this.#busy.has(item.key);
    return html`<li
      tabindex=${index === this.#active ? '0' : '-1'}
      data-index=${index}
      aria-label=${`${names[item.kind]}: ${title}`}
      data-vscode-context=${JSON.stringify(contextOf(item))}
      @focusin=${() => this.#onFocus(index)}
    >
      <div class="head">${icon(icons[item.kind])}<bdi>${title}</bdi></div>
      <div class="text">${visibleText(item.text.slice(0, textCharsMax))}</div>
      <div class="actions">
        ${item.actions.map(
          (action, at) =>
            html`<vscode-button
              ?secondary=${at > 0}
              ?disabled=${isBusy}
              data-action=${at}
              @click=${() => this.#act(item, action)}
            >
              ${visibleLine(actionTitle(action).slice(0, titleCharsMax))}
            </vscode-button>`,
        )}
      </div>
      ${this.#asking?.key === item.key ? this.#words(item, this.#asking.action) : nothing}
    </li>`;
  }

  #words(item: InboxItem, action: ItemAction): TemplateResult {
    return wordsForm({
      label: wordsAsked(action) ?? '',
      hasPlaceholder: true,
      button: 'Send',
      isBusy: false,
      isOptional: mayBeBlank(action),
      onWords: (words) => {
        this.#asking = null;
        this.#carryOut(item, action, words);
      },
    });
  }

  #act(item: InboxItem, action: ItemAction): void {
    if (wordsAsked(action) === null) {
      this.#carryOut(item, action, '');
      return;
    }
    this.#asking = { key: item.key, action };
    this.requestUpdate();
    void this.updateComplete.then(() =>
      focusField(this.renderRoot.querySelector('vscode-textfield')),
    );
  }

  #carryOut(item: InboxItem, action: ItemAction, words: string): void {
    if (this.host === null || this.#busy.has(item.key)) return;
    this.#busy.add(item.key);
    this.#failed = null;
    this.requestUpdate();
    runItemAction(this.host, item, action, words)
      .catch((error: unknown) => {
        const words = error instanceof AskFailure ? error.message : String(error);
        this.#failed = { key: item.key, words };
      })
      .finally(() => {
        this.#busy.delete(item.key);
        this.requestUpdate();
        this.#focus(this.#active);
      });
  }

  #onFocus(index: number): void {
    const about = this.#items[index]?.about ?? null;
    this.host?.select(about === null ? [] : [about]);
    if (this.#active === index) return;
    this.#active = index;
    this.requestUpdate();
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    if (event.target instanceof VscodeTextfield) {
      if (event.key !== 'Escape') return;
      this.#asking = null;
      this.requestUpdate();
      this.#focus(this.#active);
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const item = this.#items[this.#active];
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: this.#active + 1,
      ArrowUp: this.#active - 1,
      Home: 0,
      End: this.#items.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) {
      event.preventDefault();
      this.#focus(Math.max(0, Math.min(to, Math.min(this.#items.length, shownMax) - 1)));
      return;
    }
    if (item === undefined) return;
    const isOnItem = event.target instanceof HTMLLIElement;
    const action = /^[1-9]$/.test(event.key)
      ? item.actions[Number(event.key) - 1]
      : event.key === 'Enter' && isOnItem
        ? item.actions.find(({ kind }) => kind === 'open' || kind === 'review' || kind === 'merge')
        : undefined;
    if (action === undefined) return;
    event.preventDefault();
    this.#act(item, action);
  };

  #focus(index: number, how: FocusOptions = {}): void {
    this.#active = index;
    this.requestUpdate();
    void this.updateComplete.then(() =>
      this.renderRoot.querySelector<HTMLElement>(`li[data-index="${index}"]`)?.focus(how),
    );
  }
}

function contextOf(item: InboxItem): object {
  const base = { preventDefaultContextMenuItems: true };
  if (item.about === null) return { ...base, webviewSection: 'empty' };
  if (item.isEpic) {
    const status = epicStatus(item.kind);
    return { ...base, webviewSection: 'epic', epicId: item.about, status };
  }
  return { ...base, webviewSection: 'task', taskId: item.about, status: statusOf(item) };
}

function epicStatus(kind: InboxItem['kind']): string {
  if (kind === 'unlanded') return '';
  return kind === 'review' ? 'needs_review' : 'conflict';
}

function statusOf(item: InboxItem): string {
  switch (item.kind) {
    case 'review':
    case 'plan':
      return 'needs_review';
    case 'question':
    case 'permission':
      return 'in_progress';
    case 'conflict':
    case 'blocked':
    case 'failed':
      return item.kind;
    case 'unlanded':
    case 'landed':
    case 'noRoom':
      return '';
  }
}

customElements.define('drover-inbox', DroverInbox);
