// The history of runs: one row per run, searchable, and selected with the mouse or the arrow keys.

import { html, LitElement, nothing, type TemplateResult } from 'lit';
import { formatCost, formatDuration } from '../../server/core/format.ts';
import { outcomeText } from '../../server/core/plan/outcome-words.ts';
import type { RunLine, RunList } from '../../server/core/history/run-list.ts';
import { FixedRows } from '../shared/fixed-rows.ts';
import { statusStyles } from '../shared/status-styles.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, iconStyles, type IconName } from '../shared/looks/icon.ts';
import type { VscodeTextfield } from '../shared/looks/text-field.ts';
import '../shared/looks/text-field.ts';
import { runListStyles } from './run-list-styles.ts';
import { runTitle, shortLine, stateWords, timeWords } from './run-words.ts';

const rowHeightPx = 56;
const typingRestMs = 200;

export class DroverRunList extends LitElement {
  static override properties = {
    list: { attribute: false },
    chosen: { attribute: false },
    search: { attribute: false },
  };
  static override styles = [controlStyles, iconStyles, statusStyles, runListStyles];
  declare list: RunList | null;
  declare chosen: string | null;
  declare search: string;
  onChoose: (run: string) => void = () => {};
  onSearch: (words: string) => void = () => {};
  readonly #rows: FixedRows;
  #typing: ReturnType<typeof setTimeout> | null = null;

  constructor() {
    super();
    this.list = null;
    this.chosen = null;
    this.search = '';
    this.#rows = new FixedRows(this, {
      scroller: () => this.renderRoot.querySelector<HTMLElement>('.rows'),
      count: () => this.#runs.length,
      heightPx: rowHeightPx,
      kept: () => [this.#chosenIndex],
    });
  }

  get #runs(): readonly RunLine[] {
    return this.list?.runs ?? [];
  }

  get #chosenIndex(): number {
    return this.#runs.findIndex(({ id }) => id === this.chosen);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    if (this.#typing !== null) clearTimeout(this.#typing);
  }

  override render(): TemplateResult {
    const count = this.#runs.length;
    return html`<vscode-textfield
        type="search"
        placeholder="Search runs and transcripts"
        .label=${'Search runs by task, error, agent, commit or epic, and transcripts by words'}
        .value=${this.search}
        @input=${this.#onType}
      ></vscode-textfield>
      <div
        class="rows"
        role="listbox"
        aria-label="Runs"
        tabindex=${count === 0 ? '-1' : '0'}
        aria-activedescendant=${this.#chosenIndex < 0 ? nothing : `run-${this.#chosenIndex}`}
        @keydown=${this.#onKey}
      >
        <div class="room" role="presentation" .style=${`height: ${this.#rows.totalPx()}px`}></div>
        ${this.#rows.items().map(({ index, start }) => this.#row(index, start))}
      </div>
      ${this.#note(count)}`;
  }

  #row(index: number, startPx: number): TemplateResult | typeof nothing {
    const run = this.#runs[index];
    if (run === undefined) return nothing;
    const isChosen = run.id === this.chosen;
    const look: { readonly name: IconName; readonly tone: string } =
      run.state === 'active'
        ? { name: 'sync', tone: 'tone-busy' }
        : run.failed > 0
          ? { name: 'error', tone: 'tone-bad' }
          : run.open > 0 || run.landed === 0
            ? { name: 'circle', tone: 'tone-quiet' }
            : { name: 'pass-filled', tone: 'tone-good' };
    return html`<div
      id="run-${index}"
      role="option"
      class="row"
      aria-selected=${isChosen ? 'true' : 'false'}
      .style=${`transform: translateY(${startPx}px)`}
      @click=${() => this.onChoose(run.id)}
    >
      <span class=${look.tone}>${icon(look.name)}</span>
      <span class="lines">
        <b><bdi>${runTitle(run)}</bdi></b>
        <span>
          ${outcomeText(run.counts)} · ${formatDuration(run.duration_ms)} · ${formatCost(run.usd)}
        </span>
        <span>
          ${timeWords(run.started_at_ms)}${run.state === 'finished' ? nothing : html` · ${stateWords(run.state)}`}${
            run.match === null || run.match === '' || run.match === run.epic_title
              ? nothing
              : html` · <bdi>${shortLine(run.match)}</bdi>`
          }
        </span>
      </span>
    </div>`;
  }

  #note(count: number): TemplateResult {
    const found = this.list?.found ?? 0;
    const words =
      this.list === null
        ? ''
        : count === 0
          ? this.search === ''
            ? 'No run yet.'
            : 'No run matches.'
          : found > count
            ? `The newest ${count} of ${found} runs.`
            : '';
    return html`<div class="note" role="status">${words}</div>`;
  }

  readonly #onType = (event: Event): void => {
    const { value } = event.target as VscodeTextfield;
    if (this.#typing !== null) clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.onSearch(value), typingRestMs);
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const last = this.#runs.length - 1;
    const from = this.#chosenIndex;
    const to: Readonly<Record<string, number>> = {
      ArrowDown: Math.min(last, from + 1),
      ArrowUp: Math.max(0, from - 1),
      Home: 0,
      End: last,
    };
    const at = to[event.key];
    const run = at === undefined ? undefined : this.#runs[at];
    if (at === undefined || run === undefined) return;
    event.preventDefault();
    this.#rows.show(at);
    this.onChoose(run.id);
  };
}

customElements.define('drover-run-list', DroverRunList);
