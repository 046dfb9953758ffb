// The layout of a graph: blockers to the left of their dependents. Dagre lays out small graphs with
// few crossings; large ones are laid out in layers in linear time, because a panel must never hang.
// Tasks without links are placed below.

import { Graph, layout } from '@dagrejs/dagre';

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface LinkedPair {
  readonly blocker: string;
  readonly dependent: string;
}

export interface GraphLayout {
  /** The upper left corner of each task. */
  readonly places: ReadonlyMap<string, Point>;
  /** The points of each edge, in order. */
  readonly lines: readonly (readonly Point[])[];
  readonly width: number;
  readonly height: number;
}

export const nodeWidthPx = 200;
export const nodeHeightPx = 44;
const gapAcrossPx = 64;
const gapDownPx = 16;
const marginPx = 24;

/** Beyond these limits, dagre takes longer than a person should wait. */
const dagreTasksMax = 200;
const dagreEdgesMax = 500;

export function layoutGraph(
  ids: readonly string[],
  edges: readonly LinkedPair[],
  looseColumns = 5,
): GraphLayout {
  const linked = new Set(edges.flatMap(({ blocker, dependent }) => [blocker, dependent]));
  const inGraph = ids.filter((id) => linked.has(id));
  const loose = ids.filter((id) => !linked.has(id));
  const isSmall = inGraph.length <= dagreTasksMax && edges.length <= dagreEdgesMax;
  const { places, lines } = isSmall ? byDagre(inGraph, edges) : byLayers(inGraph, edges);
  let bottom = marginPx;
  for (const { y } of places.values()) bottom = Math.max(bottom, y + nodeHeightPx + gapDownPx * 2);
  const columns = Math.max(looseColumns, Math.ceil(Math.sqrt(loose.length / 3)));
  for (const [index, id] of loose.entries()) {
    places.set(id, {
      x: marginPx + (index % columns) * (nodeWidthPx + gapDownPx),
      y: bottom + Math.floor(index / columns) * (nodeHeightPx + gapDownPx),
    });
  }
  let [width, height] = [0, 0];
  for (const { x, y } of places.values()) {
    width = Math.max(width, x + nodeWidthPx + marginPx);
    height = Math.max(height, y + nodeHeightPx + marginPx);
  }
  return { places, lines, width, height };
}

interface Linked {
  readonly places: Map<string, Point>;
  readonly lines: readonly (readonly Point[])[];
}

function byDagre(ids: readonly string[], edges: readonly LinkedPair[]): Linked {
  const graph = new Graph();
  graph.setGraph({
    rankdir: 'LR',
    nodesep: gapDownPx,
    ranksep: gapAcrossPx,
    marginx: marginPx,
    marginy: marginPx,
  });
  graph.setDefaultEdgeLabel(() => ({}));
  const names = new Map(ids.map((id, index) => [id, String(index)]));
  for (const name of names.values()) {
    graph.setNode(name, { width: nodeWidthPx, height: nodeHeightPx });
  }
  const nameOf = (id: string): string => names.get(id) ?? '';
  for (const { blocker, dependent } of edges) graph.setEdge(nameOf(blocker), nameOf(dependent));
  layout(graph);
  const places = new Map<string, Point>();
  for (const [id, name] of names) {
    const { x = 0, y = 0 } = graph.node(name) as Partial<Point>;
    places.set(id, { x: x - nodeWidthPx / 2, y: y - nodeHeightPx / 2 });
  }
  const lines = edges.map(({ blocker, dependent }) => {
    const label = graph.edge(nameOf(blocker), nameOf(dependent)) as { points?: readonly Point[] };
    const between = (label.points ?? []).slice(1, -1);
    return [endOf(places, blocker), ...between, startOf(places, dependent)];
  });
  return { places, lines };
}

function byLayers(ids: readonly string[], edges: readonly LinkedPair[]): Linked {
  const blockers = new Map<string, string[]>(ids.map((id) => [id, []]));
  const dependents = new Map<string, string[]>(ids.map((id) => [id, []]));
  for (const { blocker, dependent } of edges) {
    blockers.get(dependent)?.push(blocker);
    dependents.get(blocker)?.push(dependent);
  }
  const rows = new Map<string, number>();
  const layers = layersOf(ids, blockers, dependents);
  for (const layer of layers) {
    const preferred = new Map(
      layer.map((id) => [id, mean((blockers.get(id) ?? []).map((b) => rows.get(b)))]),
    );
    layer.sort((a, b) => (preferred.get(a) ?? 0) - (preferred.get(b) ?? 0));
    for (const [index, id] of layer.entries()) rows.set(id, index);
  }
  const places = new Map<string, Point>();
  for (const [column, layer] of layers.entries()) {
    for (const [row, id] of layer.entries()) {
      places.set(id, {
        x: marginPx + column * (nodeWidthPx + gapAcrossPx),
        y: marginPx + row * (nodeHeightPx + gapDownPx),
      });
    }
  }
  const lines = edges.map(({ blocker, dependent }) => [
    endOf(places, blocker),
    startOf(places, dependent),
  ]);
  return { places, lines };
}

/**
 * A task is one layer after the last of its blockers. Members of loops, which should not exist,
 * come first.
 */
function layersOf(
  ids: readonly string[],
  blockers: ReadonlyMap<string, readonly string[]>,
  dependents: ReadonlyMap<string, readonly string[]>,
): string[][] {
  const open = new Map(ids.map((id) => [id, blockers.get(id)?.length ?? 0]));
  const layer = new Map<string, number>(ids.map((id) => [id, 0]));
  const queue = ids.filter((id) => open.get(id) === 0);
  for (let head = 0; head < queue.length; head++) {
    const id = queue[head] ?? '';
    for (const dependent of dependents.get(id) ?? []) {
      layer.set(dependent, Math.max(layer.get(dependent) ?? 0, (layer.get(id) ?? 0) + 1));
      const left = (open.get(dependent) ?? 0) - 1;
      open.set(dependent, left);
      if (left === 0) queue.push(dependent);
    }
  }
  const layers: string[][] = [];
  for (const id of ids) (layers[layer.get(id) ?? 0] ??= []).push(id);
  return Array.from(layers, (members) => members ?? []);
}

function mean(rows: readonly (number | undefined)[]): number {
  const known = rows.filter((row) => row !== undefined);
  return known.length === 0 ? 0 : known.reduce((sum, row) => sum + row, 0) / known.length;
}

function endOf(places: ReadonlyMap<string, Point>, id: string): Point {
  const { x, y } = places.get(id) ?? { x: 0, y: 0 };
  return { x: x + nodeWidthPx, y: y + nodeHeightPx / 2 };
}

function startOf(places: ReadonlyMap<string, Point>, id: string): Point {
  const { x, y } = places.get(id) ?? { x: 0, y: 0 };
  return { x, y: y + nodeHeightPx / 2 };
}

/** An edge as an SVG path: curved through its points, and horizontal at both ends. */
export function formatSvgPath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  let path = `M${first.x} ${first.y}`;
  let at = first;
  for (const point of rest) {
    const bend = Math.max(Math.abs(point.x - at.x) / 2, point.x < at.x ? gapAcrossPx : 0);
    path += `C${at.x + bend} ${at.y} ${point.x - bend} ${point.y} ${point.x} ${point.y}`;
    at = point;
  }
  return path;
}
