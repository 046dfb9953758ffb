// The styles of the dependency graph, from VS Code's theme variables.

import { css } from 'lit';

export const graphStyles = css`
  :host {
    position: relative;
    overflow: hidden;
  }
  .stage {
    position: absolute;
    inset: 0;
    overflow: hidden;
    outline: none;
    touch-action: none;
    cursor: grab;
  }
  .stage.panning {
    cursor: grabbing;
  }
  .stage:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
    outline-offset: -1px;
  }
  .layer {
    position: absolute;
    transform-origin: 0 0;
  }
  svg {
    position: absolute;
    overflow: visible;
    pointer-events: none;
  }
  path {
    fill: none;
    stroke: var(--vscode-editorIndentGuide-activeBackground1, var(--vscode-foreground));
    stroke-width: 1.5;
  }
  path.critical {
    stroke: var(--vscode-editorWarning-foreground, var(--vscode-foreground));
    stroke-width: 2.5;
  }
  path.related {
    stroke: var(--vscode-focusBorder);
    stroke-width: 2.5;
  }
  path.unrelated {
    opacity: 0.25;
  }
  path.drawn {
    stroke: var(--vscode-focusBorder);
    stroke-dasharray: 5 4;
  }
  path.drawn.refused {
    stroke: var(--vscode-errorForeground);
  }
  path.arrow {
    fill: context-stroke;
    stroke: none;
  }
  path.hit {
    stroke: transparent;
    stroke-width: 12;
    pointer-events: stroke;
    cursor: pointer;
  }
  path.chosen {
    stroke: var(--vscode-focusBorder);
    stroke-width: 4;
  }
  .node {
    position: absolute;
    top: 0;
    left: 0;
    box-sizing: border-box;
    padding: 3px 20px 3px 8px;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, currentColor));
    border-radius: 4px;
    color: var(--vscode-editorWidget-foreground, var(--vscode-foreground));
    background: var(--vscode-editorWidget-background);
    cursor: pointer;
    user-select: none;
  }
  .node.group {
    border-width: 2px;
    border-radius: 6px;
  }
  .node.critical {
    border-color: var(--vscode-editorWarning-foreground, var(--vscode-foreground));
    border-left-width: 4px;
    padding-left: 5px;
  }
  .node.alarm {
    border-color: var(--vscode-editorWarning-foreground, var(--vscode-foreground));
    border-style: double;
    border-width: 3px;
  }
  .node.outside {
    border-style: dashed;
  }
  .node.upstream,
  .node.downstream {
    border-color: var(--vscode-focusBorder);
  }
  .node.active {
    outline: 1px solid var(--vscode-list-inactiveFocusOutline, transparent);
  }
  .stage:focus .node.active {
    outline: 2px solid var(--vscode-focusBorder);
    outline-offset: 1px;
  }
  .node.target {
    background: var(--vscode-list-dropBackground);
    outline: 2px dashed var(--vscode-focusBorder);
  }
  .node.refused {
    cursor: not-allowed;
    outline: 2px solid var(--vscode-errorForeground);
  }
  .line {
    display: flex;
    gap: 6px;
    align-items: center;
    height: 19px;
  }
  .title,
  .quiet {
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .quiet {
    height: 17px;
    line-height: 17px;
    font-size: 0.92em;
  }
  .handle {
    position: absolute;
    top: 0;
    right: 0;
    width: 16px;
    height: 100%;
    cursor: crosshair;
  }
  .handle::after {
    content: '';
    position: absolute;
    right: -5px;
    top: 50%;
    width: 9px;
    height: 9px;
    margin-top: -5px;
    border-radius: 50%;
    box-sizing: border-box;
    border: 2px solid var(--vscode-focusBorder);
    background: var(--vscode-editor-background);
    visibility: hidden;
  }
  .node:hover .handle::after,
  .node.active .handle::after {
    visibility: visible;
  }
  .tools {
    position: absolute;
    right: 8px;
    bottom: 8px;
    display: flex;
    gap: 2px;
    padding: 2px;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
    border-radius: 4px;
    background: var(--vscode-editorWidget-background);
  }
  .words {
    position: absolute;
    left: 8px;
    bottom: 8px;
    max-width: 60%;
    padding: 3px 8px;
    overflow-wrap: anywhere;
    border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
    border-radius: 4px;
    color: var(--vscode-editorWidget-foreground, var(--vscode-foreground));
    background: var(--vscode-editorWidget-background);
    pointer-events: none;
  }
  .words.error {
    border-color: var(--vscode-inputValidation-errorBorder, var(--vscode-errorForeground));
  }
`;
