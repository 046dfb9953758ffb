// The message about tasks of a plan that name the same files although neither waits for the other.

import { html, nothing, type TemplateResult } from 'lit';
import { proposeEdges, sharedFileNames } from '../../server/core/spec/shared-files.ts';
import { icon } from '../shared/looks/icon.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import type { DraftedTask } from './plan-draft.ts';
import type { PlanActions } from './plan-template.ts';
import '../shared/looks/button.ts';

/** Only tasks that will be added count. */
export function sharedFilesTemplate(
  tasks: readonly DraftedTask[],
  { change }: Pick<PlanActions, 'change'>,
): TemplateResult | typeof nothing {
  const edges = proposeEdges(tasks.filter(({ isIn }) => isIn));
  if (edges.length === 0) return nothing;
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const titleOf = (id: string): string => visibleLine(byId.get(id)?.title ?? id);
  return html`<div class="note">
    ${icon('warning')}
    <div>
      These tasks name the same files and do not wait for each other, so they may conflict:
      <ul>
        ${edges.map((edge) => {
          const task = byId.get(edge.task);
          const label = `Add Dependency: “${titleOf(edge.task)}” waits for “${titleOf(edge.waitsFor)}”`;
          return html`<li>
            <bdi>${titleOf(edge.task)}</bdi> and <bdi>${titleOf(edge.waitsFor)}</bdi>:
            ${visibleLine(sharedFileNames(edge))}
            <vscode-button
              secondary
              aria-label=${label}
              title=${label}
              @click=${() =>
                change(edge.task, { blockedBy: [...(task?.blockedBy ?? []), edge.waitsFor] })}
            >
              Add Dependency
            </vscode-button>
          </li>`;
        })}
      </ul>
    </div>
  </div>`;
}
