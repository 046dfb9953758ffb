// What the tree shows instead of rows: what is missing and the remedy, or how to start.

import { html, nothing, type TemplateResult } from 'lit';
import type { Connection, HostState } from '../../messages/messages.ts';
import { icon } from '../looks/icon.ts';
import { visibleText } from '../looks/visible-text.ts';
import '../looks/button.ts';

export interface WelcomeActions {
  readonly onCommand: (id: string) => void;
  readonly onNewEpic: () => void;
  readonly onNewTask: () => void;
}

/** Null: there is a board. */
export function unavailableTemplate(
  connection: Connection,
  actions: WelcomeActions,
  hasBoard = false,
): TemplateResult | null {
  switch (connection.kind) {
    case 'connected':
      return null;
    case 'connecting':
      // What was known stays in sight while the connection is made again.
      if (hasBoard) return null;
      return html`<div class="welcome" role="status"><p>Connecting …</p></div>`;
    case 'unavailable': {
      const { action, message } = connection;
      return html`<div class="welcome">
        <p role="alert">${visibleText(message)}</p>
        ${
          action === null
            ? nothing
            : html`<vscode-button @click=${() => actions.onCommand(action.command)}>
                ${action.title}
              </vscode-button>`
        }
        ${
          connection.reason === 'no_folder'
            ? html`<vscode-button secondary @click=${() => actions.onCommand('drover.openSample')}>
                Try a Sample Project
              </vscode-button>`
            : nothing
        }
      </div>`;
    }
  }
}

export function emptyTemplate(actions: WelcomeActions): TemplateResult {
  return html`<div class="welcome">
    <p>
      Nothing is planned yet. An epic holds tasks that land together; agents work on them in
      parallel.
    </p>
    <vscode-button @click=${actions.onNewEpic}>New Epic</vscode-button>
    <vscode-button secondary @click=${actions.onNewTask}>New Task</vscode-button>
    <vscode-button secondary @click=${() => actions.onCommand('drover.openWalkthrough')}>
      Show Me How
    </vscode-button>
  </div>`;
}

/** Below a board that is not up to date for the moment. */
export function reconnectingNote(state: HostState | null): TemplateResult | typeof nothing {
  if (state?.connection.kind !== 'connecting' || state.board === null) return nothing;
  return html`<div class="note" role="status">${icon('sync', 'spins')} Reconnecting …</div>`;
}
