// A button that is only an icon. It is native, like the buttons in rows, because the toolbar button
// of `@vscode-elements/elements` cannot be disabled, pressed or focused.

import { html, nothing, type TemplateResult } from 'lit';
import { icon, type IconName } from './icon.ts';

export interface IconButtonLook {
  /** The keyboard shortcuts for the same action. */
  readonly keys?: string;
  readonly isPressed?: boolean;
  readonly isDisabled?: boolean;
  readonly tabIndex?: 0 | -1;
}

export function iconButton(
  name: IconName,
  label: string,
  onClick: () => void,
  { keys, isPressed, isDisabled = false, tabIndex }: IconButtonLook = {},
): TemplateResult {
  return html`<button
    type="button"
    class="plain"
    title=${keys === undefined ? label : `${label} (${keys})`}
    aria-label=${label}
    aria-pressed=${isPressed ?? nothing}
    tabindex=${tabIndex ?? nothing}
    ?disabled=${isDisabled}
    @click=${onClick}
  >
    ${icon(name)}
  </button>`;
}
