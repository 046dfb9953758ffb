// The search field of the stream, like the editor's: Enter and F3 go to the next match, with Shift
// to the previous one, and Escape closes it. Emits `find`, `find-step`, `find-close`.

import { css, html, LitElement, type TemplateResult } from 'lit';
import { controlStyles } from '../../shared/looks/control-styles.ts';
import { focusField, type VscodeTextfield } from '../../shared/looks/text-field.ts';
import type { FindQuery } from './find-entries.ts';
import { iconStyles } from '../../shared/looks/icon.ts';
import { iconButton } from '../../shared/looks/icon-button.ts';

const queryCharsMax = 500;

export class DroverFind extends LitElement {
  static override properties = {
    query: { attribute: false },
    result: { attribute: false },
  };
  static override styles = [
    controlStyles,
    iconStyles,
    css`
      :host {
        position: absolute;
        top: 0;
        inset-inline-end: 18px;
        z-index: 2;
        display: flex;
        align-items: center;
        gap: 3px;
        padding: 4px 6px;
        color: var(--vscode-editorWidget-foreground);
        background: var(--vscode-editorWidget-background);
        border: 1px solid var(--vscode-editorWidget-border, var(--vscode-contrastBorder));
        border-top: 0;
        border-radius: 0 0 4px 4px;
        box-shadow: 0 0 8px 2px var(--vscode-widget-shadow);
      }
      vscode-textfield {
        width: 200px;
      }
      .result {
        min-width: 110px;
        padding-inline: 4px;
      }
    `,
  ];
  declare query: FindQuery;
  /** `3 of 12`, `No results`, `Searching…` */
  declare result: string;

  constructor() {
    super();
    this.query = { text: '', matchesCase: false };
    this.result = '';
  }

  override render(): TemplateResult {
    const { matchesCase, text } = this.query;
    return html`<vscode-textfield
        .label=${'Find in transcript'}
        placeholder="Find"
        maxlength=${queryCharsMax}
        .value=${text}
        @input=${(event: Event) => this.#change({ text: (event.target as VscodeTextfield).value })}
        @keydown=${this.#onKey}
      ></vscode-textfield>
      ${iconButton(
        'case-sensitive',
        'Match Case',
        () => this.#change({ matchesCase: !matchesCase }),
        {
          isPressed: matchesCase,
        },
      )}
      <span class="result" role="status">${this.result}</span>
      ${iconButton('arrow-up', 'Previous Match', () => this.#step('older'), { keys: 'Shift+Enter' })}
      ${iconButton('arrow-down', 'Next Match', () => this.#step('newer'), { keys: 'Enter' })}
      ${iconButton('close', 'Close', () => this.#close(), { keys: 'Escape' })}`;
  }

  /** Focuses the field with its whole text selected. */
  async enter(): Promise<void> {
    await this.updateComplete;
    const field = this.renderRoot.querySelector('vscode-textfield');
    await focusField(field);
    field?.wrappedElement.select();
  }

  #change(part: Partial<FindQuery>): void {
    this.query = { ...this.query, ...part };
    this.dispatchEvent(new CustomEvent<FindQuery>('find', { detail: this.query }));
  }

  #step(direction: 'older' | 'newer'): void {
    this.dispatchEvent(new CustomEvent<'older' | 'newer'>('find-step', { detail: direction }));
  }

  #close(): void {
    this.dispatchEvent(new CustomEvent('find-close'));
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    switch (event.key) {
      case 'Enter':
      case 'F3':
        this.#step(event.shiftKey ? 'older' : 'newer');
        break;
      case 'Escape':
        this.#close();
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
}

customElements.define('drover-find', DroverFind);
