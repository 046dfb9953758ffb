// The timeline of a run: one bar for each attempt, one row for each worker, by mouse and by
// keyboard.

import { html, LitElement, nothing, svg, type PropertyValues, type TemplateResult } from 'lit';
import { formatCost, formatDuration, stepText } from '../../server/core/format.ts';
import type { ReportAttempt } from '../../server/core/history/report-attempts.ts';
import { SizeController } from '../shared/size-controller.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { iconStyles } from '../shared/looks/icon.ts';
import { iconButton } from '../shared/looks/icon-button.ts';
import { periodWords, toneOf } from './period-words.ts';
import { shortLine } from './run-words.ts';
import { barAt, type Step, type Timeline, type TimelineBar } from './timeline-model.ts';
import { timelineStyles } from './timeline-styles.ts';

const laneHeightPx = 22;
const barHeightPx = 16;
const axisHeightPx = 22;
const barWidthMinPx = 3;
const labelWidthMinPx = 48;
const charWidthPx = 6.5;
const zoomMax = 32;
const stepOfKey: Readonly<Record<string, Step>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  Home: 'first',
  End: 'last',
};

export class DroverTimeline extends LitElement {
  static override properties = { timeline: { attribute: false }, isActive: { attribute: false } };
  static override styles = [controlStyles, iconStyles, timelineStyles];
  declare timeline: Timeline | null;
  /** The run is active: what has not ended is running. */
  declare isActive: boolean;
  /** Called to open the page of an attempt. */
  onOpen: (attempt: ReportAttempt) => void = () => {};
  #zoom = 1;
  /** Key of the attempt that has the focus or had it last. */
  #chosen = '';

  constructor() {
    super();
    this.timeline = null;
    this.isActive = false;
    new SizeController(this, () => this.requestUpdate());
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('timeline')) return;
    const isThere = this.timeline?.bars.some((bar) => keyOf(bar) === this.#chosen) ?? false;
    if (!isThere) this.#chosen = '';
  }

  override render(): TemplateResult | typeof nothing {
    const { timeline } = this;
    if (timeline === null) return nothing;
    const room = Math.max(200, this.clientWidth - 4);
    const width = room * this.#zoom;
    const height = axisHeightPx + timeline.lanes * laneHeightPx + 4;
    const scale = width / timeline.lengthMs;
    const chosen = timeline.bars.findIndex((bar) => keyOf(bar) === this.#chosen);
    return html`<div class="scroller">
        <svg
          role="listbox"
          aria-label="Attempts, one row for each worker"
          width=${width}
          height=${height}
          @keydown=${this.#onKey}
        >
          ${timeline.ticks.map((tick) => tickTemplate(tick, scale, height, width))}
          ${timeline.bars.map((bar, index) =>
            this.#bar(bar, scale, index === Math.max(0, chosen), index === chosen),
          )}
        </svg>
      </div>
      ${this.#footer(timeline.bars[chosen] ?? null)}`;
  }

  #bar(bar: TimelineBar, scale: number, hasTab: boolean, isChosen: boolean): TemplateResult {
    const { attempt, lane, isCritical } = bar;
    const start = this.timeline?.startMs ?? 0;
    const x = (attempt.started_at_ms - start) * scale;
    const width = Math.max(barWidthMinPx, (attempt.ended_at_ms - attempt.started_at_ms) * scale);
    const y = axisHeightPx + lane * laneHeightPx;
    const title = shortLine(attempt.title);
    const room = Math.floor((width - 8) / charWidthPx);
    const label = title.length <= room ? title : `${title.slice(0, Math.max(0, room - 1))}…`;
    const failed = attempt.outcome !== null && !isGood(attempt) ? 'failed' : '';
    return svg`<g
      role="option"
      class="bar ${isCritical ? 'critical' : ''} ${failed}"
      tabindex=${hasTab ? '0' : '-1'}
      aria-selected=${isChosen ? 'true' : 'false'}
      aria-label=${wordsOf(bar, this.isActive)}
      data-key=${keyOf(bar)}
      @focus=${() => this.#choose(bar)}
      @click=${() => this.#choose(bar)}
      @dblclick=${() => this.onOpen(attempt)}
    >
      <title>${wordsOf(bar, this.isActive)}</title>
      <rect class="ground" x=${x} y=${y} width=${width} height=${barHeightPx} rx="2"></rect>
      ${attempt.parts.map(
        (part) => svg`<rect
          class="part ${toneOf(part.kind)}"
          x=${(part.started_at_ms - start) * scale}
          y=${part.kind === 'question' ? y + barHeightPx - 4 : y}
          width=${Math.max(0.5, (part.ended_at_ms - part.started_at_ms) * scale)}
          height=${part.kind === 'question' ? 4 : barHeightPx}
        ></rect>`,
      )}
      <rect class="edge" x=${x + 0.5} y=${y + 0.5} width=${Math.max(1, width - 1)}
        height=${barHeightPx - 1} rx="2"></rect>
      ${
        width < labelWidthMinPx
          ? nothing
          : svg`<text x=${x + 5} y=${y + 12} aria-hidden="true">${label}</text>`
      }
    </g>` as TemplateResult;
  }

