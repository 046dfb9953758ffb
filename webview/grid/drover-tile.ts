// One agent in the grid: its task, its step, its duration, and the last lines of its stream.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { SizeController } from '../shared/size-controller.ts';
import { statusStyles } from '../shared/status-styles.ts';
import { statusLook, statusWords, runsOnWorker } from '../shared/status-words.ts';
import type { QuestionView } from '../../server/protocol/views.ts';
import { formatDuration } from '../../server/core/format.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, iconStyles } from '../shared/looks/icon.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import type { LiveAgent } from './live-agents.ts';
import type { TileFeed } from './tile-feed.ts';
import { tileLinesMax } from './tile-lines.ts';
import '../shared/looks/button.ts';

/** Longest time that a tile waits for new lines before it updates its time. */
const quietMs = 1_500;
/** Computed for the smallest font size that people use. */
const lineMinPx = 12;
/** If a question has more answers than this, the page of the task shows them. */
const choicesMax = 3;
const choiceCharsMax = 60;
const questionCharsMax = 300;

/** The board keeps unchanged rows; the pair is created again each time. */
function isOther(agent: LiveAgent | null, before: LiveAgent | null | undefined): boolean {
  return agent?.task !== before?.task || agent?.part !== before?.part;
}

export class DroverTile extends LitElement {
  static override properties = {
    agent: { attribute: false, hasChanged: isOther },
    feed: { attribute: false },
    questions: { attribute: false },
    isActive: { attribute: false },
  };
  static override styles = [
    controlStyles,
    iconStyles,
    statusStyles,
    css`
      :host {
        display: flex;
        flex-direction: column;
        min-width: 0;
        height: 100%;
        overflow: hidden;
        cursor: pointer;
        color: var(--vscode-foreground);
        background: var(--vscode-editor-background);
        border: 1px solid var(--vscode-editorWidget-border, var(--vscode-contrastBorder));
        border-radius: 4px;
        box-sizing: border-box;
      }
      :host(:hover) {
        border-color: var(--vscode-focusBorder);
      }
      .head {
        display: flex;
        flex: none;
        gap: 6px;
        align-items: center;
        width: 100%;
        min-height: 26px;
        padding: 2px 8px;
        text-align: start;
      }
      .title {
        flex: 1;
        min-width: 0;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        font-weight: 600;
        unicode-bidi: isolate;
      }
      .facts {
        display: flex;
        flex: none;
        gap: 8px;
        align-items: center;
        padding: 0 8px 4px 30px;
        color: var(--vscode-descriptionForeground);
        border-bottom: 1px solid var(--vscode-editorGroup-border, var(--vscode-contrastBorder));
        white-space: nowrap;
        overflow: hidden;
      }
      .waits {
        display: inline-flex;
        gap: 4px;
        align-items: center;
        color: var(--vscode-foreground);
      }
      .waits .icon {
        color: var(--vscode-editorWarning-foreground);
      }
      .asks {
        display: flex;
        flex: none;
        flex-wrap: wrap;
        gap: 4px;
        padding: 4px 8px;
      }
      .asks .words {
        flex: 1 0 100%;
        overflow: hidden;
        text-overflow: ellipsis;
        white-space: nowrap;
        unicode-bidi: isolate;
      }
      .asks vscode-button {
        min-width: 0;
        max-width: 100%;
        overflow: hidden;
      }
      .tail {
        display: flex;
        flex: 1;
        flex-direction: column;
        justify-content: flex-end;
        min-height: 0;
        overflow: hidden;
        contain: strict;
      }
      pre {
        margin: 0;
        padding: 4px 8px;
        font-family: var(--vscode-editor-font-family, monospace);
        font-size: var(--vscode-editor-font-size, 12px);
        line-height: 1.35;
        white-space: pre;
        unicode-bidi: plaintext;
      }
      .skipped {
        flex: none;
        padding: 0 8px 2px;
        color: var(--vscode-descriptionForeground);
      }
    `,
  ];
  declare agent: LiveAgent | null;
  /** The source of its lines, which reports when they change. */
  declare feed: TileFeed | null;
  /** Those that wait for a person. */
  declare questions: readonly QuestionView[];
  declare isActive: boolean;
  /**
   * The time at which its lines were last drawn (Unix milliseconds); its own time is drawn with
   * them.
   */
  newsMs = 0;
  /** The time at which any part of it was last drawn (Unix milliseconds). */
  drawnMs = 0;
  #shownTime: string | null = null;
  /** Reading and laying out lines that do not fit would be wasted; null until the size is known. */
  #fits: number | null = null;

