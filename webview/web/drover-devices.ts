// The approved browsers: names, roles, removal, and a link for another one.

import { encode } from 'uqr';
import { css, html, LitElement, nothing, svg, type TemplateResult } from 'lit';
import type {
  OwnRequestName,
  OwnRequests,
  WebDevice,
  WebRole,
} from '../../server/protocol/web/wire.ts';

type Request = <N extends OwnRequestName>(
  name: N,
  params: OwnRequests[N]['params'],
) => Promise<OwnRequests[N]['result']>;

const roleWords: { readonly [R in WebRole]: string } = {
  see: 'Looks',
  answer: 'Looks and answers',
  decide: 'Decides',
};

export class DroverDevices extends LitElement {
  static override readonly properties = {
    request: { attribute: false },
    own: { attribute: false },
    devices: { state: true },
    link: { state: true },
    failure: { state: true },
  };
  static override readonly styles = css`
    :host {
      display: block;
      overflow: auto;
      padding: 12px;
    }
    ul {
      list-style: none;
      padding: 0;
      max-width: 640px;
    }
    li,
    form {
      display: flex;
      flex-wrap: wrap;
      gap: 8px;
      align-items: center;
      padding: 8px 0;
      border-bottom: 1px solid var(--vscode-panel-border);
      max-width: 640px;
    }
    li span {
      flex: 1 1 200px;
    }
    small {
      display: block;
      color: var(--vscode-descriptionForeground);
    }
    button,
    select,
    input {
      font: inherit;
      min-height: 36px;
      padding: 4px 12px;
      border: 1px solid var(--vscode-panel-border);
      border-radius: 4px;
      background: var(--vscode-button-secondaryBackground);
      color: var(--vscode-button-secondaryForeground);
    }
    input {
      background: var(--vscode-input-background);
      color: var(--vscode-input-foreground);
    }
    :focus-visible {
      outline: 2px solid var(--vscode-focusBorder);
    }
    .code {
      background: #fff;
      width: 240px;
      padding: 12px;
      margin: 12px 0;
    }
    code {
      overflow-wrap: anywhere;
    }
    @media (max-width: 600px) {
      button,
      select,
      input {
        min-height: 44px;
      }
    }
  `;

  declare request: Request;
  declare own: WebDevice;
  declare devices: readonly WebDevice[];
  declare link: string | null;
  declare failure: string | null;

  constructor() {
    super();
    this.devices = [];
    this.link = null;
    this.failure = null;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#load();
  }

  override render(): TemplateResult {
    return html`
      <h1>Devices</h1>
      ${this.failure === null ? nothing : html`<p role="alert">${this.failure}</p>`}
      <ul>
        ${this.devices.map((device) => this.#renderDevice(device))}
      </ul>
      <h2>Pair a Phone</h2>
      <form @submit=${(event: SubmitEvent) => this.#pair(event)}>
        <input name="name" aria-label="Name of the device" placeholder="Name" />
        <select name="role" aria-label="What it may do">
          ${Object.entries(roleWords).map(
            ([role, words]) => html`<option value=${role}>${words}</option>`,
          )}
        </select>
        <button>Show Code</button>
      </form>
      ${
        this.link === null
          ? nothing
          : html`<p>The code works once, within two minutes.</p>
              ${codePicture(this.link)}
              <p><code>${this.link}</code></p>
              ${
                isOnlyHere(this.link)
                  ? html`<p>
                      Only this machine reaches this address. For a phone, start "drover web" with
                      --listen and TLS, or behind a proxy.
                    </p>`
                  : nothing
              }`
      }
    `;
  }

  #renderDevice(device: WebDevice): TemplateResult {
    const isOwn = device.id === this.own.id;
    return html`<li>
      <span>
        ${device.name}${isOwn ? ' (this browser)' : ''}
        <small>
          ${roleWords[device.role]}. Last seen ${new Date(device.seen_at * 1000).toLocaleString()}
        </small>
      </span>
      <button
        aria-label=${`Remove ${device.name}`}
        @click=${() => this.#do('web.remove', { device: device.id })}
      >
        Remove
      </button>
    </li>`;
  }

  async #load(): Promise<void> {
    try {
      this.devices = await this.request('web.devices', {});
      this.failure = null;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async #do(name: 'web.remove', params: OwnRequests['web.remove']['params']): Promise<void> {
    try {
      await this.request(name, params);
    } catch (error) {
      this.failure = (error as Error).message;
    }
    await this.#load();
  }

  async #pair(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const fields = new FormData(event.target as HTMLFormElement);
    const [role, name] = ['role', 'name'].map((field) => fields.get(field)) as [WebRole, string];
    try {
      const { url } = await this.request('web.pair', { role, name });
      this.link = url;
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }
}

function codePicture(text: string): TemplateResult {
  const { data, size } = encode(text);
  const dots = data.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return html`<div class="code">
    <svg viewBox="0 0 ${size} ${size}" role="img" aria-label="The link as a QR code">
      ${svg`<path d=${dots.join('')} fill="#000"></path>`}
    </svg>
  </div>`;
}

function isOnlyHere(link: string): boolean {
  return link.startsWith('http:');
}

customElements.define('drover-devices', DroverDevices);
