// The dependency graph: blockers on the left, dependents on the right; navigated, zoomed and edited
// with mouse and keyboard.

import { html, nothing, svg, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import { SizeController } from '../shared/size-controller.ts';
import { statusStyles } from '../shared/status-styles.ts';
import { controlStyles } from '../shared/looks/control-styles.ts';
import { iconStyles } from '../shared/looks/icon.ts';
import { BoardContent } from './board-content.ts';
import { shown } from './columns.ts';
import { graphKey, runGraphKey, type GraphKeyParts } from './graph-keys.ts';
import { nodeHeightPx, nodeWidthPx, formatSvgPath } from './graph-layout.ts';
import { GraphPointer } from './graph-pointer.ts';
import { GraphState } from './graph-state.ts';
import { graphStyles } from './graph-styles.ts';
import { edgeTemplate, nodeTemplate, graphNote } from './graph-template.ts';
import { openMenu } from './menu-context.ts';
import { isInSight, lineInSight, visibleBox, type Box } from './viewport.ts';

export class DroverGraph extends BoardContent {
  static override properties = {
    hidesCompleted: { attribute: false },
  };
  static override styles = [controlStyles, iconStyles, statusStyles, graphStyles];
  declare hidesCompleted: boolean;
  readonly #state = new GraphState();
  readonly #pointer: GraphPointer;

  constructor() {
    super();
    this.hidesCompleted = false;
    this.#pointer = new GraphPointer({
      state: this.#state,
      plan: () => this.plan,
      board: () => this.board,
      changed: () => this.requestUpdate(),
    });
    new SizeController(this, () => this.#resize());
  }

  override willUpdate(changed: PropertyValues<this>): void {
    const isOther = changed.has('epic') || changed.has('hidesCompleted');
    if (this.board === null || (!isOther && !changed.has('board'))) return;
    this.#state.update(this.board, { epic: this.epic, hidesCompleted: this.hidesCompleted });
    if (isOther) this.#state.fitNext();
  }

  override render(): TemplateResult | typeof nothing {
    const state = this.#state;
    const { graph, view } = state;
    if (graph === null) return nothing;
    const sight = visibleBox(view, state.screen);
    const activeIndex = state.active === null ? -1 : state.order.indexOf(state.active);
    const transform = `transform: translate(${view.x}px, ${view.y}px) scale(${view.scale})`;
    return html`<div
        class=${this.#pointer.isPanning ? 'stage panning' : 'stage'}
        role="listbox"
        tabindex="0"
        aria-label="Dependencies"
        aria-describedby="how"
        aria-activedescendant=${activeIndex < 0 ? nothing : `node-${activeIndex}`}
        @keydown=${this.#onKey}
        @focus=${this.#onFocus}
        @click=${this.#onClick}
        @dblclick=${this.#onDoubleClick}
        @contextmenu=${this.#onClick}
        @wheel=${this.#pointer.onWheel}
        @pointerdown=${this.#pointer.onDown}
        @pointermove=${this.#pointer.onMove}
        @pointerup=${this.#pointer.onUp}
        @pointercancel=${this.#pointer.onCancel}
      >
        <div class="layer" role="presentation" .style=${transform}>
          ${this.#edges(sight)} ${this.#nodes(sight)}
        </div>
      </div>
      <div id="how" class="hidden">
        Arrow keys follow dependencies. B adds a dependency, Delete removes it. Plus, minus and 0
        zoom, F shows everything, Shift+arrow keys pan.
      </div>
      ${this.#words()} ${this.#tools()}`;
  }

  #nodes(sight: Box): unknown {
    const state = this.#state;
    const { graph, order } = state;
    if (graph === null) return nothing;
    const critical = new Set(graph.critical);
    const { drawn } = this.#pointer;
    const inSight = order
      .map((id, index) => ({ id, index }))
      .filter(({ id }) => {
        const place = state.layout.places.get(id);
        return id === state.active || (place !== undefined && isInSight(sight, place));
      });
    return repeat(
      inSight,
      ({ id }) => id,
      ({ id, index }) => {
        const task = graph.tasks.get(id);
        if (task === undefined) return nothing;
        const isOver = drawn?.over === id;
        const drop = !isOver ? null : drawn.drop?.kind === 'refused' ? 'refused' : 'target';
        const isCritical = critical.has(id);
        return nodeTemplate(task, state, { index, count: order.length, isCritical, drop });
      },
    );
  }

  #edges(sight: Box): TemplateResult {
    const state = this.#state;
    const seen = state.layout.lines.flatMap((points, index) => {
      return lineInSight(sight, points) ? [index] : [];
    });
    return html`<svg width="1" height="1" aria-hidden="true">
      <defs>
        <marker
          id="arrow"
          viewBox="0 0 8 8"
          refX="8"
          refY="4"
          markerWidth="6"
          markerHeight="6"
          orient="auto"
        >
          <path class="arrow" d="M0 0L8 4L0 8z"></path>
        </marker>
      </defs>
      ${seen.map((index) => edgeTemplate(state, index))} ${this.#drawnEdge()}
    </svg>`;
  }

  #drawnEdge(): unknown {
    const { drawn } = this.#pointer;
    const place = drawn === null ? undefined : this.#state.layout.places.get(drawn.blocker);
    if (drawn === null || place === undefined) return nothing;
    const from = { x: place.x + nodeWidthPx, y: place.y + nodeHeightPx / 2 };
    const classes = drawn.drop?.kind === 'refused' ? 'drawn refused' : 'drawn';
    return svg`<path class=${classes} d=${formatSvgPath([from, drawn.to])}></path>`;
  }

  #words(): TemplateResult | typeof nothing {
    const { graph, chosenEdge } = this.#state;
    const { drawn } = this.#pointer;
    if (graph === null) return nothing;
    if (drawn !== null) {
      const words = drawn.drop?.words ?? 'Onto the task that has to wait.';
      const classes = drawn.drop?.kind === 'refused' ? 'words error' : 'words';
      return html`<div class=${classes} data-hover><bdi>${shown(words)}</bdi></div>`;
    }
    if (chosenEdge !== null) {
      const title = (id: string): string => shown(graph.tasks.get(id)?.title ?? id);
      const { blocker, dependent, isDirect } = chosenEdge;
      const isOfEpic = this.#state.groups.has(blocker) || this.#state.groups.has(dependent);
      const how =
        isDirect && !isOfEpic ? 'Press Delete to remove it.' : 'It comes from their parts.';
      return html`<div class="words">
        <bdi>${title(dependent)}</bdi> waits for <bdi>${title(blocker)}</bdi>. ${how}
      </div>`;
    }
    const note = graphNote(graph, this.#state.groups.size);
    return note === '' ? nothing : html`<div class="words">${note}</div>`;
  }

  #tools(): TemplateResult {
    const tool = (label: string, sign: string, act: () => void): TemplateResult =>
      html`<button
        type="button"
        class="plain"
        aria-label=${label}
        title=${label}
        @click=${() => {
          act();
          this.requestUpdate();
        }}
      >
        ${sign}
      </button>`;
    return html`<div class="tools" role="group" aria-label="Zoom">
      ${tool('Zoom Out', '−', () => this.#state.zoom(1 / 1.25))}
      ${tool('Zoom In', '+', () => this.#state.zoom(1.25))}
      ${tool('Show All', '⤢', () => this.#state.fit())}
    </div>`;
  }

  override focus(): void {
    this.#stage()?.focus();
  }

  #stage(): HTMLElement | null {
    return this.renderRoot.querySelector<HTMLElement>('.stage');
  }

  #resize(): void {
    this.#state.resize({ width: this.clientWidth, height: this.clientHeight });
    this.requestUpdate();
  }

  #choose(id: string | null): void {
    this.#state.choose(id);
    this.host?.select(id === null ? [] : [id]);
    this.requestUpdate();
  }

  #open(id: string | null): void {
    if (id !== null && this.#state.groups.has(id)) {
      this.dispatchEvent(new CustomEvent('epic', { detail: id }));
      return;
    }
    if (id !== null) this.plan?.ask(async () => this.host?.action('openStream', { task: id }));
  }

  readonly #onFocus = (): void => {
    if (this.#state.active === null && this.#state.chosenEdge === null) {
      this.#choose(this.#state.order[0] ?? null);
    }
  };

  readonly #onKey = (event: KeyboardEvent): void => {
    const key = graphKey(event);
    const { host, plan, board } = this;
    if (key === null || host === null || plan === null || board === null) return;
    event.preventDefault();
    const parts: GraphKeyParts = {
      host,
      plan,
      board,
      state: this.#state,
      choose: (id) => this.#choose(id),
      open: (id) => this.#open(id),
      menu: () => openMenu(this.renderRoot.querySelector('.node.active')),
      cancel: () => this.#pointer.onCancel(),
    };
    runGraphKey(parts, key);
    this.requestUpdate();
  };

  readonly #onClick = (event: MouseEvent): void => {
    const id = (event.target as Element).closest<HTMLElement>('.node')?.dataset['id'];
    if (id !== undefined) this.#choose(id);
  };

  readonly #onDoubleClick = (event: MouseEvent): void => {
    const node = (event.target as Element).closest<HTMLElement>('.node');
    this.#open(node?.dataset['id'] ?? null);
  };
}

customElements.define('drover-graph', DroverGraph);
