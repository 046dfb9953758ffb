// Why nothing (or less than could be) starts: a note below the tasks, for as long as it is so.

import { html, nothing, type TemplateResult } from 'lit';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { icon } from '../shared/looks/icon.ts';

export function holdsTemplate(board: StatusSnapshot | null): TemplateResult | typeof nothing {
  if (board === null || board.holds.length === 0) return nothing;
  return html`<div class="note" role="status" data-holds>
    ${icon('debug-pause')}
    <div>${board.holds.map(({ reason }) => html`<div><bdi>${reason}</bdi></div>`)}</div>
  </div>`;
}
