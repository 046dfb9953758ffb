// The shapes of the timeline: the position of each bar, and one path for all bars' parts of a kind.
// With an element for each part, drawing a thousand bars took longer than reading the data. Pure.

import type { ReportAttempt } from '../../server/core/history/report-attempts.ts';
import { type PartTone, toneForKind } from './period-words.ts';
import type { Timeline, TimelineBar } from './timeline-model.ts';

export const laneHeightPx = 22;
export const barHeightPx = 16;
export const axisHeightPx = 22;
const barWidthMinPx = 3;
const partWidthMinPx = 0.5;
const questionHeightPx = 4;
const radiusPx = 2;

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export type Edge = 'plain' | 'critical' | 'failed';

/** Each path is the `d` of one SVG element. */
export interface Shapes {
  /** In the order of the timeline's bars. */
  readonly boxes: readonly Box[];
  readonly ground: string;
  readonly parts: ReadonlyMap<PartTone, string>;
  readonly edges: ReadonlyMap<Edge, string>;
}

/** `scale`: pixels per millisecond. */
export function buildShapes({ bars, startMs }: Timeline, scale: number): Shapes {
  const parts = new Map<PartTone, string>();
  const edges = new Map<Edge, string>();
  const boxes: Box[] = [];
  let ground = '';
  for (const bar of bars) {
    const { started_at_ms: from, ended_at_ms: to, parts: own } = bar.attempt;
    const y = axisHeightPx + bar.lane * laneHeightPx;
    const width = Math.max(barWidthMinPx, (to - from) * scale);
    const box = { x: (from - startMs) * scale, y, width, height: barHeightPx };
    boxes.push(box);
    ground += rounded(box);
    const edge = edgeOf(bar);
    edges.set(edge, (edges.get(edge) ?? '') + rounded(inner(box)));
    for (const part of own) {
      const tone = toneForKind(part.kind);
      const isQuestion = part.kind === 'question';
      const height = isQuestion ? questionHeightPx : barHeightPx;
      const d = square({
        x: (part.started_at_ms - startMs) * scale,
        y: isQuestion ? y + barHeightPx - questionHeightPx : y,
        width: Math.max(partWidthMinPx, (part.ended_at_ms - part.started_at_ms) * scale),
        height,
      });
      parts.set(tone, (parts.get(tone) ?? '') + d);
    }
  }
  return { boxes, ground, parts, edges };
}

function edgeOf({ attempt, isCritical }: TimelineBar): Edge {
  if (attempt.outcome !== null && !isGood(attempt)) return 'failed';
  return isCritical ? 'critical' : 'plain';
}

/** Its work landed, or waits unchanged for a person. */
function isGood({ outcome }: ReportAttempt): boolean {
  return outcome === 'completed' || outcome === 'needs_review';
}

/** A line along it is sharp, and inside the bar. */
export function inner({ x, y, width, height }: Box): Box {
  return { x: x + 0.5, y: y + 0.5, width: Math.max(1, width - 1), height: height - 1 };
}

function square({ x, y, width, height }: Box): string {
  return `M${px(x)} ${px(y)}h${px(width)}v${px(height)}h${px(-width)}z`;
}

function rounded({ x, y, width, height }: Box): string {
  const r = Math.min(radiusPx, width / 2);
  const corner = (dx: number, dy: number): string => `a${px(r)} ${px(r)} 0 0 1 ${px(dx)} ${px(dy)}`;
  const [across, down] = [px(width - 2 * r), px(height - 2 * r)];
  const top = `M${px(x + r)} ${px(y)}h${across}${corner(r, r)}`;
  return `${top}v${down}${corner(-r, r)}h${-across}${corner(-r, -r)}v${-down}${corner(r, -r)}z`;
}

/** Hundredths of a pixel are enough. */
function px(value: number): number {
  return Math.round(value * 100) / 100;
}
