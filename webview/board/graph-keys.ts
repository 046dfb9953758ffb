// The keyboard on the graph: follow dependencies, add and remove them, zoom and pan.

import type { StatusSnapshot, TaskView } from '../../server/protocol/views.ts';
import { statusWords } from '../shared/status-words.ts';
import type { Host } from '../shared/host.ts';
import type { BoardPlan } from './board-plan.ts';
import { shown } from './columns.ts';
import { reachable } from './graph-model.ts';
import type { GraphState } from './graph-state.ts';

export type GraphKey =
  | { readonly kind: 'go'; readonly way: 'left' | 'right' | 'up' | 'down' }
  | { readonly kind: 'end'; readonly at: 'first' | 'last' }
  | { readonly kind: 'pan'; readonly dx: number; readonly dy: number }
  | { readonly kind: 'zoom'; readonly factor: number }
  | { readonly kind: 'actual' | 'fit' | 'open' | 'menu' | 'add' | 'remove' | 'cancel' };

export interface KeyPress {
  readonly key: string;
  readonly shiftKey: boolean;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

const ways = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
} as const;

const panPx = 80;
const zoomStep = 1.25;
const pans = { left: [panPx, 0], right: [-panPx, 0], up: [0, panPx], down: [0, -panPx] } as const;

const plainKeys: Readonly<Record<string, GraphKey>> = {
  Home: { kind: 'end', at: 'first' },
  End: { kind: 'end', at: 'last' },
  '+': { kind: 'zoom', factor: zoomStep },
  '=': { kind: 'zoom', factor: zoomStep },
  '-': { kind: 'zoom', factor: 1 / zoomStep },
  '0': { kind: 'actual' },
  f: { kind: 'fit' },
  b: { kind: 'add' },
  Delete: { kind: 'remove' },
  Backspace: { kind: 'remove' },
  Enter: { kind: 'open' },
  Escape: { kind: 'cancel' },
  ContextMenu: { kind: 'menu' },
};

export function graphKey(press: KeyPress): GraphKey | null {
  if (press.ctrlKey || press.metaKey || press.altKey) return null;
  if (press.key === 'F10' && press.shiftKey) return { kind: 'menu' };
  if (Object.hasOwn(ways, press.key)) {
    const way = ways[press.key as keyof typeof ways];
    const [dx, dy] = pans[way];
    return press.shiftKey ? { kind: 'pan', dx, dy } : { kind: 'go', way };
  }
  const name = press.key.length === 1 ? press.key.toLowerCase() : press.key;
  return Object.hasOwn(plainKeys, name) ? (plainKeys[name] ?? null) : null;
}

export interface GraphKeyParts {
  readonly host: Host;
  readonly plan: BoardPlan;
  readonly board: StatusSnapshot;
  readonly state: GraphState;
  readonly choose: (id: string | null) => void;
  readonly open: (id: string | null) => void;
  readonly menu: () => void;
  readonly cancel: () => void;
}

export function runGraphKey(parts: GraphKeyParts, key: GraphKey): void {
  const { state } = parts;
  switch (key.kind) {
    case 'go': {
      const to = state.neighbour(key.way);
      if (to !== null) parts.choose(to);
      return;
    }
    case 'end':
      return parts.choose((key.at === 'first' ? state.order[0] : state.order.at(-1)) ?? null);
    case 'pan':
      return state.pan(key.dx, key.dy);
    case 'zoom':
      return state.zoom(key.factor);
    case 'actual':
      return state.zoom(1 / state.view.scale);
    case 'fit':
      return state.fit();
    case 'open':
      return parts.open(state.active);
    case 'menu':
      return parts.menu();
    case 'add':
      return parts.plan.ask(() => addBlocker(parts));
    case 'remove':
      return parts.plan.ask(() => removeBlocker(parts));
    case 'cancel':
      return parts.cancel();
  }
}

/** Tasks that already wait for it cannot be chosen, because that would create a loop. */
async function addBlocker({ host, plan, board, state }: GraphKeyParts): Promise<void> {
  const { active, graph } = state;
  const task = board.tasks.find(({ id }) => id === active);
  if (task === undefined || graph === null) return;
  const behind = reachable(task.id, graph.dependents);
  const present = new Set([task.id, ...task.blocked_by, ...behind]);
  const items = board.tasks
    .filter(({ id, parent_id }) => parent_id === null && !present.has(id))
    .map(itemOf);
  const title = `${shown(task.title)} Waits For …`;
  const { id } = await host.action('pick', { title, items });
  if (id !== null) plan.link(board, id, task.id);
}

async function removeBlocker({ host, plan, board, state }: GraphKeyParts): Promise<void> {
  const { active, chosenEdge } = state;
  if (chosenEdge !== null) {
    const { blocker, dependent, isDirect } = chosenEdge;
    const isOfEpic = state.groups.has(blocker) || state.groups.has(dependent);
    if (isDirect && !isOfEpic) plan.unlink(board, blocker, dependent);
    return;
  }
  const task = board.tasks.find((one) => one.id === active);
  const blockers = board.tasks.filter(({ id }) => task?.blocked_by.includes(id) === true);
  if (task === undefined || blockers.length === 0) return;
  const title = `${shown(task.title)} No Longer Waits For …`;
  const { id } = await host.action('pick', { title, items: blockers.map(itemOf) });
  if (id !== null) plan.unlink(board, id, task.id);
}

function itemOf(task: TaskView): { id: string; label: string; detail: string } {
  return { id: task.id, label: shown(task.title), detail: statusWords(task) };
}
