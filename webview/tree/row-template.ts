// Template for one row of the tree: light markup, because hundreds appear and disappear during
// scrolling.

import { sizeWords } from '../../server/protocol/candidates.ts';
import { html, nothing, type TemplateResult } from 'lit';
import { formatCost, formatCount, formatDuration, stepText } from '../../server/core/format.ts';
import type { OutcomeCounts } from '../../server/core/plan/outcome.ts';
import {
  completedShare,
  noShare,
  outcomePercent,
  waitsForYou,
} from '../../server/core/plan/outcome-words.ts';
import { epicNeed } from '../../server/protocol/needs.ts';
import type { EpicView, RunView, TaskView } from '../../server/protocol/views.ts';
import { statusLook, statusWords, type StatusLook, runsOnWorker } from '../shared/status-words.ts';
import { icon } from '../shared/looks/icon.ts';
import { visibleLine } from '../shared/looks/visible-text.ts';
import type { DropZone } from './drops.ts';
import { rowId, type Draft, type Row } from './rows.ts';

export interface RowLook {
  readonly index: number;
  readonly startPx: number;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  readonly drop: DropZone | 'refused' | null;
  /** The text that is being edited instead of the title. */
  readonly renaming: string | null;
  readonly nowMs: number;
  readonly canRun: boolean;
  readonly run: RunView | null;
  /** This task's agent waits for an answer. */
  readonly isAsking: boolean;
  /** Counts of this epic's tasks. */
  readonly counts: OutcomeCounts;
  /** How many items of this epic wait for a person. */
  readonly needs: number;
  /** Titles of the tasks that this task waits for. */
  readonly after: readonly string[];
}

export interface RowActions {
  readonly onText: (event: KeyboardEvent) => void;
  readonly onLeaveText: (event: FocusEvent) => void;
}

const indentPx = 8;
const shownCharsMax = 500;

/** Titles are untrusted text, so they are shortened and sanitized. */
function shown(text: string): string {
  return visibleLine(text.slice(0, shownCharsMax));
}

export function rowTemplate(row: Row, look: RowLook, actions: RowActions): TemplateResult {
  const id = rowId(row);
  const classes = [
    'row',
    row.kind,
    look.isSelected ? 'selected' : '',
    look.isActive ? 'active' : '',
    look.drop === null ? '' : `drop-${look.drop}`,
    row.kind === 'task' && isOver(row.task) ? 'done' : '',
  ].join(' ');
  return html`<div
    id=${`row-${look.index}`}
    class=${classes}
    role="treeitem"
    aria-level=${row.level}
    aria-posinset=${row.position}
    aria-setsize=${row.setSize}
    aria-selected=${look.isSelected ? 'true' : 'false'}
    aria-expanded=${row.kind === 'draft' || row.expanded === null ? nothing : String(row.expanded)}
    aria-label=${labelOf(row, look)}
    data-index=${look.index}
    data-id=${id ?? nothing}
    data-vscode-context=${JSON.stringify(contextOf(row))}
    draggable=${row.kind === 'task' && look.renaming === null ? 'true' : 'false'}
    .style=${`transform: translateY(${look.startPx}px); padding-left: ${row.level * indentPx}px`}
  >
    ${twisty(row.kind === 'draft' ? null : row.expanded)}
    ${look.renaming === null ? content(row, look, actions) : textField(look.renaming, actions, 'New title')}
  </div>`;
}

function twisty(expanded: boolean | null): TemplateResult {
  if (expanded === null) return html`<span class="twisty"></span>`;
  return html`<span class="twisty" data-twisty>
    ${icon(expanded ? 'chevron-down' : 'chevron-right')}
  </span>`;
}

function content(row: Row, look: RowLook, actions: RowActions): TemplateResult {
  switch (row.kind) {
    case 'epic':
      return epicContent(row.epic, look);
    case 'loose':
      return html`<span class="title">Without an epic</span>
        <span class="facts">${row.count === 0 ? '' : row.count}</span>`;
    case 'task':
      return taskContent(row, look);
    case 'draft':
      return html`${row.draft.kind === 'task' ? icon('circle') : nothing}
      ${textField('', actions, draftLabel(row.draft))}`;
  }
}

