// Controls in VS Code's style, from its theme variables: native ones, and additions to the elements
// of `@vscode-elements/elements`.

import { css } from 'lit';

export const controlStyles = css`
  :host {
    font-family: var(--vscode-font-family);
    font-size: var(--vscode-font-size);
    color: var(--vscode-foreground);
  }
  button {
    font: inherit;
    color: inherit;
    background: none;
    border: 1px solid transparent;
    cursor: pointer;
  }
  button:focus-visible,
  input:focus-visible,
  textarea:focus-visible,
  select:focus-visible,
  [tabindex]:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
    outline-offset: -1px;
  }
  button:disabled {
    opacity: 0.5;
    cursor: default;
  }
  vscode-button {
    max-width: 100%;
  }
  /* A finger needs more than VS Code's size. */
  @media (pointer: coarse) {
    vscode-button::part(base) {
      min-height: 40px;
    }
    button.plain {
      min-width: 40px;
      min-height: 40px;
    }
  }
  /* An answer that agents offer may be a sentence. */
  vscode-button::part(base) {
    overflow-wrap: anywhere;
    white-space: normal;
  }
  vscode-button[secondary]::part(base) {
    border-color: var(--vscode-button-secondaryBorder, var(--vscode-contrastBorder, transparent));
  }
  /*
   * High-contrast themes have no color for it, and the element's own color is dark even in light
   * ones.
   */
  :host-context(.vscode-high-contrast) vscode-button[secondary] {
    --vscode-button-secondaryHoverBackground: transparent;
  }
  vscode-button > .icon {
    margin-inline-end: 4px;
  }
  button.plain {
    display: inline-flex;
    align-items: center;
    gap: 4px;
    min-width: 22px;
    height: 22px;
    padding: 0 3px;
    justify-content: center;
    border-radius: 5px;
    color: var(--vscode-icon-foreground, var(--vscode-foreground));
  }
  button.plain:hover:enabled {
    background: var(--vscode-toolbar-hoverBackground);
    outline: 1px dashed var(--vscode-toolbar-hoverOutline, transparent);
    outline-offset: -1px;
  }
  button.plain[aria-pressed='true'] {
    color: var(--vscode-inputOption-activeForeground);
    background: var(--vscode-inputOption-activeBackground);
    border-color: var(--vscode-inputOption-activeBorder);
  }
  button.link {
    padding: 0;
    color: var(--vscode-textLink-foreground);
    text-align: start;
    overflow-wrap: anywhere;
  }
  button.link:hover {
    text-decoration: underline;
  }
  /* Its inner field has square corners, which would cover the rounded corners of its border. */
  vscode-textfield {
    --vscode-settings-textInputBackground: transparent;
    min-width: 0;
    border-radius: 4px;
    background: var(--vscode-input-background);
  }
  textarea,
  select {
    box-sizing: border-box;
    font: inherit;
    color: var(--vscode-input-foreground);
    background: var(--vscode-input-background);
    border: 1px solid var(--vscode-input-border, var(--vscode-contrastBorder, transparent));
    border-radius: 4px;
    padding: 3px 6px;
  }
  select {
    color: var(--vscode-dropdown-foreground);
    background: var(--vscode-dropdown-background);
    border-color: var(--vscode-dropdown-border);
    padding: 1px 4px;
    min-height: 22px;
  }
  ::placeholder {
    color: var(--vscode-input-placeholderForeground);
    opacity: 1;
  }
  .hidden {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
`;