  constructor() {
    super();
    this.agent = null;
    this.feed = null;
    this.questions = [];
    this.isActive = false;
    new SizeController(this, () => this.#resize());
  }

  override willUpdate(): void {
    if (this.feed !== null && this.#fits !== null) this.feed.fits = this.#fits;
  }

  override render(): TemplateResult {
    if (this.agent === null) return html`${nothing}`;
    const { lines, skipped, fits } = this.feed ?? { lines: [], skipped: 0, fits: 0 };
    const { task, part } = this.agent;
    this.drawnMs = Date.now();
    const time = this.#timeAt(this.drawnMs);
    this.#shownTime = time;
    const [question] = this.questions;
    const isAsking = question !== undefined;
    const look = statusLook(task, isAsking);
    return html`<button
        type="button"
        class="head"
        tabindex=${this.isActive ? 0 : -1}
        title="Open the stream"
      >
        ${icon(look.icon, `${isAsking ? '' : 'spins'} tone-${look.tone}`)}
        <span class="title"
          >${visibleLine(task.title)}${part === null ? nothing : html`: ${visibleLine(part.title)}`}</span
        >
      </button>
      <div class="facts">
        ${isAsking ? html`<span class="waits">${icon('question')} waits for you</span>` : nothing}
        <span>${task.phase ?? statusWords(task)}</span>
        ${task.agent === null ? nothing : html`<span>${visibleLine(task.agent)}</span>`}
        ${typeof task.machine !== 'string' ? nothing : html`<span>on ${visibleLine(task.machine)}</span>`}
        ${runsOnWorker(task) ? html`<span>on a worker</span>` : nothing}
        ${time === null ? nothing : html`<span>${time}</span>`}
      </div>
      ${isAsking ? this.#asks(question) : nothing}
      <div class="tail"><pre>${lines.slice(-fits).join('\n')}</pre></div>
      ${
        skipped === 0
          ? nothing
          : html`<div class="skipped">
              about ${skipped.toLocaleString('en')} lines skipped in this view
            </div>`
      }`;
  }

  /** The answers of a short choice; otherwise, the page of the task has the room for them. */
  #asks({ id, text, choices }: QuestionView): TemplateResult {
    const hasRoom = choices.length > 0 && choices.length <= choicesMax;
    const answer = (choice: string) => (event: Event) => {
      // A click on the tile opens its page.
      event.stopPropagation();
      this.dispatchEvent(new CustomEvent('answer', { detail: { id, choice } }));
    };
    return html`<div class="asks">
      <span class="words" title=${visibleLine(text)}
        >${visibleLine(text.slice(0, questionCharsMax))}</span
      >
      ${
        hasRoom
          ? choices.map(
              (choice, at) =>
                html`<vscode-button ?secondary=${at > 0} @click=${answer(choice)}
                  >${visibleLine(choice.slice(0, choiceCharsMax))}</vscode-button
                >`,
            )
          : html`<vscode-button>Answer…</vscode-button>`
      }
    </div>`;
  }

  #resize(): void {
    const heightPx = this.renderRoot.querySelector('.tail')?.clientHeight ?? 0;
    this.#fits = Math.min(tileLinesMax, Math.max(1, Math.ceil(heightPx / lineMinPx)));
    this.requestUpdate();
  }

  /** Nothing else causes an update of its time. */
  isLate(nowMs: number): boolean {
    return nowMs - this.newsMs > quietMs && this.#timeAt(nowMs) !== this.#shownTime;
  }

  #timeAt(nowMs: number): string | null {
    const startedAt = this.agent?.task.started_at ?? null;
    return startedAt === null ? null : formatDuration(nowMs - startedAt * 1_000);
  }

  focusHead(): void {
    this.renderRoot.querySelector<HTMLElement>('.head')?.focus();
  }
}

customElements.define('drover-tile', DroverTile);
