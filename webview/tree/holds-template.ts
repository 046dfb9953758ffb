// Shown below the tasks: why nothing (or less than possible) starts, as long as that applies, and
// before the first run, the button that starts it.

import { html, nothing, type TemplateResult } from 'lit';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { icon } from '../shared/looks/icon.ts';
import '../shared/looks/button.ts';
import type { TreeParts } from './tree-keys.ts';

export function holdsTemplate(
  board: StatusSnapshot | null,
  parts: TreeParts | null,
): TemplateResult | typeof nothing {
  if (board === null) return nothing;
  if (board.holds.length === 0) return firstRun(board, parts);
  return html`<div class="note" role="status" data-holds>
    ${icon('debug-pause')}
    <div>${board.holds.map(({ reason }) => html`<div><bdi>${reason}</bdi></div>`)}</div>
  </div>`;
}

/** A message would disappear before a newcomer has read the plan. */
function firstRun(
  { epics, run, tasks }: StatusSnapshot,
  parts: TreeParts | null,
): TemplateResult | typeof nothing {
  if (run !== null || parts === null || !tasks.some(({ status }) => status === 'ready'))
    return nothing;
  const { host, ran } = parts;
  const [only, ...others] = epics;
  const isAll = others.length === 0 && tasks.every(({ epic_id: epic }) => epic === only?.id);
  const epic = isAll ? (only?.id ?? null) : null;
  const onRun = (): void =>
    ran(
      epic === null
        ? host.action('command', { id: 'drover.runAll' })
        : host.action('runEpic', { epic }),
    );
  const title = epic === null ? 'Run All Tasks' : 'Run the Epic';
  return html`<div class="note" data-first-run>
    ${icon('info')}
    <div class="words">The plan has not run yet.</div>
    <vscode-button @click=${onRun}>${title}</vscode-button>
  </div>`;
}
