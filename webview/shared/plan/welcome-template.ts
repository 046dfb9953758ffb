// The tree's content instead of rows: the missing part and the remedy, or how to start.

import { html, nothing, type TemplateResult } from 'lit';
import type { Connection, HostState } from '../../messages/messages.ts';
import type { Host } from '../host.ts';
import { icon } from '../looks/icon.ts';
import { visibleText } from '../looks/visible-text.ts';
import '../looks/button.ts';

type Unavailable = Extract<Connection, { readonly kind: 'unavailable' }>;

export interface WelcomeActions {
  readonly onCommand: (id: string) => void;
  readonly onNewEpic: () => void;
  readonly onNewTask: () => void;
}

const purpose =
  'Describe the work; Drover runs agents in parallel, tests each result on the merged code, and lands what passes.';

/** Before Drover has a project, the page also explains Drover. */
const isFirstUse: { readonly [R in Unavailable['reason']]: boolean } = {
  no_folder: true,
  untrusted: true,
  no_git: true,
  git_too_old: true,
  no_repository: true,
  not_initialised: true,
  backend_version: false,
  backend_failed: false,
  backend_stopped: false,
};

/** Returns null if there is a board. */
export function unavailableTemplate(
  connection: Connection,
  onCommand: (id: string) => void,
  hasBoard = false,
): TemplateResult | null {
  switch (connection.kind) {
    case 'connected':
      return null;
    case 'connecting':
      // The known board stays visible while the connection is restored.
      if (hasBoard) return null;
      return html`<div class="welcome" role="status"><p>Connecting …</p></div>`;
    case 'unavailable': {
      const { action, message, reason } = connection;
      const isFirst = isFirstUse[reason];
      return html`<div class="welcome">
        ${isFirst ? html`<p>${purpose}</p>` : nothing}
        <p role="alert">${visibleText(message)}</p>
        ${action === null ? nothing : commandButton(action.title, action.command, onCommand, true)}
        ${
          // The sample has its own folder, which git creates and the user must also trust.
          isFirst && reason !== 'no_git' && reason !== 'git_too_old' && reason !== 'untrusted'
            ? commandButton('Try a Sample Project', 'drover.openSample', onCommand)
            : nothing
        }
        ${isFirst ? commandButton('Show Me How', 'drover.openWalkthrough', onCommand) : nothing}
      </div>`;
    }
  }
}

/** The same for a page without a place for failures: VS Code shows them. */
export function unavailablePage(
  { connection, board }: HostState,
  host: Host | null,
): TemplateResult | null {
  const onCommand = (id: string): void => void host?.action('command', { id });
  return unavailableTemplate(connection, onCommand, board !== null);
}

function commandButton(
  title: string,
  id: string,
  onCommand: (id: string) => void,
  isPrimary = false,
): TemplateResult {
  return html`<vscode-button ?secondary=${!isPrimary} @click=${() => onCommand(id)}>
    ${title}
  </vscode-button>`;
}

export function emptyTemplate(actions: WelcomeActions): TemplateResult {
  return html`<div class="welcome">
    <p>${purpose}</p>
    <p>Nothing is planned yet. Let an agent plan it, or write an epic: tasks that land together.</p>
    ${commandButton('Plan from a Prompt…', 'drover.planFromPrompt', actions.onCommand, true)}
    <vscode-button secondary @click=${actions.onNewEpic}>New Epic</vscode-button>
    <vscode-button secondary @click=${actions.onNewTask}>New Task</vscode-button>
    ${commandButton('Show Me How', 'drover.openWalkthrough', actions.onCommand)}
  </div>`;
}

/** Shown below a board that is temporarily not up to date. */
export function reconnectingNote(state: HostState | null): TemplateResult | typeof nothing {
  if (state?.connection.kind !== 'connecting' || state.board === null) return nothing;
  return html`<div class="note" role="status">${icon('sync', 'spins')} Reconnecting …</div>`;
}
