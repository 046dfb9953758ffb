// Templates for one task and one edge of the graph: light markup, because hundreds appear and
// disappear during panning.

import { html, nothing, svg, type SVGTemplateResult, type TemplateResult } from 'lit';
import { formatCount } from '../../server/core/format.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { foreseenConflicts, foreseenWords } from '../shared/foreseen.ts';
import { statusLook, statusWords } from '../shared/status-words.ts';
import { icon } from '../shared/looks/icon.ts';
import { shown } from './columns.ts';
import { nodeHeightPx, nodeWidthPx, formatSvgPath } from './graph-layout.ts';
import type { ShownGraph } from './graph-model.ts';
import type { GraphState } from './graph-state.ts';
import { menuContext, contextOfEpic } from './menu-context.ts';

const namedMax = 5;

/** Describes a task's dependencies in both directions. */
export function describeRelations(graph: ShownGraph, id: string): string {
  const named = (ids: readonly string[]): string => {
    const titles = ids
      .slice(0, namedMax)
      .map((other) => shown(graph.tasks.get(other)?.title ?? other));
    const left = ids.length - titles.length;
    return `${titles.join(', ')}${left > 0 ? ` and ${left} more` : ''}`;
  };
  const blockers = graph.blockers.get(id) ?? [];
  const dependents = graph.dependents.get(id) ?? [];
  return [
    blockers.length === 0 ? 'Blocked by nothing.' : `Blocked by ${named(blockers)}.`,
    dependents.length === 0 ? 'Blocks nothing.' : `Blocks ${named(dependents)}.`,
    ...(graph.critical.includes(id) ? ['On the critical path.'] : []),
    ...(graph.outside.has(id) ? ['Of another epic.'] : []),
  ].join(' ');
}

export interface NodeLook {
  readonly index: number;
  readonly count: number;
  readonly isCritical: boolean;
  readonly drop: 'target' | 'refused' | null;
}

export function nodeTemplate(
  task: TaskView,
  state: GraphState,
  look: NodeLook,
): TemplateResult | typeof nothing {
  const place = state.layout.places.get(task.id);
  const { graph } = state;
  if (place === undefined || graph === null) return nothing;
  const { id } = task;
  const isAsking = graph.asking.has(id);
  const status = statusLook(task, isAsking);
  const isActive = id === state.active;
  const share = state.groups.get(id) ?? null;
  const [conflict] = foreseenConflicts(task);
  const usual = share === null ? statusWords(task, isAsking) : `${share} · ${status.words}`;
  const words = conflict === undefined ? usual : foreseenWords(conflict);
  const classes = [
    'node',
    look.isCritical ? 'critical' : '',
    conflict === undefined ? '' : 'alarm',
    isActive ? 'active' : '',
    state.upstream.has(id) ? 'upstream' : '',
    state.downstream.has(id) ? 'downstream' : '',
    graph.outside.has(id) ? 'outside' : '',
    look.drop ?? '',
    share === null ? '' : 'group',
  ].join(' ');
  return html`<div
    id=${`node-${look.index}`}
    class=${classes}
    role="option"
    aria-selected=${isActive ? 'true' : 'false'}
    aria-posinset=${look.index + 1}
    aria-setsize=${look.count}
    aria-label=${`${shown(task.title)} ${words}. ${describeRelations(graph, id)}`}
    data-id=${id}
    data-vscode-context=${share === null ? menuContext(task) : contextOfEpic(id)}
    .style=${`width: ${nodeWidthPx}px; height: ${nodeHeightPx}px; transform: translate(${place.x}px, ${place.y}px)`}
  >
    <div class="line">
      ${icon(status.icon, `tone-${status.tone} ${status.tone === 'busy' ? 'spins' : ''}`)}
      <span class="title"><bdi>${shown(task.title)}</bdi></span>
    </div>
    <div class="quiet">${words}</div>
    ${
      share === null
        ? html`<span class="handle" title="Drag onto a task that must wait for this one"></span>`
        : nothing
    }
  </div>`;
}

export function edgeTemplate(state: GraphState, index: number): SVGTemplateResult | typeof nothing {
  const edge = state.graph?.edges[index];
  const points = state.layout.lines[index];
  if (edge === undefined || points === undefined) return nothing;
  const { blocker, dependent } = edge;
  const { active, upstream, downstream, chosenEdge } = state;
  const isUp = upstream.has(blocker) && (dependent === active || upstream.has(dependent));
  const isDown = downstream.has(dependent) && (blocker === active || downstream.has(blocker));
  const isRelated = active !== null && (isUp || isDown);
  const isChosen = chosenEdge?.blocker === blocker && chosenEdge.dependent === dependent;
  const classes = [
    edge.isCritical ? 'critical' : '',
    isRelated ? 'related' : '',
    active !== null && !isRelated ? 'unrelated' : '',
    isChosen ? 'chosen' : '',
  ].join(' ');
  const path = formatSvgPath(points);
  return svg`<path class=${classes} d=${path} marker-end="url(#arrow)"></path>
    <path class="hit" d=${path} data-edge=${index}></path>`;
}

/** The hidden tasks and the reason, and the length of the critical path. */
export function graphNote(graph: ShownGraph, groups = 0): string {
  const notes: string[] = [];
  if (groups > 0) notes.push('Each epic is one node: Enter or a double click shows its tasks.');
  if (graph.tasks.size === 0) notes.push('No tasks to show.');
  if (graph.leftOut > 0) {
    const count = formatCount(graph.leftOut, 'task');
    notes.push(`${count} more than a graph can show: choose an epic or hide what is completed.`);
  }
  if (graph.completedHidden > 0) notes.push(`${graph.completedHidden} completed hidden.`);
  if (graph.critical.length > 0) {
    notes.push(`Critical path: ${formatCount(graph.critical.length, 'task')}.`);
  }
  return notes.join(' ');
}