function epicContent(epic: EpicView, look: RowLook): TemplateResult {
  const percent = outcomePercent(look.counts);
  const state = epicLook(epic, look.run);
  return html`${state === null ? nothing : icon(state.icon, `tone-${state.tone}`)}
    <span class="title"><bdi>${shown(epic.title)}</bdi></span>
    ${
      look.needs === 0
        ? nothing
        : html`<span
            class="needs tone-asks"
            data-count=${look.needs}
            title=${waitsForYou(look.needs)}
            >${icon('bell-dot')}</span
          >`
    }
    <span class="facts count">${completedShare(look.counts)}</span>
    <span class="progress" aria-hidden="true"><span .style=${`width: ${percent}%`}></span></span>
    ${
      epic.landing_state === 'pull_request' && state !== null
        ? html`<span class="waits"><bdi>${state.words}</bdi></span>`
        : nothing
    }
    ${
      look.canRun
        ? html`<button
            type="button"
            tabindex="-1"
            title="Run Epic"
            aria-label=${`Run epic ${shown(epic.title)}`}
            data-run
          >
            ${icon('play')}
          </button>`
        : nothing
    }
    <button
      type="button"
      tabindex="-1"
      title="New Task in This Epic"
      aria-label=${`New task in ${shown(epic.title)}`}
      data-add
    >
      ${icon('add')}
    </button>`;
}

function taskContent(row: TaskRow, look: RowLook): TemplateResult {
  const { task } = row;
  const looks = statusLook(task, look.isAsking);
  const spins = looks.tone === 'busy' ? 'spins' : '';
  return html`${icon(looks.icon, `tone-${looks.tone} ${spins}`)}
    <span class="title"><bdi>${shown(nameOf(task))}</bdi></span>
    ${runsOnWorker(task) ? html`<span class="where" title="on a worker">${icon('vm')}</span>` : nothing}
    <span class="facts"
      ><span class="edge"></span>${rowFacts(row, look).map(
        (fact, at) => html`<span>${at === 0 ? '' : ' · '}${fact}</span>`,
      )}</span
    >`;
}

type TaskRow = Extract<Row, { kind: 'task' }>;

/** Candidates have the title of their task, which is above them. */
function nameOf({ candidate, title }: TaskView): string {
  return candidate === null ? title : `Candidate ${candidate.number}`;
}

function rowFacts(row: TaskRow, { nowMs, isAsking, after }: RowLook): readonly string[] {
  const { task, candidates } = row;
  const facts = listRowFacts(task, nowMs, isAsking);
  if (task.candidate === null) {
    if (task.status !== 'blocked') return facts;
    const [blocked = '', ...rest] = facts;
    // The task waits for nothing else.
    if (candidates > 0) return [...rest, formatCount(candidates, 'candidate')];
    return after.length === 0 ? facts : [blocked, afterWords(after), ...rest];
  }
  const size = sizeWords(task);
  const state = task.status === 'cancelled' ? ['not chosen', ...facts.slice(1)] : facts;
  return [...(size === null ? [] : [size]), ...state];
}

const afterChars = 28;

