// The page of runs: the history at the side, and one complete run with its timeline, critical path,
// time, cost and commits.

import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { pullTimeWords } from '../../server/core/forge/pull-waits.ts';
import { formatCount, formatDuration } from '../../server/core/format.ts';
import type { Report } from '../../server/core/history/report.ts';
import type { TranscriptHit } from '../../server/core/history/transcript-search.ts';
import { BoardController } from '../shared/board-controller.ts';
import type { Host } from '../shared/host.ts';
import { statusStyles } from '../shared/status-styles.ts';
import { tellTime } from '../shared/measured.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { icon, iconStyles } from '../shared/looks/icon.ts';
import { visibleText } from '../shared/looks/visible-text.ts';
import { noticeStyles } from '../shared/plan/notice-styles.ts';
import { unavailablePage } from '../shared/plan/welcome-template.ts';
import './drover-run-list.ts';
import './drover-timeline.ts';
import { foundTemplate } from './found-template.ts';
import { freshRunMemory, readRunMemory, type RunMemory } from './run-memory.ts';
import { RunReader } from './run-reader.ts';
import { runStyles } from './run-styles.ts';
import {
  costTemplate,
  figuresTemplate,
  landedTemplate,
  leftTemplate,
  pathTemplate,
  retriesTemplate,
  timeTemplate,
  waitsTemplate,
  type RunActions,
} from './run-template.ts';
import { shortLine, stateWords, timeWords } from './run-words.ts';
import { TranscriptReader } from './transcript-reader.ts';
import { type Timeline, buildTimeline } from './timeline-model.ts';
import '../shared/looks/button.ts';

const rowsAtFirst = 15;
const rowsMore = 200;

/** The branches on which an epic's tasks land first. */
const epicBranches = 'drover/epic/';

