// The message that says why something failed. It disappears with its button, with the next action,
// once its subject has changed, or after a while.

import { html, nothing, type ReactiveController, type ReactiveControllerHost } from 'lit';
import type { TemplateResult } from 'lit';
import type { HostState } from '../../messages/messages.ts';
import type { Host } from '../host.ts';
import { icon } from '../looks/icon.ts';
import { visibleText } from '../looks/visible-text.ts';
import { isBySettings } from '../report-failure.ts';

const shownMs = 30_000;

interface Failure {
  readonly words: string;
  /** The state that a person may have changed since, in this view or elsewhere. */
  readonly cause: string;
  /** The settings file is the cause, so the message offers to open it. */
  readonly isBySettings: boolean;
}

export class FailureNote implements ReactiveController {
  readonly #component: ReactiveControllerHost & { readonly host: Host | null };
  readonly #state: () => HostState | null;
  #failure: Failure | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(
    component: ReactiveControllerHost & { readonly host: Host | null },
    state: () => HostState | null,
  ) {
    this.#component = component;
    this.#state = state;
    component.addController(this);
  }

  hostUpdate(): void {
    if (this.#failure !== null && this.#failure.cause !== causeIn(this.#state())) this.#end();
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
  }

  show(error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    const cause = causeIn(this.#state());
    this.#end({ words, cause, isBySettings: isBySettings(error) });
    this.#component.requestUpdate();
    this.#timer = setTimeout(() => this.clear(), shownMs);
  }

  clear(): void {
    if (this.#failure === null) return;
    this.#end();
    this.#component.requestUpdate();
  }

  /** Returns null if nothing has failed. */
  template(): TemplateResult | null {
    if (this.#failure === null) return null;
    const { words, isBySettings: hasButton } = this.#failure;
    return html`<div class="note error">
      ${icon('error')}<bdi class="words" role="alert">${visibleText(words)}</bdi>
      ${hasButton ? html`<vscode-button secondary @click=${this.#openSettings}>Open .drover.toml</vscode-button>` : nothing}
      <button
        class="plain"
        type="button"
        aria-label="Close"
        title="Close"
        @click=${() => this.clear()}
      >
        ${icon('close')}
      </button>
    </div>`;
  }

  readonly #openSettings = (): void => {
    const opening = this.#component.host?.action('command', { id: 'drover.openProjectSettings' });
    opening?.catch((error: unknown) => this.show(error));
  };

  #end(next: Failure | null = null): void {
    clearTimeout(this.#timer);
    this.#failure = next;
  }
}

/**
 * The connection, the settings, the plan and the run, without anything that changes by itself while
 * agents work.
 */
function causeIn(state: HostState | null): string {
  if (state === null) return '';
  const { board, connection } = state;
  return JSON.stringify([
    connection,
    board?.config,
    board?.run?.id,
    board?.run?.active,
    board?.epics.map(({ id, title, status }) => [id, title, status]),
    board?.tasks.map((task) => [
      task.id,
      task.title,
      task.epic_id,
      task.parent_id,
      task.position,
      task.blocked_by,
    ]),
  ]);
}
