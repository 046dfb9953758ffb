// One agent in the grid: its task, its step, how long, and the last lines of its stream.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import { statusStyles } from '../shared/status-styles.ts';
import { statusLooks, statusWords } from '../shared/status-words.ts';
import { durationText } from '../stream/attempt-facts.ts';
import { controlStyles } from '../stream/control-styles.ts';
import { icon, iconStyles } from '../stream/icon.ts';
import { visibleLine } from '../stream/visible-text.ts';
import type { LiveAgent } from './live-agents.ts';

export class DroverTile extends LitElement {
  static override properties = {
    agent: { attribute: false },
    lines: { attribute: false },
    skipped: { attribute: false },
    waiting: { attribute: false },
    nowMs: { attribute: false },
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
  declare lines: readonly string[];
  declare skipped: number;
  /** Questions that wait for a person. */
  declare waiting: number;
  declare nowMs: number;
  declare isActive: boolean;

  constructor() {
    super();
    this.agent = null;
    this.lines = [];
    this.skipped = 0;
    this.waiting = 0;
    this.nowMs = 0;
    this.isActive = false;
  }

  override render(): TemplateResult {
    if (this.agent === null) return html`${nothing}`;
    const { task, part } = this.agent;
    const elapsed = task.started_at === null ? null : this.nowMs - task.started_at * 1000;
    const look = statusLooks[task.status];
    return html`<button
        type="button"
        class="head"
        tabindex=${this.isActive ? 0 : -1}
        title="Open the stream"
      >
        ${icon(look.icon, `spins tone-${look.tone}`)}
        <span class="title"
          >${visibleLine(task.title)}${part === null ? nothing : html`: ${visibleLine(part.title)}`}</span
        >
      </button>
      <div class="facts">
        <span>${task.phase ?? statusWords(task)}</span>
        ${task.agent === null ? nothing : html`<span>${visibleLine(task.agent)}</span>`}
        ${typeof task.machine !== 'string' ? nothing : html`<span>on ${visibleLine(task.machine)}</span>`}
        ${elapsed === null ? nothing : html`<span>${durationText(Math.max(0, elapsed))}</span>`}
        ${
          this.waiting === 0
            ? nothing
            : html`<span class="waits">${icon('question')} waits for you</span>`
        }
      </div>
      <div class="tail"><pre>${this.lines.join('\n')}</pre></div>
      ${
        this.skipped === 0
          ? nothing
          : html`<div class="skipped">
              about ${this.skipped.toLocaleString('en')} lines skipped in this view
            </div>`
      }`;
  }

  focusHead(): void {
    this.renderRoot.querySelector<HTMLElement>('.head')?.focus();
  }
}

customElements.define('drover-tile', DroverTile);
