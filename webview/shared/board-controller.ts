// Keeps a component's board equal to the backend's: starts with the extension's state, applies
// changes, and requests everything again if there is a gap. VS Code recreates the page of a hidden
// webview when it is shown.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import { applyChanges } from '../../server/protocol/board.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { HostState, WebviewAction } from '../messages/messages.ts';
import type { Host } from './host.ts';

export class BoardController implements ReactiveController {
  readonly #component: ReactiveControllerHost;
  readonly #host: Host;
  #unsubscribe: () => void = () => {};
  #isAsking = false;
  state: HostState | null = null;
  /** Called for VS Code commands that the webview executes itself. */
  onAction: (action: WebviewAction, ids: readonly string[], byKey: boolean) => void = () => {};

  constructor(component: ReactiveControllerHost, host: Host) {
    this.#component = component;
    this.#host = host;
    this.state = host.first ?? null;
    component.addController(this);
  }

  get board(): StatusSnapshot | null {
    return this.state?.board ?? null;
  }

  hostConnected(): void {
    this.#unsubscribe = this.#host.onPush((push) => {
      switch (push.type) {
        case 'state':
          return this.#take(push.state);
        case 'changes': {
          const board = this.board === null ? null : applyChanges(this.board, push.changes);
          if (board === null || this.state === null) return this.refresh();
          return this.#take({ ...this.state, board });
        }
        case 'do':
          return this.onAction(push.action, push.ids, push.byKey === true);
      }
    });
    this.refresh();
  }

  hostDisconnected(): void {
    this.#unsubscribe();
  }

  /** Requests everything again, only once until the answer arrives. */
  refresh(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    this.#host
      .action('hello', {})
      .catch(() => {
        // The extension exits with its webviews; a new extension pushes its state.
      })
      .finally(() => (this.#isAsking = false));
  }

  #take(state: HostState): void {
    this.state = state;
    this.#component.requestUpdate();
  }
}
