// An image in a description. The extension sends its bytes, because the page itself may not load
// anything.

import { css, html, LitElement, type PropertyValues, type TemplateResult } from 'lit';
import { detectImageType } from '../../../server/core/plan/attachments.ts';
import type { Host } from '../host.ts';
import { visibleLine } from '../looks/visible-text.ts';

export class DroverAttachment extends LitElement {
  static override properties = {
    host: { attribute: false },
    name: { attribute: false },
    words: { attribute: false },
  };
  static override styles = css`
    :host {
      display: inline-block;
      max-width: 100%;
      vertical-align: top;
    }
    img {
      display: block;
      max-width: 100%;
      max-height: 60vh;
      border: 1px solid var(--vscode-widget-border, var(--vscode-contrastBorder, transparent));
      border-radius: 3px;
      box-sizing: border-box;
    }
    span {
      color: var(--vscode-descriptionForeground);
    }
  `;
  declare host: Host | null;
  declare name: string;
  declare words: string;
  /** Null while it is being read, or if it does not exist. */
  #address: string | null = null;
  #isMissing = false;

  constructor() {
    super();
    this.host = null;
    this.name = '';
    this.words = '';
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('name') || changed.has('host')) void this.#read();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.hasUpdated && this.#address === null) void this.#read();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#forget();
  }

  override render(): TemplateResult {
    const words = visibleLine(this.words);
    if (this.#address !== null)
      return html`<img src=${this.#address} alt=${words} title=${words} />`;
    if (this.#isMissing) return html`<span>The image ${words} is no longer kept.</span>`;
    return html`<span>${words}</span>`;
  }

  async #read(): Promise<void> {
    const { host, name } = this;
    this.#forget();
    if (host === null) return;
    const { content } = await host.action('readImage', { name }).catch(() => ({ content: null }));
    if (name !== this.name || !this.isConnected) return;
    this.#isMissing = content === null;
    if (content !== null) {
      const bytes = Uint8Array.from(atob(content), (character) => character.charCodeAt(0));
      const type = detectImageType(bytes);
      const blob = new Blob([bytes], { type: `image/${type === 'jpg' ? 'jpeg' : type}` });
      this.#address = URL.createObjectURL(blob);
    }
    this.requestUpdate();
  }

  #forget(): void {
    if (this.#address !== null) URL.revokeObjectURL(this.#address);
    this.#address = null;
  }
}

customElements.define('drover-attachment', DroverAttachment);
