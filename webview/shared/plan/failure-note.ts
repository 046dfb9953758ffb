// The note that says why something failed: it goes with its button, with the next action, or by
// itself after a while.

import { html, nothing, type ReactiveController, type ReactiveControllerHost } from 'lit';
import type { TemplateResult } from 'lit';
import type { Host } from '../host.ts';
import { icon } from '../looks/icon.ts';
import { visibleText } from '../looks/visible-text.ts';
import { isBySettings } from '../report-failure.ts';

const shownMs = 30_000;

interface Failure {
  readonly words: string;
  /** The settings file is the cause, so the note offers to open it. */
  readonly isBySettings: boolean;
}

export class FailureNote implements ReactiveController {
  readonly #component: ReactiveControllerHost & { readonly host: Host | null };
  #failure: Failure | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined = undefined;

  constructor(component: ReactiveControllerHost & { readonly host: Host | null }) {
    this.#component = component;
    component.addController(this);
  }

  hostDisconnected(): void {
    clearTimeout(this.#timer);
  }

  show(error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    this.#set({ words, isBySettings: isBySettings(error) });
    this.#timer = setTimeout(() => this.clear(), shownMs);
  }

  clear(): void {
    if (this.#failure !== null) this.#set(null);
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

  #set(failure: Failure | null): void {
    clearTimeout(this.#timer);
    this.#failure = failure;
    this.#component.requestUpdate();
  }
}
