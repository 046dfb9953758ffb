// A task's properties other than its text: a control if the property can be changed, otherwise a
// fact.

import { html, nothing, type TemplateResult } from 'lit';
import { formatCost } from '../../../server/core/format.ts';
import { canChooseModel } from '../../../server/core/work/fallback.ts';
import type { TaskFields } from '../../../server/protocol/task-fields.ts';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import type { VscodeTextfield } from '../looks/text-field.ts';
import '../looks/text-field.ts';
import { visibleLine } from '../looks/visible-text.ts';
import { parseLabels } from './task-edit.ts';

export interface FormParts {
  readonly board: StatusSnapshot;
  readonly agents: readonly string[];
  readonly isReadOnly: boolean;
  readonly edit: (fields: TaskFields) => void;
  /** Shows the task's changes. */
  readonly review: () => void;
}

const priorities: readonly (readonly [number, string])[] = [
  [10, 'Critical'],
  [7, 'High'],
  [5, 'Normal'],
  [2, 'Low'],
];
const attemptsMax = 20;
const candidatesMax = 8;

export function formTemplate(task: TaskView, parts: FormParts): TemplateResult {
  const { edit, isReadOnly } = parts;
  const isRunning = task.phase !== null;
  return html`<dl>
    ${task.parent_id === null ? epicRow(task, parts) : nothing}
    ${select('Agent', {
      value: task.agent ?? '',
      options: [['', 'Project default'], ...withOwn(parts.agents, task.agent)],
      isReadOnly: isReadOnly || isRunning,
      onChange: (agent) => edit({ agent: agent === '' ? null : agent }),
    })}
    ${modelRow(task, parts)}
    ${select('Priority', {
      value: String(task.priority),
      options: priorityOptions(task.priority),
      isReadOnly,
      onChange: (priority) => edit({ priority: Number(priority) }),
    })}
    ${text('Labels', {
      value: task.labels.join(', '),
      placeholder: 'none',
      isReadOnly,
      onChange: (labels) => edit({ labels: parseLabels(labels) }),
    })}
    ${text('Gate', {
      value: task.gate ?? '',
      placeholder: 'Project default',
      isReadOnly,
      onChange: (gate) => edit({ gate: gate === '' ? null : gate }),
    })}
    ${select('Plan first', {
      value: task.plan === null ? '' : String(task.plan),
      options: [
        ...(task.plan === null ? [['', 'Project default'] as const] : []),
        ['true', 'Yes: you approve it before it is built'],
        ['false', 'No'],
      ],
      isReadOnly,
      onChange: (plan) => {
        if (plan !== '') edit({ plan: plan === 'true' });
      },
    })}
    ${number('Candidates', {
      value: task.best_of ?? 1,
      max: candidatesMax,
      isReadOnly,
      onChange: (best_of) => edit({ best_of }),
    })}
    ${number('Attempts', {
      value: task.max_attempts,
      max: attemptsMax,
      isReadOnly,
      onChange: (max_attempts) => edit({ max_attempts }),
    })}
    ${fact('Used attempts', task.attempts === 0 ? '' : String(task.attempts))}
    ${fact('Estimated cost', task.cost === 0 ? '' : formatCost(task.cost))}
    ${fact('Branch', task.branch ?? '')} ${commit('Commit', task.commit_sha, parts)}
    ${commit('Landed as', task.landed_sha, parts)} ${fact('Id', task.id)}
  </dl>`;
}

/** Drover requests a model only from some agents; the others get theirs from the settings. */
function modelRow(task: TaskView, { edit, isReadOnly }: FormParts): TemplateResult {
  const takesModel = task.agent === null || canChooseModel(task.agent);
  const isRunning = task.phase !== null;
  return text('Model', {
    value: task.model ?? '',
    placeholder: takesModel ? 'Project default' : `Set in [agents.${task.agent}] args`,
    // A model that is no longer used can still be removed.
    isReadOnly: isReadOnly || isRunning || (!takesModel && task.model === null),
    onChange: (model) => edit({ model: model === '' ? null : model }),
  });
}

