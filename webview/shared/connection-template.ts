// The content of a panel while there is no board.

import { html, nothing, type TemplateResult } from 'lit';
import type { HostState } from '../messages/messages.ts';
import type { Host } from './host.ts';
import { icon } from './looks/icon.ts';
import { visibleLine } from './looks/visible-text.ts';
import './looks/button.ts';

/** Replaces everything else while nothing can be shown. */
export function connectionTemplate(state: HostState, host: Host | null): TemplateResult | null {
  const { connection } = state;
  if (connection.kind === 'unavailable') {
    const { action } = connection;
    return html`<div class="empty" role="alert">
      <p>${visibleLine(connection.message)}</p>
      ${
        action === null
          ? nothing
          : html`<vscode-button
              @click=${() => void host?.action('command', { id: action.command })}
            >
              ${visibleLine(action.title)}
            </vscode-button>`
      }
    </div>`;
  }
  if (state.board !== null) return null;
  return html`<div class="empty" role="status">${icon('loading', 'spins')} Connecting…</div>`;
}
