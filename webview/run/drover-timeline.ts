// The timeline of a run: one bar for each attempt, one row for each worker, with mouse and keyboard
// support.

import { html, LitElement, nothing, svg, type PropertyValues, type TemplateResult } from 'lit';
import { formatCost, formatDuration, stepText } from '../../server/core/format.ts';
import type { ReportAttempt } from '../../server/core/history/report-attempts.ts';
import { SizeController } from '../shared/size-controller.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { iconStyles } from '../shared/looks/icon.ts';
import { iconButton } from '../shared/looks/icon-button.ts';
import { periodWords, toneForKind } from './period-words.ts';
import { shortLine } from './run-words.ts';
import { nextBarIndex, type Step, type Timeline, type TimelineBar } from './timeline-model.ts';
import {
  axisHeightPx,
  type Box,
  inner,
  laneHeightPx,
  type Shapes,
  buildShapes,
} from './timeline-shapes.ts';
import { timelineStyles } from './timeline-styles.ts';

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
  /** The run is active: unfinished parts are running. */
  declare isActive: boolean;
  /** Opens the page of an attempt. */
  onOpen: (attempt: ReportAttempt) => void = () => {};
  #zoom = 1;
  /** Key of the attempt that has the focus or had it last. */
  #chosen = '';
  /** The accessible text of each bar, in the order of the bars. */
  #words: readonly string[] = [];
  /** Inside the bar that is under the pointer. */
  readonly #tip = document.createElementNS('http://www.w3.org/2000/svg', 'title');
  #drawnPx = -1;

  constructor() {
    super();
    this.timeline = null;
    this.isActive = false;
    new SizeController(this, () => {
      if (this.clientWidth !== this.#drawnPx) this.requestUpdate();
    });
  }

  override willUpdate(changed: PropertyValues<this>): void {
    if (!changed.has('timeline') && !changed.has('isActive')) return;
    const bars = this.timeline?.bars ?? [];
    this.#words = bars.map((bar) => wordsOf(bar, this.isActive));
    if (!bars.some((bar) => keyOf(bar) === this.#chosen)) this.#chosen = '';
    this.#tip.remove();
  }

  override render(): TemplateResult | typeof nothing {
    const { timeline } = this;
    if (timeline === null) return nothing;
    this.#drawnPx = this.clientWidth;
    const room = Math.max(200, this.#drawnPx - 4);
    const width = room * this.#zoom;
    const height = axisHeightPx + timeline.lanes * laneHeightPx + 4;
    const scale = width / timeline.lengthMs;
    const chosen = timeline.bars.findIndex((bar) => keyOf(bar) === this.#chosen);
    const shapes = buildShapes(timeline, scale);
    return html`<div class="scroller">
        <svg
          role="listbox"
          aria-label="Attempts, one row for each worker"
          width=${width}
          height=${height}
          @keydown=${this.#onKey}
          @focusin=${this.#onChoose}
          @click=${this.#onChoose}
          @dblclick=${this.#onOpen}
          @pointerover=${this.#onPointer}
        >
          ${timeline.ticks.map((tick) => tickTemplate(tick, scale, height, width))}
          ${shapesTemplate(shapes)}
          ${timeline.bars.map((_, index) =>
            this.#bar(index, shapes.boxes[index], index === Math.max(0, chosen), index === chosen),
          )}
          ${timeline.bars.map((bar, index) => labelTemplate(bar, shapes.boxes[index]))}
        </svg>
      </div>
      ${this.#footer(timeline.bars[chosen] ?? null)}`;
  }

  /**
   * The parts that the pointer, the keyboard and a screen reader use: the bar's outline and its
   * text.
   */
  #bar(
    index: number,
    box: Box | undefined,
    hasTab: boolean,
    isChosen: boolean,
  ): TemplateResult | typeof nothing {
    if (box === undefined) return nothing;
    const { x, y, width, height } = inner(box);
    return svg`<rect
      role="option"
      class="bar"
      tabindex=${hasTab ? '0' : '-1'}
      aria-selected=${isChosen ? 'true' : 'false'}
      aria-label=${this.#words[index] ?? ''}
      data-index=${index}
      x=${x}
      y=${y}
      width=${width}
      height=${height}
      rx="2"
    ></rect>` as TemplateResult;
  }

  #footer(bar: TimelineBar | null): TemplateResult {
    return html`<div class="footer">
      <span class="legend" aria-hidden="true">
        ${(['setup', 'agent', 'landing', 'question'] as const).map(
          (kind) => html`<span><i class=${toneForKind(kind)}></i>${periodWords[kind]}</span>`,
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

  readonly #onChoose = ({ target }: Event): void => {
    const bar = this.timeline?.bars[indexOf(target)];
    if (bar !== undefined) this.#choose(bar);
  };

  readonly #onOpen = ({ target }: Event): void => {
    const bar = this.timeline?.bars[indexOf(target)];
    if (bar !== undefined) this.onOpen(bar.attempt);
  };

  readonly #onPointer = ({ target }: Event): void => {
    const words = this.#words[indexOf(target)];
    if (words === undefined) return this.#tip.remove();
    this.#tip.textContent = words;
    (target as SVGElement).append(this.#tip);
  };

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
    const next = step === undefined ? undefined : bars[nextBarIndex(bars, from, step)];
    if (next === undefined) return;
    event.preventDefault();
    this.#choose(next);
    void this.updateComplete.then(() => {
      const index = bars.indexOf(next);
      this.renderRoot.querySelector<SVGElement>(`[data-index="${index}"]`)?.focus();
    });
  };
}

function keyOf({ attempt }: TimelineBar): string {
  return `${attempt.task_id} ${attempt.attempt}`;
}

/** Index of the bar that an event is for, or -1. */
function indexOf(target: EventTarget | null): number {
  const { index } = target instanceof SVGElement ? target.dataset : {};
  return index === undefined ? -1 : Number(index);
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

/** One line with all data of an attempt, for the pointer, a screen reader and the line below. */
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

function shapesTemplate({ ground, parts, edges }: Shapes): TemplateResult {
  return svg`<g aria-hidden="true">
    <path class="ground" d=${ground}></path>
    ${[...parts].map(([tone, d]) => svg`<path class="part ${tone}" d=${d}></path>`)}
    ${[...edges].map(([edge, d]) => svg`<path class="edge ${edge}" d=${d}></path>`)}
  </g>` as TemplateResult;
}

function labelTemplate({ attempt }: TimelineBar, box?: Box): TemplateResult | typeof nothing {
  if (box === undefined || box.width < labelWidthMinPx) return nothing;
  const title = shortLine(attempt.title);
  const room = Math.floor((box.width - 8) / charWidthPx);
  const label = title.length <= room ? title : `${title.slice(0, Math.max(0, room - 1))}…`;
  return svg`<text x=${box.x + 5} y=${box.y + 12} aria-hidden="true">${label}</text>` as TemplateResult;
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
