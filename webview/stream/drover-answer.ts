// The buttons of an open question: its choices, or a text field if there are none. Emits `answer`
// with the choice.

import { css, html, LitElement, type TemplateResult } from 'lit';
import type { QuestionView } from '../../server/protocol/views.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import '../shared/looks/button.ts';
import { wordsForm, wordsFormStyles } from '../shared/looks/words-form.ts';

export class DroverAnswer extends LitElement {
  static override properties = {
    question: { attribute: false },
    isBusy: { attribute: false },
  };
  static override styles = [
    controlStyles,
    wordsFormStyles,
    css`
      .choices {
        display: flex;
        flex-wrap: wrap;
        gap: 6px;
        margin-top: 6px;
      }
    `,
  ];
  declare question: QuestionView | null;
  declare isBusy: boolean;

  constructor() {
    super();
    this.question = null;
    this.isBusy = false;
  }

  override render(): TemplateResult {
    const choices = this.question?.choices ?? [];
    if (choices.length === 0) {
      return wordsForm({
        label: 'Your answer',
        hasPlaceholder: false,
        button: 'Answer',
        isBusy: this.isBusy,
        onWords: (words) => this.#answer(words),
      });
    }
    return html`<div class="choices" role="group" aria-label="Answers">
      ${choices.map(
        (choice, index) =>
          html`<vscode-button
            ?secondary=${index > 0}
            data-question=${this.question?.id ?? ''}
            ?disabled=${this.isBusy}
            @click=${() => this.#answer(choice)}
          >
            ${visibleLine(choice)}
          </vscode-button>`,
      )}
    </div>`;
  }

  #answer(choice: string): void {
    this.dispatchEvent(new CustomEvent<string>('answer', { detail: choice }));
  }
}

customElements.define('drover-answer', DroverAnswer);