export class DroverRun extends LitElement {
  static override properties = { host: { attribute: false } };
  static override styles = [controlStyles, iconStyles, statusStyles, noticeStyles, runStyles];
  declare host: Host | null;
  #board: BoardController | null = null;
  #reader: RunReader | null = null;
  #transcripts: TranscriptReader | null = null;
  #memory: RunMemory = freshRunMemory;
  #seq = -1;
  #hasPainted = false;
  #failed = '';
  #timeline: { readonly of: Report; readonly timeline: Timeline | null } | null = null;
  readonly #rows = new Map<string, number>();
  readonly #actions: RunActions = {
    openTask: (task, attempt) =>
      this.#ask(async () => {
        await this.host?.action('openStream', {
          task,
          ...(attempt === undefined ? {} : { attempt }),
        });
      }),
    review: (id) => this.#ask(async () => this.host?.action('review', { id })),
    branchName: (branch) => this.#branchName(branch),
    more: (name) => {
      this.#rows.set(name, this.#rowsOf(name) + rowsMore);
      this.requestUpdate();
    },
    rowsOf: (name) => this.#rowsOf(name),
  };

  constructor() {
    super();
    this.host = null;
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (changed.has('host') && this.host !== null && this.#board === null) {
      const asked = this.host.subject?.id ?? null;
      const kept = readRunMemory(this.host.memory.get());
      this.#memory = { ...kept, run: kept.run ?? asked };
      this.#board = new BoardController(this, this.host);
      this.#reader = new RunReader(this, this.host);
      this.#transcripts = new TranscriptReader(this, this.host);
      // Sent in one message with the request for the board.
      this.#showRun();
    }
    const board = this.#board?.board ?? null;
    if (board === null || board.seq === this.#seq) return;
    const isFirst = this.#seq === -1;
    this.#seq = board.seq;
    if (!isFirst) return this.#reader?.touch();
    this.#reader?.connected();
    this.#transcripts?.show(this.#memory.search);
  }

  override render(): TemplateResult | typeof nothing {
    const state = this.#board?.state ?? null;
    if (state === null) return nothing;
    const unavailable = unavailablePage(state, this.host);
    if (unavailable !== null) return unavailable;
    const { list, report, failed } = this.#reader ?? { list: null, report: null, failed: '' };
    return html`<div class="page">
      <drover-run-list
        .list=${list}
        .chosen=${report?.id ?? this.#memory.run}
        .search=${this.#memory.search}
        .onChoose=${(run: string) => this.#remember({ run })}
        .onSearch=${(search: string) => this.#remember({ search })}
      ></drover-run-list>
      <div class="report">
        ${this.#trouble(this.#failed === '' ? failed : this.#failed)}
        ${this.#transcripts === null ? nothing : foundTemplate(this.#transcripts, this.#openHit)}
        ${report === null ? this.#nothingYet(failed) : this.#report(report)}
      </div>
    </div>`;
  }

  readonly #openHit = (hit: TranscriptHit): void => {
    const { task_id: task, attempt, offset } = hit;
    const place = { offset, words: this.#memory.search };
    this.#ask(async () => this.host?.action('openStream', { task, attempt, place }));
  };

  #nothingYet(failed: string): TemplateResult | typeof nothing {
    const list = this.#reader?.list ?? null;
    if (list === null || failed !== '') return nothing;
    return html`<h1>Runs</h1>
      <p>
        ${
          this.#memory.search === ''
            ? 'No run has been started yet. Each run is listed here with what it landed, its time and its cost.'
            : 'No run matches the search.'
        }
      </p>`;
  }

  #trouble(text: string): TemplateResult | typeof nothing {
    if (text === '') return nothing;
    return html`<div class="error" role="alert">
      ${icon('error')} <bdi>${visibleText(text)}</bdi>
      ${
        this.#memory.run === null
          ? nothing
          : html`<button type="button" class="link" @click=${() => this.#remember({ run: null })}>
              Show the latest run
            </button>`
      }
    </div>`;
  }

  #report(report: Report): TemplateResult {
    const timeline = this.#timelineOf(report);
    return html`<h1><bdi>${this.#titleOf(report)}</bdi></h1>
      <p>${this.#whenOf(report)}</p>
      ${(report.pulls ?? []).map((pull) => html`<p>${pullTimeWords(pull)}</p>`)}
      ${this.#buttons(report)} ${figuresTemplate(report)}
      <section aria-labelledby="title-timeline">
        <h2 id="title-timeline">Timeline</h2>
        ${
          timeline === null
            ? html`<p>This run has not started an attempt yet.</p>`
            : html`<p>
                  One bar for each attempt, one row for each worker that was busy. Arrow keys move,
                  Enter opens.
                </p>
                <drover-timeline
                  .timeline=${timeline}
                  .isActive=${report.state === 'active'}
                  .onOpen=${(attempt: { task_id: string; attempt: number }) =>
                    this.#actions.openTask(attempt.task_id, attempt.attempt)}
                ></drover-timeline>`
        }
      </section>
      ${leftTemplate(report, this.#actions)} ${pathTemplate(report, this.#actions)}
      ${timeTemplate(report, this.#actions)} ${waitsTemplate(report, this.#actions)}
      ${costTemplate(report, this.#actions)} ${landedTemplate(report, this.#actions)}
      ${retriesTemplate(report, this.#actions)}`;
  }

  /** Returns the same object for the same report, which is then not redrawn. */
  #timelineOf(report: Report): Timeline | null {
    if (this.#timeline?.of !== report)
      this.#timeline = { of: report, timeline: buildTimeline(report) };
    return this.#timeline.timeline;
  }

  #titleOf({ title, kind, id }: Report): string {
    const line = this.#reader?.list?.runs.find((run) => run.id === id);
    if (line !== undefined && line.tasks !== null) {
      const epic = line.epic_title === null ? '' : ` of ${shortLine(line.epic_title)}`;
      return `Run of chosen tasks${epic}`;
    }
    const isAll =
      kind === 'run' && (line === undefined ? title === 'all tasks' : line.epic_id === null);
    return isAll ? 'Run of all open tasks' : `Run of ${shortLine(title)}`;
  }

  #whenOf(report: Report): string {
    const { windows, state, duration_ms: ms, landed } = report;
    const first = windows[0];
    const start = first === undefined ? '' : `Started ${timeWords(first.started_at_ms)}, `;
    const parts = windows.length > 1 ? `, in ${windows.length} parts` : '';
    const branches = [...new Set(landed.flatMap(({ branch }) => branch ?? []))];
    const where =
      branches.length === 0
        ? ''
        : ` ${formatCount(landed.length, 'task')} landed on ${branches.map((branch) => this.#branchName(branch)).join(', ')}.${this.#epicLanding(report)}`;
    return `${start}${stateWords(state)}${state === 'active' ? ' for' : ' after'} ${formatDuration(ms)}${parts}.${where}`;
  }

  /** An epic's branch is named by an id, which is meaningless to a person. */
  #branchName(branch: string): string {
    const id = branch.startsWith(epicBranches) ? branch.slice(epicBranches.length) : null;
    if (id === null) return shortLine(branch);
    const epic = this.#board?.board?.epics.find((each) => each.id === id);
    const line = this.#reader?.list?.runs.find((run) => run.epic_id === id);
    const title = epic?.title ?? line?.epic_title ?? null;
    return title === null ? 'the branch of its epic' : `the branch of “${shortLine(title)}”`;
  }

  /**
   * In a run of an epic, the tasks first land on the epic's own branch: the epic shows whether the
   * target has them.
   */
  #epicLanding({ id }: Report): string {
    const line = this.#reader?.list?.runs.find((run) => run.id === id);
    const epic = this.#board?.board?.epics.find((each) => each.id === line?.epic_id);
    switch (epic?.landing_state) {
      case 'landed': {
        const sha = epic.landed_sha === null ? '' : ` as ${epic.landed_sha.slice(0, 8)}`;
        return ` The epic landed on ${shortLine(line?.target ?? 'its target')}${sha}.`;
      }
      case 'needs_review':
        return ' The epic waits for your review.';
      case 'pull_request':
        return ` ${epic.landing_note ?? 'The epic waits in a pull request'}.`;
      case 'conflict':
      case 'gate_failed':
      case 'returned':
        return ' The epic could not land.';
      default:
        return '';
    }
  }

  #buttons(report: Report): TemplateResult | typeof nothing {
    const board = this.#board?.board ?? null;
    const failed = report.left.filter(
      ({ id }) => board?.tasks.find((task) => task.id === id)?.status === 'failed',
    );
    if (failed.length === 0) return nothing;
    return html`<div class="actions">
      <vscode-button
        @click=${() =>
          this.#ask(async () =>
            this.host?.action('retryFailed', { ids: failed.map(({ id }) => id) }),
          )}
      >
        ${icon('debug-restart')}Retry ${formatCount(failed.length, 'failed task')} and run
      </vscode-button>
      <vscode-button
        secondary
        @click=${() =>
          this.#ask(async () => this.host?.action('command', { id: 'drover.showInbox' }))}
      >
        Show Inbox
      </vscode-button>
    </div>`;
  }

  override updated(): void {
    if (this.#hasPainted || (this.#reader?.report ?? null) === null) return;
    this.#hasPainted = true;
    requestAnimationFrame(() => tellTime(this.host, 'run.firstPaint'));
  }

  #rowsOf(name: string): number {
    return this.#rows.get(name) ?? rowsAtFirst;
  }

  #ask(what: () => Promise<unknown>): void {
    this.#failed = '';
    what().catch((error: unknown) => {
      this.#failed = error instanceof Error ? error.message : String(error);
      this.requestUpdate();
    });
  }

  #remember(change: Partial<RunMemory>): void {
    this.#memory = { ...this.#memory, ...change };
    this.#failed = '';
    if (change.run !== undefined) this.#rows.clear();
    this.host?.memory.set(this.#memory);
    this.#showRun();
    this.#transcripts?.show(this.#memory.search);
    this.requestUpdate();
  }

  #showRun(): void {
    this.#reader?.show(this.#memory.run, this.#memory.search);
  }
}

customElements.define('drover-run', DroverRun);
