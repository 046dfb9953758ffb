// A text field with a button that sends it; blank text is sent only if the text is optional.

import { css, html, nothing, type TemplateResult } from 'lit';
import './button.ts';
import './text-field.ts';

export interface WordsForm {
  readonly label: string;
  readonly hasPlaceholder: boolean;
  readonly button: string;
  readonly isBusy: boolean;
  readonly isOptional?: boolean;
  readonly onWords: (words: string) => void;
}

const wordsCharsMax = 4_000;

export const wordsFormStyles = css`
  form {
    display: flex;
    gap: 6px;
    margin-top: 6px;
  }
  form > vscode-textfield {
    flex: 1;
  }
`;

export function wordsForm({
  label,
  hasPlaceholder,
  button,
  isBusy,
  isOptional = false,
  onWords,
}: WordsForm): TemplateResult {
  return html`<form
    @submit=${(event: SubmitEvent) => {
      event.preventDefault();
      const form = event.currentTarget as HTMLFormElement;
      const words = form.querySelector('vscode-textfield')?.value.trim() ?? '';
      if (isOptional || words !== '') onWords(words);
    }}
  >
    <vscode-textfield
      .label=${label}
      placeholder=${hasPlaceholder ? label : nothing}
      maxlength=${wordsCharsMax}
      ?disabled=${isBusy}
    ></vscode-textfield>
    <vscode-button type="submit" ?disabled=${isBusy}>${button}</vscode-button>
  </form>`;
}