  #footer(bar: TimelineBar | null): TemplateResult {
    return html`<div class="footer">
      <span class="legend" aria-hidden="true">
        ${(['setup', 'agent', 'landing', 'question'] as const).map(
          (kind) => html`<span><i class=${toneOf(kind)}></i>${periodWords[kind]}</span>`,
        )}
        <span><i class="critical"></i>Critical path</span>
      </span>
      <span class="end">
        ${iconButton('dash', 'Zoom Out', () => this.#zoomTo(this.#zoom / 2), {
          isDisabled: this.#zoom <= 1,
        })}
        ${iconButton('add', 'Zoom In', () => this.#zoomTo(this.#zoom * 2), {
          isDisabled: this.#zoom >= zoomMax,
        })}
      </span>
      <div class="chosen" role="status">
        ${bar === null ? 'Select an attempt to see what it did.' : this.#chosenTemplate(bar)}
      </div>
    </div>`;
  }

  #chosenTemplate(bar: TimelineBar): TemplateResult {
    return html`<bdi>${wordsOf(bar, this.isActive)}</bdi>
      <button type="button" class="link" @click=${() => this.onOpen(bar.attempt)}>Open</button>`;
  }

  #choose(bar: TimelineBar): void {
    this.#chosen = keyOf(bar);
    this.requestUpdate();
  }

  #zoomTo(zoom: number): void {
    const scroller = this.renderRoot.querySelector('.scroller');
    const middle =
      scroller === null ? 0 : (scroller.scrollLeft + scroller.clientWidth / 2) / this.#zoom;
    this.#zoom = Math.min(zoomMax, Math.max(1, zoom));
    this.requestUpdate();
    void this.updateComplete.then(() => {
      if (scroller !== null) scroller.scrollLeft = middle * this.#zoom - scroller.clientWidth / 2;
    });
  }

  readonly #onKey = (event: KeyboardEvent): void => {
    const bars = this.timeline?.bars ?? [];
    const from = Math.max(
      0,
      bars.findIndex((bar) => keyOf(bar) === this.#chosen),
    );
    const present = bars[from];
    if (event.key === 'Enter' && present !== undefined) {
      event.preventDefault();
      this.onOpen(present.attempt);
      return;
    }
    const step = stepOfKey[event.key];
    const next = step === undefined ? undefined : bars[barAt(bars, from, step)];
    if (next === undefined) return;
    event.preventDefault();
    this.#choose(next);
    void this.updateComplete.then(() => {
      const key = CSS.escape(keyOf(next));
      this.renderRoot.querySelector<SVGElement>(`[data-key="${key}"]`)?.focus();
    });
  };
}

function keyOf({ attempt }: TimelineBar): string {
  return `${attempt.task_id} ${attempt.attempt}`;
}

/** Its work landed, or waits for a person as it is. */
function isGood({ outcome }: ReportAttempt): boolean {
  return outcome === 'completed' || outcome === 'needs_review';
}

function outcomeWords({ outcome }: ReportAttempt, isActive: boolean): string {
  switch (outcome) {
    case null:
      return isActive ? 'running' : 'did not end';
    case 'completed':
      return 'landed';
    case 'needs_review':
      return 'waits for your review';
    case 'ready':
      return 'did not land, another attempt follows';
    case 'blocked':
      return 'blocked';
    default:
      return outcome.replaceAll('_', ' ');
  }
}

/** One line with all data of an attempt: for the pointer, a screen reader and the line below. */
function wordsOf({ attempt, isCritical }: TimelineBar, isActive: boolean): string {
  const { title, agent, model, started_at_ms: from, ended_at_ms: to, parts, usd } = attempt;
  const spent = parts.map(
    (part) =>
      `${periodWords[part.kind].toLowerCase()} ${formatDuration(part.ended_at_ms - part.started_at_ms)}`,
  );
  return [
    `${shortLine(title)}, attempt ${attempt.attempt}`,
    ...(agent === null ? [] : [stepText({ agent, model })]),
    `${formatDuration(to - from)}${spent.length === 0 ? '' : ` (${spent.join(', ')})`}`,
    outcomeWords(attempt, isActive),
    ...(usd > 0 ? [formatCost(usd)] : []),
    ...(isCritical ? ['on the critical path'] : []),
  ].join(' · ');
}

function tickTemplate(
  tick: { readonly afterMs: number; readonly label: string },
  scale: number,
  height: number,
  width: number,
): TemplateResult {
  const x = Math.round(tick.afterMs * scale) + 0.5;
  const isLast = x > width - 40;
  return svg`<g aria-hidden="true">
    <line class="tick" x1=${x} x2=${x} y1=${axisHeightPx - 4} y2=${height}></line>
    <text class="tick" x=${isLast ? x - 4 : x + 3} y="12"
      text-anchor=${isLast ? 'end' : 'start'}>${tick.label}</text>
  </g>` as TemplateResult;
}

customElements.define('drover-timeline', DroverTimeline);
