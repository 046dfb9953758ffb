// The visible part of the graph: zoom around a point, pan, fit, and the visible tasks.

import { nodeHeightPx, nodeWidthPx, type Point } from './graph-layout.ts';

/** A point of the graph is at `point * scale + (x, y)` on the screen. */
export interface Viewport {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export const scaleMin = 0.1;
export const scaleMax = 2.5;
const paddingPx = 24;

export const wholeSize: Viewport = { scale: 1, x: 0, y: 0 };

export function zoomAround(view: Viewport, factor: number, at: Point): Viewport {
  const scale = clamp(view.scale * factor, scaleMin, scaleMax);
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

export function panBy(view: Viewport, dx: number, dy: number, graph: Size, screen: Size): Viewport {
  return bounded({ ...view, x: view.x + dx, y: view.y + dy }, graph, screen);
}

/** At least this much of the graph stays visible, however far the user pans. */
const keptPx = 80;

export function bounded(view: Viewport, graph: Size, screen: Size): Viewport {
  const [width, height] = [graph.width * view.scale, graph.height * view.scale];
  return {
    scale: view.scale,
    x: clamp(view.x, Math.min(keptPx - width, 0), Math.max(screen.width - keptPx, 0)),
    y: clamp(view.y, Math.min(keptPx - height, 0), Math.max(screen.height - keptPx, 0)),
  };
}

/** Shows all of it, centered, but never enlarged. */
export function fit(graph: Size, screen: Size): Viewport {
  const across = (screen.width - 2 * paddingPx) / Math.max(graph.width, 1);
  const down = (screen.height - 2 * paddingPx) / Math.max(graph.height, 1);
  const scale = clamp(Math.min(across, down), scaleMin, 1);
  return {
    scale,
    x: Math.max((screen.width - graph.width * scale) / 2, 0),
    y: Math.max((screen.height - graph.height * scale) / 2, 0),
  };
}

/** Moves only as far as needed to make the task at `place` visible. */
export function reveal(view: Viewport, place: Point, screen: Size): Viewport {
  const left = place.x * view.scale + view.x;
  const top = place.y * view.scale + view.y;
  const [width, height] = [nodeWidthPx * view.scale, nodeHeightPx * view.scale];
  return {
    scale: view.scale,
    x: view.x + shift(left, width, screen.width),
    y: view.y + shift(top, height, screen.height),
  };
}

function shift(start: number, length: number, space: number): number {
  if (start < paddingPx) return paddingPx - start;
  const over = start + length + paddingPx - space;
  return over > 0 ? -over : 0;
}

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The visible part of the graph, with a small margin. */
export function visibleBox(view: Viewport, screen: Size): Box {
  const around = nodeWidthPx;
  return {
    left: -view.x / view.scale - around,
    top: -view.y / view.scale - around,
    right: (screen.width - view.x) / view.scale + around,
    bottom: (screen.height - view.y) / view.scale + around,
  };
}

export function isInSight(sight: Box, { x, y }: Point): boolean {
  return (
    x + nodeWidthPx >= sight.left &&
    x <= sight.right &&
    y + nodeHeightPx >= sight.top &&
    y <= sight.bottom
  );
}

/** Whether a line may cross the visible part, based on its bounding box. */
export function lineInSight(sight: Box, points: readonly Point[]): boolean {
  const xs = points.map(({ x }) => x);
  const ys = points.map(({ y }) => y);
  return (
    Math.max(...xs) >= sight.left &&
    Math.min(...xs) <= sight.right &&
    Math.max(...ys) >= sight.top &&
    Math.min(...ys) <= sight.bottom
  );
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
