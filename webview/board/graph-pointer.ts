// The mouse on the graph: pan with the background, zoom with wheel and pinch, and draw an edge from
// a task's handle to another task.

import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { Drop } from '../shared/plan/places.ts';
import type { BoardPlan } from './board-plan.ts';
import type { Point } from './graph-layout.ts';
import type { GraphState } from './graph-state.ts';

export interface PointerParts {
  readonly state: GraphState;
  readonly plan: () => BoardPlan | null;
  readonly board: () => StatusSnapshot | null;
  readonly changed: () => void;
}

export interface DrawnEdge {
  readonly blocker: string;
  /** Position of the mouse in graph coordinates. */
  readonly to: Point;
  readonly over: string | null;
  /** The effect of releasing the mouse; null if it is not over a task. */
  readonly drop: Drop | null;
}

const wheelLinePx = 16;
const zoomPerPx = 1.002;
const pinchPerPx = 1.01;

export class GraphPointer {
  readonly #parts: PointerParts;
  #pan: Point | null = null;
  drawn: DrawnEdge | null = null;

  constructor(parts: PointerParts) {
    this.#parts = parts;
  }

  get isPanning(): boolean {
    return this.#pan !== null;
  }

  readonly onDown = (event: PointerEvent): void => {
    if (event.button !== 0 && event.button !== 1) return;
    const { state, changed } = this.#parts;
    const target = event.target as Element;
    const stage = event.currentTarget as HTMLElement;
    const id = target.closest<HTMLElement>('.node')?.dataset['id'] ?? null;
    if (target.closest('.handle') !== null && id !== null && event.button === 0) {
      this.drawn = { blocker: id, to: this.#pointOf(event), over: null, drop: null };
    } else if (id === null || event.button === 1) {
      const at = target.closest<SVGPathElement>('path.hit')?.dataset['edge'];
      if (at !== undefined && event.button === 0) {
        state.choose(null);
        state.chosenEdge = state.graph?.edges[Number(at)] ?? null;
        return changed();
      }
      this.#pan = { x: event.clientX, y: event.clientY };
    } else return;
    stage.setPointerCapture(event.pointerId);
    changed();
  };

  readonly onMove = (event: PointerEvent): void => {
    const { state, changed } = this.#parts;
    if (this.#pan !== null) {
      state.pan(event.clientX - this.#pan.x, event.clientY - this.#pan.y);
      this.#pan = { x: event.clientX, y: event.clientY };
      return changed();
    }
    const { drawn } = this;
    if (drawn === null) return;
    const over = this.#taskAt(event, drawn.blocker);
    const drop = over === drawn.over ? drawn.drop : this.#dropOn(drawn.blocker, over);
    this.drawn = { ...drawn, to: this.#pointOf(event), over, drop };
    changed();
  };

  readonly onUp = (): void => {
    const { drawn } = this;
    const board = this.#parts.board();
    this.#pan = null;
    this.drawn = null;
    if (drawn !== null && drawn.over !== null && board !== null) {
      this.#parts.plan()?.link(board, drawn.blocker, drawn.over);
    }
    this.#parts.changed();
  };

  readonly onCancel = (): void => {
    this.#pan = null;
    this.drawn = null;
    this.#parts.changed();
  };

  /** The wheel pans, and with Ctrl (which a touchpad pinch also sets) it zooms. */
  readonly onWheel = (event: WheelEvent): void => {
    event.preventDefault();
    const { state, changed } = this.#parts;
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? wheelLinePx : 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    if (event.ctrlKey || event.metaKey) {
      const per = Math.abs(dy) < 50 ? pinchPerPx : zoomPerPx;
      state.zoom(per ** -dy, this.#screenPoint(event));
    } else if (event.shiftKey && dx === 0) state.pan(-dy, 0);
    else state.pan(-dx, -dy);
    changed();
  };

  #dropOn(blocker: string, over: string | null): Drop | null {
    const board = this.#parts.board();
    if (over === null || board === null) return null;
    return this.#parts.plan()?.linkAt(board, blocker, over) ?? null;
  }

  /** The mouse is captured during the drag, so the element below it must be looked up. */
  #taskAt(event: PointerEvent, except: string): string | null {
    const root = (event.currentTarget as HTMLElement).getRootNode() as ShadowRoot;
    const element = root.elementFromPoint(event.clientX, event.clientY);
    const id = element?.closest<HTMLElement>('.node:not(.group)')?.dataset['id'] ?? null;
    return id === except ? null : id;
  }

  #pointOf(event: MouseEvent): Point {
    return this.#parts.state.toGraph(this.#screenPoint(event));
  }

  #screenPoint(event: MouseEvent): Point {
    const { left, top } = (event.currentTarget as HTMLElement).getBoundingClientRect();
    return { x: event.clientX - left, y: event.clientY - top };
  }
}
