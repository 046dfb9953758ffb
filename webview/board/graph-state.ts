// The current state of the graph: its tasks with their positions, the visible part, the selection
// and the related tasks.

import type { StatusSnapshot } from '../../server/protocol/views.ts';
import {
  layoutGraph,
  nodeHeightPx,
  nodeWidthPx,
  type GraphLayout,
  type Point,
} from './graph-layout.ts';
import { groupedByEpic } from './epic-groups.ts';
import {
  buildGraph,
  reachable,
  type GraphScope,
  type ShownEdge,
  type ShownGraph,
} from './graph-model.ts';
import {
  bounded,
  fit,
  panBy,
  reveal,
  wholeSize,
  zoomAround,
  type Size,
  type Viewport,
} from './viewport.ts';

const none: ReadonlySet<string> = new Set();

export class GraphState {
  graph: ShownGraph | null = null;
  /** The nodes that represent an epic, by its id, with its progress. */
  groups: ReadonlyMap<string, string> = new Map();
  layout: GraphLayout = { places: new Map(), lines: [], width: 0, height: 0 };
  view: Viewport = wholeSize;
  screen: Size = { width: 0, height: 0 };
  active: string | null = null;
  chosenEdge: ShownEdge | null = null;
  upstream: ReadonlySet<string> = none;
  downstream: ReadonlySet<string> = none;
  /** The input of the layout; a change of status alone moves nothing. */
  #shape = '';
  #isFitted = false;

  update(board: StatusSnapshot, scope: GraphScope): void {
    const grouped = groupedByEpic(board, scope.epic);
    this.groups = grouped.groups;
    const whole = buildGraph(grouped.board, scope);
    const graph = grouped.groups.size === 0 ? whole : withoutPath(whole);
    this.graph = graph;
    const ids = [...graph.tasks.keys()];
    const pairs = graph.edges.map(({ blocker, dependent }) => [blocker, dependent]);
    const shape = JSON.stringify([ids, pairs]);
    if (shape !== this.#shape) {
      this.#shape = shape;
      this.layout = layoutGraph(ids, graph.edges);
    }
    if (this.active !== null && !graph.tasks.has(this.active)) this.active = null;
    const chosen = this.chosenEdge;
    if (chosen !== null) {
      const { blocker, dependent } = chosen;
      this.chosenEdge =
        graph.edges.find((edge) => edge.blocker === blocker && edge.dependent === dependent) ??
        null;
    }
    this.#relate();
  }

  get order(): readonly string[] {
    return [...(this.graph?.tasks.keys() ?? [])];
  }

  choose(id: string | null): void {
    this.active = id;
    this.chosenEdge = null;
    this.#relate();
    const place = id === null ? undefined : this.layout.places.get(id);
    if (place !== undefined && this.screen.width > 0) {
      this.view = reveal(this.view, place, this.screen);
    }
  }

  resize(screen: Size): void {
    this.screen = screen;
    if (!this.#isFitted && screen.width > 0) this.fit();
  }

  /** A scope that was not shown before is fitted into the view. */
  fitNext(): void {
    this.#isFitted = false;
    if (this.screen.width > 0) this.fit();
  }

  fit(): void {
    this.#isFitted = true;
    this.view = fit(this.layout, this.screen);
  }

  zoom(factor: number, at: Point = { x: this.screen.width / 2, y: this.screen.height / 2 }): void {
    this.view = bounded(zoomAround(this.view, factor, at), this.layout, this.screen);
  }

  pan(dx: number, dy: number): void {
    this.view = panBy(this.view, dx, dy, this.layout, this.screen);
  }

  /** Converts a screen point to graph coordinates. */
  toGraph({ x, y }: Point): Point {
    return { x: (x - this.view.x) / this.view.scale, y: (y - this.view.y) / this.view.scale };
  }

  /**
   * The task that an arrow key leads to: along an edge if one exists, otherwise the nearest task on
   * that side.
   */
  neighbour(key: 'left' | 'right' | 'up' | 'down'): string | null {
    const { active, graph } = this;
    if (active === null || graph === null) return this.order[0] ?? null;
    if (key === 'left' || key === 'right') {
      const linked = (key === 'left' ? graph.blockers : graph.dependents).get(active) ?? [];
      const nearest = this.#nearest(linked, active);
      if (nearest !== null) return nearest;
    }
    const from = this.layout.places.get(active);
    if (from === undefined) return null;
    const [stepX, stepY] = steps[key];
    const there = this.order.filter((id) => {
      const to = this.layout.places.get(id);
      if (to === undefined || id === active) return false;
      const along = (to.x - from.x) * stepX + (to.y - from.y) * stepY;
      const across = Math.abs((to.x - from.x) * stepY) + Math.abs((to.y - from.y) * stepX);
      const isBeside = stepX === 0 ? across < nodeWidthPx : across < nodeHeightPx * 4;
      return along > 1 && isBeside;
    });
    return this.#nearest(there, active);
  }

  #nearest(ids: readonly string[], to: string): string | null {
    const at = this.layout.places.get(to);
    if (at === undefined) return null;
    let best: string | null = null;
    let bestDistance = Infinity;
    for (const id of ids) {
      const place = this.layout.places.get(id);
      if (place === undefined) continue;
      const distance = Math.hypot(place.x - at.x, place.y - at.y);
      if (distance >= bestDistance) continue;
      best = id;
      bestDistance = distance;
    }
    return best;
  }

  #relate(): void {
    const { active, graph } = this;
    this.upstream = active === null || graph === null ? none : reachable(active, graph.blockers);
    this.downstream =
      active === null || graph === null ? none : reachable(active, graph.dependents);
  }
}

/** A chain of epics, which can even be a loop, is not a chain of tasks. */
function withoutPath(graph: ShownGraph): ShownGraph {
  const edges = graph.edges.map((edge) => ({ ...edge, isCritical: false }));
  return { ...graph, critical: [], edges };
}

const steps = { left: [-1, 0], right: [1, 0], up: [0, -1], down: [0, 1] } as const;