function afterWords([first = '', ...others]: readonly string[]): string {
  const title = shown(first);
  const cut = title.length > afterChars ? `${title.slice(0, afterChars - 1).trimEnd()}…` : title;
  return `after “${cut}”${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

/** The short text after a title; defaults are omitted. */
export function listRowFacts(task: TaskView, nowMs: number, isAsking = false): readonly string[] {
  const isBusy = task.status === 'in_progress' || task.status === 'claimed';
  const isQuiet = task.status === 'ready' || task.status === 'completed';
  const facts: string[] = [];
  if (!isQuiet) facts.push(statusWords(task, isAsking));
  if (typeof task.machine === 'string' && !isQuiet) facts.push(`on ${shown(task.machine)}`);
  if (task.agent !== null && !isQuiet) facts.push(shown(stepText({ ...task, agent: task.agent })));
  if (runsOnWorker(task)) facts.push('on a worker');
  if (task.attempts > 0 && !isOver(task))
    facts.push(`attempt ${Math.min(task.attempts + 1, task.max_attempts)}/${task.max_attempts}`);
  if (isBusy && task.started_at !== null)
    facts.push(formatDuration(Math.floor(Math.max(0, nowMs / 1000 - task.started_at)) * 1000));
  if (task.cost > 0) facts.push(formatCost(task.cost));
  return facts;
}

function isOver(task: TaskView): boolean {
  return task.status === 'completed' || task.status === 'cancelled';
}

function textField(value: string, actions: RowActions, label: string): TemplateResult {
  return html`<input
    class="text"
    type="text"
    maxlength="500"
    aria-label=${label}
    placeholder=${label}
    .value=${value}
    @keydown=${actions.onText}
    @focusout=${actions.onLeaveText}
  />`;
}

function draftLabel(draft: Draft): string {
  if (draft.kind === 'epic') return 'Title of the new epic';
  return draft.parent === null ? 'Title of the new task' : 'Title of the new sub-task';
}

/** Starts with the row's visible text; the meaning of its icon follows. */
function labelOf(row: Row, look: RowLook): string {
  switch (row.kind) {
    case 'epic': {
      const { epic } = row;
      const share = completedShare(look.counts);
      const count = share === noShare ? share : `${share} completed`;
      const state = epicLook(epic, look.run);
      const waits = look.needs === 0 ? [] : [waitsForYou(look.needs)];
      const behind = [...(state === null ? [] : [state.words]), ...waits, 'epic'];
      return `${shown(epic.title)} ${count}, ${behind.join(', ')}`;
    }
    case 'loose':
      return `Without an epic ${row.count === 0 ? 'empty' : formatCount(row.count, 'task')}`;
    case 'task': {
      const facts = rowFacts(row, look);
      const seen = [shown(nameOf(row.task)), facts.join(' · ')].join(' ').trim();
      const words = statusWords(row.task, look.isAsking);
      return facts.includes(words) ? seen : `${seen}, ${words}`;
    }
    case 'draft':
      return draftLabel(row.draft);
  }
}

/** The progress of the whole epic. Returns null if its count already shows it. */
function epicLook(epic: EpicView, run: RunView | null): StatusLook | null {
  switch (epicNeed(epic, run)) {
    case 'epic_review':
      return { icon: 'eye', words: 'needs your review', tone: 'asks' };
    case 'epic_conflict':
      return { icon: 'git-merge', words: 'cannot land', tone: 'asks' };
    case 'epic_unlanded':
      return { icon: 'git-merge', words: 'not landed yet', tone: 'asks' };
    case null:
      if (epic.landing_state === 'pull_request')
        return { icon: 'git-merge', words: pullWords(epic), tone: 'quiet' };
      return epic.landing_state === 'landed' && epic.landed_sha !== null
        ? { icon: 'pass-filled', words: `landed as ${epic.landed_sha.slice(0, 7)}`, tone: 'good' }
        : null;
  }
}

/** Its note is in part text of the forge. */
function pullWords({ landing_note: note }: EpicView): string {
  return note === null ? 'in a pull request' : shown(note);
}

function contextOf(row: Row): object {
  const base = { preventDefaultContextMenuItems: true };
  switch (row.kind) {
    case 'epic':
      return {
        ...base,
        webviewSection: 'epic',
        epicId: row.epic.id,
        status: row.epic.landing_state ?? '',
        archived: row.epic.status === 'closed',
      };
    case 'task':
      return {
        ...base,
        webviewSection: 'task',
        taskId: row.task.id,
        status: row.task.status,
        waits: row.task.blocked_by.length > 0,
        candidate: row.task.candidate !== null,
      };
    case 'loose':
    case 'draft':
      return { ...base, webviewSection: 'empty' };
  }
}
