// The changes of a task or an epic, file by file, with the possible decisions.

import { css, html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { formatCount } from '../../server/core/format.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { OpenProject } from './open-project.ts';

interface FileChange {
  readonly path: string;
  readonly lines: readonly string[];
}

const linesMax = 2_000;

/** The files of a unified diff. */
export function filesOfDiff(text: string): readonly FileChange[] {
  return text
    .split(/^(?=diff --git )/mu)
    .filter((part) => part.startsWith('diff --git '))
    .map((part) => {
      const [head = '', ...lines] = part.replace(/\n$/u, '').split('\n');
      const path = / b\/(.+?)"?$/u.exec(head)?.[1] ?? head;
      return { path, lines };
    });
}

export class DroverReview extends LitElement {
  static override readonly properties = {
    project: { attribute: false },
    board: { attribute: false },
    subject: { attribute: false },
    diff: { state: true },
    failure: { state: true },
    isSendingBack: { state: true },
  };
  static override readonly styles = css`
    :host {
      display: flex;
      flex-direction: column;
      min-height: 0;
    }
    header,
    form {
      padding: 8px 12px;
      display: flex;
      flex-wrap: wrap;
      gap: 8px;
      align-items: center;
      border-bottom: 1px solid var(--vscode-panel-border);
    }
    h1 {
      font-size: 1.15em;
      margin: 0;
      flex: 1 1 240px;
      overflow-wrap: anywhere;
    }
    .files {
      overflow: auto;
      flex: 1;
    }
    summary {
      padding: 6px 12px;
      cursor: pointer;
      position: sticky;
      top: 0;
      background: var(--vscode-editorWidget-background);
      overflow-wrap: anywhere;
    }
    pre {
      margin: 0;
      padding: 0 12px;
      overflow-x: auto;
      font: 12px/1.5 var(--vscode-editor-font-family);
    }
    .added {
      background: var(--vscode-diffEditor-insertedLineBackground);
    }
    .removed {
      background: var(--vscode-diffEditor-removedLineBackground);
    }
    .place {
      color: var(--vscode-descriptionForeground);
    }
    button {
      font: inherit;
      min-height: 32px;
      padding: 4px 14px;
      border: 0;
      border-radius: 4px;
      background: var(--vscode-button-secondaryBackground);
      color: var(--vscode-button-secondaryForeground);
    }
    button.main {
      background: var(--vscode-button-background);
      color: var(--vscode-button-foreground);
    }
    :focus-visible {
      outline: 2px solid var(--vscode-focusBorder);
      outline-offset: -2px;
    }
    textarea {
      flex: 1 1 100%;
      min-height: 80px;
      font: inherit;
      background: var(--vscode-input-background);
      color: var(--vscode-input-foreground);
      border: 1px solid var(--vscode-panel-border);
    }
    @media (max-width: 600px) {
      button,
      summary {
        min-height: 44px;
        box-sizing: border-box;
      }
    }
  `;

  declare project: OpenProject;
  /** The project's, so that the decisions follow it. */
  declare board: StatusSnapshot | null;
  declare subject: string;
  declare diff: { readonly head: string; readonly text: string } | null;
  declare failure: string | null;
  declare isSendingBack: boolean;
  /** Applies the decision to the displayed change. */
  onApprove: (id: string, seen: string) => Promise<void> = () => Promise.resolve();
  onSendBack: (id: string, text: string) => Promise<void> = () => Promise.resolve();

  constructor() {
    super();
    this.board = null;
    this.diff = null;
    this.failure = null;
    this.isSendingBack = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#load();
  }

  override render(): TemplateResult {
    const { board } = this;
    const task = board?.tasks.find(({ id }) => id === this.subject);
    const epic = board?.epics.find(({ id }) => id === this.subject);
    const waits = (task?.status ?? epic?.landing_state) === 'needs_review';
    return html`
      <header>
        <h1>${task?.title ?? epic?.title ?? this.subject}</h1>
        ${
          waits && this.diff !== null
            ? html`<button @click=${() => (this.isSendingBack = !this.isSendingBack)}>
                  Send Back…
                </button>
                <button class="main" @click=${() => this.#approve()}>Approve</button>`
            : nothing
        }
      </header>
      ${
        this.isSendingBack
          ? html`<form @submit=${(event: SubmitEvent) => this.#sendBack(event)}>
              <textarea name="text" aria-label="What to change" required></textarea>
              <button class="main">Send Back</button>
            </form>`
          : nothing
      }
      <div class="files" tabindex="0" role="region" aria-label="Changed files">
        ${this.failure === null ? this.#renderFiles() : html`<p>${this.failure}</p>`}
      </div>
    `;
  }

  override updated(changed: PropertyValues<this>): void {
    if (changed.has('isSendingBack')) this.renderRoot.querySelector('textarea')?.focus();
  }

  #renderFiles(): TemplateResult {
    if (this.diff === null) return html`<p>Loading the change…</p>`;
    const files = filesOfDiff(this.diff.text);
    if (files.length === 0) return html`<p>Nothing is changed.</p>`;
    return html`${files.map(
      ({ path, lines }) =>
        html`<details open>
          <summary>${path}</summary>
          <pre>${diffLines(lines.slice(0, linesMax))}</pre>
          ${
            lines.length > linesMax
              ? html`<p>
                  ${formatCount(lines.length - linesMax, 'more line')}: see it in VS Code.
                </p>`
              : nothing
          }
        </details>`,
    )}`;
  }

  async #load(): Promise<void> {
    try {
      this.diff = await this.project.request('diff', { id: this.subject });
    } catch (error) {
      this.failure = (error as Error).message;
    }
  }

  async #approve(): Promise<void> {
    if (this.diff !== null) await this.onApprove(this.subject, this.diff.head);
  }

  async #sendBack(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const text = new FormData(event.target as HTMLFormElement).get('text');
    if (typeof text !== 'string' || text.trim() === '') return;
    await this.onSendBack(this.subject, text.trim());
    this.isSendingBack = false;
  }
}

/** In the head of a file, `---` and `+++` are names. */
function diffLines(lines: readonly string[]): readonly TemplateResult[] {
  const firstHunk = lines.findIndex((line) => line.startsWith('@@'));
  const headLines = firstHunk === -1 ? lines.length : firstHunk;
  return lines.map((line, index) => {
    const kind = index < headLines ? 'place' : (lineKinds[line[0] ?? ''] ?? '');
    return html`<div class=${kind}>${line === '' ? ' ' : line}</div>`;
  });
}

const lineKinds: Readonly<Record<string, string>> = { '+': 'added', '-': 'removed', '@': 'place' };

customElements.define('drover-review', DroverReview);