function epicRow(task: TaskView, { board, edit, isReadOnly }: FormParts): TemplateResult {
  const isRunning = task.status === 'in_progress' || task.status === 'claimed';
  return select('Epic', {
    value: task.epic_id ?? '',
    options: [
      ['', 'No epic'],
      ...board.epics.map(({ id, title }) => [id, visibleLine(title)] as const),
    ],
    isReadOnly: isReadOnly || isRunning,
    onChange: (epic) => edit({ epic: epic === '' ? null : epic }),
  });
}

function withOwn(
  agents: readonly string[],
  own: string | null,
): readonly (readonly [string, string])[] {
  const all = own === null || agents.includes(own) ? agents : [...agents, own];
  return all.map((agent) => [agent, visibleLine(agent)] as const);
}

function priorityOptions(own: number): readonly (readonly [string, string])[] {
  const isKnown = priorities.some(([value]) => value === own);
  const all = isKnown ? priorities : [...priorities, [own, `Priority ${own}`] as const];
  return all.toSorted(([a], [b]) => b - a).map(([value, title]) => [String(value), title]);
}

interface Field<Value> {
  readonly value: Value;
  readonly isReadOnly: boolean;
  readonly onChange: (value: Value) => void;
}

function select(
  label: string,
  {
    value,
    options,
    isReadOnly,
    onChange,
  }: Field<string> & { readonly options: readonly (readonly [string, string])[] },
): TemplateResult {
  return html`<dt id=${idOf(label)}>${label}</dt>
    <dd>
      <select
        aria-labelledby=${idOf(label)}
        ?disabled=${isReadOnly}
        @change=${(event: Event) => onChange((event.target as HTMLSelectElement).value)}
      >
        ${options.map(
          ([key, title]) => html`<option value=${key} ?selected=${key === value}>${title}</option>`,
        )}
      </select>
    </dd>`;
}

function text(
  label: string,
  { value, placeholder, isReadOnly, onChange }: Field<string> & { readonly placeholder: string },
): TemplateResult {
  return html`<dt id=${idOf(label)}>${label}</dt>
    <dd>
      <vscode-textfield
        maxlength="2000"
        .label=${label}
        placeholder=${placeholder}
        .value=${value}
        ?disabled=${isReadOnly}
        @change=${(event: Event) => onChange((event.target as VscodeTextfield).value.trim())}
      ></vscode-textfield>
    </dd>`;
}

function number(
  label: string,
  { value, max, isReadOnly, onChange }: Field<number> & { readonly max: number },
): TemplateResult {
  return html`<dt id=${idOf(label)}>${label}</dt>
    <dd>
      <vscode-textfield
        type="number"
        min="1"
        max=${max}
        .label=${label}
        .value=${String(value)}
        ?disabled=${isReadOnly}
        @change=${(event: Event) => {
          const field = event.target as VscodeTextfield;
          if (field.checkValidity() && field.value !== '') onChange(Number(field.value));
          else field.value = String(value);
        }}
      ></vscode-textfield>
    </dd>`;
}

function fact(label: string, value: string): TemplateResult | typeof nothing {
  if (value === '') return nothing;
  return html`<dt>${label}</dt>
    <dd>${visibleLine(value)}</dd>`;
}

function commit(
  label: string,
  sha: string | null,
  { review }: FormParts,
): TemplateResult | typeof nothing {
  if (sha === null) return nothing;
  return html`<dt>${label}</dt>
    <dd>
      <button type="button" class="link" title="Review Change" @click=${review}>
        ${sha.slice(0, 10)}
      </button>
    </dd>`;
}

function idOf(label: string): string {
  return `label-${label.toLowerCase().replaceAll(' ', '-')}`;
}
