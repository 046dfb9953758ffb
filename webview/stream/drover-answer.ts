// The buttons of an open question: its choices, or a field where nothing is offered. Says `answer`
// with the choice.

import { css, html, LitElement, type TemplateResult } from 'lit';
import type { QuestionView } from '../../server/protocol/views.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import '../shared/looks/button.ts';
import '../shared/looks/text-field.ts';

const answerCharsMax = 4_000;

export class DroverAnswer extends LitElement {
  static override properties = {
    question: { attribute: false },
    isBusy: { attribute: false },
  };
  static override styles = [
    controlStyles,
    css`
      .choices {
        display: flex;
        flex-wrap: wrap;
        gap: 6px;
        margin-top: 6px;
      }
      form {
        display: flex;
        gap: 6px;
        margin-top: 6px;
      }
      vscode-textfield {
        flex: 1;
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
    if (choices.length === 0) return this.#field();
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

  #field(): TemplateResult {
    return html`<form
      @submit=${(event: SubmitEvent) => {
        event.preventDefault();
        const text = this.renderRoot.querySelector('vscode-textfield')?.value.trim() ?? '';
        if (text !== '') this.#answer(text);
      }}
    >
      <vscode-textfield
        .label=${'Your answer'}
        maxlength=${answerCharsMax}
        ?disabled=${this.isBusy}
      ></vscode-textfield>
      <vscode-button type="submit" ?disabled=${this.isBusy}>Answer</vscode-button>
    </form>`;
  }

  #answer(choice: string): void {
    this.dispatchEvent(new CustomEvent<string>('answer', { detail: choice }));
  }
}

customElements.define('drover-answer', DroverAnswer);
