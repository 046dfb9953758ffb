// The agent's to-do list, pinned above its transcript.

import { css, html, nothing, type TemplateResult } from 'lit';
import { icon, type IconName } from '../../shared/looks/icon.ts';
import { todoSummary, type TodoItem, type TodoState } from '../../shared/log/todo-list.ts';
import { visibleLine } from '../../shared/looks/visible-text.ts';

const looks: { readonly [S in TodoState]: { readonly icon: IconName; readonly words: string } } = {
  open: { icon: 'circle', words: 'to do' },
  active: { icon: 'play', words: 'doing' },
  done: { icon: 'check', words: 'done' },
};

export function todosTemplate(items: readonly TodoItem[] | null): TemplateResult | typeof nothing {
  if (items === null || items.length === 0) return nothing;
  return html`<details class="todos">
    <summary>${icon('checklist')} To-do: ${visibleLine(todoSummary(items))}</summary>
    <ul tabindex="0" aria-label="To-do">
      ${items.map(
        ({ text, state }) =>
          html`<li class=${state}>
            ${icon(looks[state].icon)}<span>${visibleLine(text)}</span
            ><span class="hidden">, ${looks[state].words}</span>
          </li>`,
      )}
    </ul>
  </details>`;
}

export const todoStyles = css`
  .todos {
    padding: 3px 16px;
    border-bottom: 1px solid
      var(--vscode-editorWidget-border, var(--vscode-contrastBorder, transparent));
  }
  .todos > summary {
    cursor: pointer;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .todos > summary:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
  }
  .todos > summary > .icon {
    vertical-align: text-bottom;
  }
  .todos > ul {
    margin: 4px 0;
    padding: 0 0 0 16px;
    max-height: 30vh;
    overflow: auto;
    list-style: none;
  }
  .todos li {
    display: flex;
    gap: 6px;
    overflow-wrap: anywhere;
  }
  .todos li.active {
    font-weight: 600;
  }
  .todos li.done > span:not(.icon, .hidden) {
    color: var(--vscode-descriptionForeground);
    text-decoration: line-through;
  }
`;
