// What landing by a pull request will need, and what the token may do: a table of the answer that
// `drover doctor --forge` gives.

import { css, html, LitElement, nothing, type TemplateResult } from 'lit';
import type { RulesReport } from '../messages/messages.ts';
import { BoardController } from '../shared/board-controller.ts';
import { connectionTemplate } from '../shared/connection-template.ts';
import type { Host } from '../shared/host.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, type IconName, iconStyles } from '../shared/looks/icon.ts';
import { statusStyles } from '../shared/status-styles.ts';
import { documentStyles } from '../shared/looks/document-styles.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import '../shared/looks/button.ts';

type Row = RulesReport['rows'][number];

const levels: {
  readonly [L in Row['level']]: {
    readonly icon: IconName;
    readonly tone: string;
    readonly word: string;
  };
} = {
  error: { icon: 'error', tone: 'tone-bad', word: 'Cannot land' },
  warning: { icon: 'warning', tone: 'tone-asks', word: 'Needs you' },
  pass: { icon: 'pass-filled', tone: 'tone-good', word: 'Ready' },
};

export class DroverRules extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [
    documentStyles,
    statusStyles,
    controlStyles,
    iconStyles,
    css`
      table {
        width: 100%;
        margin-top: 12px;
        border-collapse: collapse;
      }
      th,
      td {
        padding: 6px 12px 6px 0;
        border-bottom: 1px solid
          var(--vscode-panel-border, var(--vscode-contrastBorder, transparent));
        text-align: start;
        vertical-align: top;
        overflow-wrap: anywhere;
      }
      th[scope='row'],
      .state {
        width: 1%;
        font-weight: 600;
        white-space: nowrap;
      }
      .state .icon {
        margin-inline-end: 6px;
        vertical-align: middle;
      }
    `,
  ];
  declare host: Host | null;
  #board: BoardController | null = null;
  #report: RulesReport | null = null;
  #failed = '';
  #isBusy = false;

  constructor() {
    super();
    this.host = null;
  }

  override willUpdate(): void {
    if (this.host === null) return;
    this.#board ??= new BoardController(this, this.host);
    const isUnread = this.#report === null && this.#failed === '' && !this.#isBusy;
    if (this.#board.board !== null && isUnread) void this.#load();
  }

  override render(): TemplateResult | typeof nothing {
    const state = this.#board?.state ?? null;
    if (state === null) return nothing;
    const instead = connectionTemplate(state, this.host);
    if (instead !== null) return instead;
    return html`<main>
      <h1>Pull request rules</h1>
      <p role="status">${this.#words()}</p>
      ${this.#failed === '' ? nothing : html`<p role="alert">${visibleLine(this.#failed)}</p>`}
      <vscode-button @click=${() => this.#load()}> Check Again </vscode-button>
      ${this.#report === null ? nothing : tableTemplate(this.#report)}
    </main>`;
  }

  #words(): string {
    if (this.#isBusy) return 'Asking the forge…';
    if (this.#report === null) return '';
    if (this.#report.isBlocked) return 'No pull request can land: mend the errors first.';
    const open = this.#report.rows.filter(({ level }) => level === 'warning').length;
    return open === 0
      ? 'Pull requests can land.'
      : `Pull requests can land; ${open === 1 ? 'one row needs' : `${open} rows need`} a person.`;
  }

  async #load(): Promise<void> {
    // A disabled button would lose the focus of the keyboard.
    if (this.host === null || this.#isBusy) return;
    this.#isBusy = true;
    this.#failed = '';
    this.requestUpdate();
    try {
      this.#report = await this.host.action('readRules', {});
    } catch (error) {
      this.#failed = error instanceof Error ? error.message : String(error);
    }
    this.#isBusy = false;
    this.requestUpdate();
  }
}

function tableTemplate({ rows }: RulesReport): TemplateResult {
  return html`<table aria-label="Rules of pull requests">
    <thead>
      <tr>
        <th scope="col">State</th>
        <th scope="col">Rule</th>
        <th scope="col">Finding</th>
      </tr>
    </thead>
    <tbody>
      ${rows.map(
        ({ topic, level, message }) =>
          html`<tr>
            <td class="state">
              ${icon(levels[level].icon, levels[level].tone)}${levels[level].word}
            </td>
            <th scope="row">${visibleLine(topic)}</th>
            <td><bdi>${visibleLine(message)}</bdi></td>
          </tr>`,
      )}
    </tbody>
  </table>`;
}

customElements.define('drover-rules', DroverRules);
