// The styles of the timeline. Each kind of time has a color from the theme's charts, and a border
// as well in high contrast.

import { css } from 'lit';

export const timelineStyles = css`
  :host {
    display: block;
  }
  .scroller {
    overflow-x: auto;
    overflow-y: auto;
    max-height: 420px;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
    border-radius: 4px;
  }
  svg {
    display: block;
    font-size: 11px;
  }
  text {
    fill: var(--vscode-editor-foreground);
    pointer-events: none;
  }
  text.tick {
    fill: var(--vscode-descriptionForeground);
  }
  line.tick {
    stroke: var(--vscode-editorIndentGuide-background1, var(--vscode-widget-border));
    opacity: 0.6;
  }
  .bar {
    fill: transparent;
    cursor: pointer;
    outline: none;
  }
  .ground {
    fill: var(--vscode-editorWidget-background, transparent);
  }
  .part {
    opacity: 0.45;
  }
  .part.setup,
  i.setup {
    fill: var(--vscode-descriptionForeground);
    background: var(--vscode-descriptionForeground);
  }
  .part.agent,
  i.agent {
    fill: var(--vscode-charts-blue, var(--vscode-focusBorder));
    background: var(--vscode-charts-blue, var(--vscode-focusBorder));
  }
  .part.landing,
  i.landing {
    fill: var(--vscode-charts-green, var(--vscode-testing-iconPassed));
    background: var(--vscode-charts-green, var(--vscode-testing-iconPassed));
  }
  .part.person,
  i.person {
    fill: var(--vscode-charts-orange, var(--vscode-editorWarning-foreground));
    background: var(--vscode-charts-orange, var(--vscode-editorWarning-foreground));
  }
  .part.person {
    opacity: 1;
  }
  .edge {
    fill: none;
    stroke: var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
  }
  .edge.critical {
    stroke: var(--vscode-charts-yellow, var(--vscode-editorWarning-foreground));
    stroke-width: 2;
  }
  .edge.failed {
    stroke: var(--vscode-testing-iconFailed, var(--vscode-errorForeground));
    stroke-width: 1.5;
    stroke-dasharray: 4 2;
  }
  .bar:hover {
    fill: var(--vscode-editor-foreground);
    fill-opacity: 0.15;
  }
  .bar:focus,
  .bar[aria-selected='true'] {
    stroke: var(--vscode-focusBorder);
    stroke-width: 2;
  }
  .footer {
    display: flex;
    flex-wrap: wrap;
    gap: 4px 12px;
    align-items: center;
    padding-top: 4px;
  }
  .footer .end {
    margin-left: auto;
    white-space: nowrap;
  }
  .legend {
    display: inline-flex;
    flex-wrap: wrap;
    gap: 4px 12px;
    color: var(--vscode-descriptionForeground);
  }
  .legend span {
    display: inline-flex;
    gap: 5px;
    align-items: center;
  }
  .legend i {
    width: 10px;
    height: 10px;
    border-radius: 2px;
    opacity: 0.7;
  }
  .legend i.critical {
    box-sizing: border-box;
    background: none;
    border: 2px solid var(--vscode-charts-yellow, var(--vscode-editorWarning-foreground));
    opacity: 1;
  }
  .chosen {
    flex-basis: 100%;
    min-height: 1.5em;
    overflow-wrap: anywhere;
  }
  .chosen button {
    margin-left: 6px;
  }
`;
