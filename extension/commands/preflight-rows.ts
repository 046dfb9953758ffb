// The rows of the decision before a run: start it, each choice with its recommendation, each
// problem with its remedy, and the passed checks folded into one row. Pure.

import type { QuickPickItem } from 'vscode';
import { formatCost, formatCount } from '../../server/core/format.ts';
import type {
  PreflightCheck,
  PreflightDecision,
  PreflightView,
} from '../../server/protocol/panel-views.ts';
import type { CommandId } from '../ids.ts';
import { plainText } from '../notices/plain-text.ts';
import { signInLine } from '../project/agent-rows.ts';
import type { RunChoices } from './run-choices.ts';

export type DecisionName = PreflightDecision['name'];

/** The action of Enter or of a button on a row. */
export type RowAction =
  | { readonly kind: 'run' }
  | { readonly kind: 'retryAndRun'; readonly tasks: readonly string[] }
  | { readonly kind: 'decide'; readonly name: DecisionName }
  | { readonly kind: 'accept'; readonly decision: PreflightDecision }
  | { readonly kind: 'command'; readonly id: CommandId | 'workbench.view.scm' }
  /** The gate on the branch that work will land on. */
  | { readonly kind: 'testBase' }
  | { readonly kind: 'signIn'; readonly agent: string; readonly line: string }
  | { readonly kind: 'lookAgain' }
  | { readonly kind: 'useSettings' }
  | { readonly kind: 'unfold' };

export interface RowButton {
  readonly icon: string;
  readonly tooltip: string;
  readonly action: RowAction;
}

export interface PreflightRow extends Omit<QuickPickItem, 'buttons' | 'kind'> {
  readonly isHeading?: boolean;
  /** This is the active row, because its step comes next. */
  readonly isNext?: boolean;
  /** Absent if the row is read-only. */
  readonly action?: RowAction;
  readonly fixes: readonly RowButton[];
}

export interface PreflightState {
  /** Tasks that a run ignores unless they are retried first. */
  readonly failed: readonly string[];
  /** Tasks that are blocked because their branch failed its gate; a new run tests it again. */
  readonly behindRedBase?: readonly string[];
  /** The tasks are done, and only the landing is left. */
  readonly canLand?: boolean;
  /** The options chosen for this run; all other options come from VS Code settings. */
  readonly chosen: RunChoices;
  readonly isUnfolded: boolean;
  /** A step outside the list, as the start of a sentence: a command line waits in a terminal. */
  readonly toDo?: string | null;
}

const messageChars = 160;
const detailChars = 240;

export function preflightRows(
  view: PreflightView,
  request: PreflightState,
): readonly PreflightRow[] {
  const fine = view.checks.filter(({ outcome }) => outcome === 'ok');
  const rest = view.checks.filter(({ outcome }) => outcome !== 'ok');
  const order = ['error', 'warning', 'note'];
  const solved = rest.toSorted((a, b) => order.indexOf(a.outcome) - order.indexOf(b.outcome));
  const errors = solved.filter(({ outcome }) => outcome === 'error');
  const others = solved.filter(({ outcome }) => outcome !== 'error');
  return [
    ...startRows(view, request),
    ...(errors.length === 0
      ? []
      : [heading('Fix first'), ...errors.map(checkRow), lookAgainRow(request)]),
    heading('Choices'),
    ...view.decisions.map((decision) => decisionRow(decision, request.chosen)),
    ...(Object.keys(request.chosen).length > 0 ? [settingsRow] : []),
    ...(others.length === 0 ? [] : [heading('Good to know'), ...others.map(checkRow)]),
    ...fineRows(fine, request.isUnfolded),
  ];
}

function heading(label: string): PreflightRow {
  return { label, isHeading: true, fixes: [] };
}

function lookAgainRow({ toDo = null }: PreflightState): PreflightRow {
  return {
    label: '$(refresh) Look Again',
    description: toDo === null ? 'Runs the checks once more' : `${toDo}, then choose this row`,
    action: { kind: 'lookAgain' },
    fixes: [],
    ...(toDo === null ? {} : { isNext: true }),
  };
}

const settingsRow: PreflightRow = {
  label: '$(discard) Use the settings for everything',
  description: 'Discards your choices for this run',
  action: { kind: 'useSettings' },
  fixes: [],
};

function startRows(
  view: PreflightView,
  { failed, behindRedBase = [], canLand = false }: PreflightState,
): readonly PreflightRow[] {
  const tasks = formatCount(view.tasks, 'task');
  const land = view.decisions.find(({ name }) => name === 'land')?.why ?? null;
  const detail = land === null ? {} : { detail: plainText(land, detailChars) };
  const retry: PreflightRow = {
    ...retryWords(failed.length, behindRedBase.length),
    action: { kind: 'retryAndRun', tasks: [...failed, ...behindRedBase] },
    fixes: [],
  };
  if (!view.can_run) {
    return [{ label: '$(circle-slash) This run cannot start', description: tasks, fixes: [] }];
  }
  const hasRetry = failed.length + behindRedBase.length > 0;
  if (view.tasks === 0) {
    if (hasRetry) return [retry];
    if (canLand)
      return [
        { label: '$(git-merge) Land the Epic', ...detail, action: { kind: 'run' }, fixes: [] },
      ];
    return [{ label: '$(info) Nothing is left to run', description: tasks, fixes: [] }];
  }
  const run: PreflightRow = {
    label: '$(play) Run',
    description: `${tasks}, up to ${view.width} at once`,
    ...detail,
    action: { kind: 'run' },
    fixes: [],
  };
  return hasRetry ? [run, retry] : [run];
}

function retryWords(failed: number, blocked: number): Pick<PreflightRow, 'label' | 'description'> {
  const named = [
    ...(failed > 0 ? [formatCount(failed, 'failed task')] : []),
    ...(blocked > 0 ? [formatCount(blocked, 'blocked task')] : []),
  ];
  const description =
    failed > 0 ? 'Each continues with what went wrong' : 'They start if the gate passes now';
  return { label: `$(debug-restart) Retry ${named.join(', ')} and run`, description };
}

const decisionIcons: { readonly [N in DecisionName]: string } = {
  agent: 'robot',
  workers: 'server-process',
  land: 'git-merge',
  gate: 'beaker',
  plan: 'checklist',
  budget: 'credit-card',
};

const decisionTitles: { readonly [N in DecisionName]: string } = {
  agent: 'Agent',
  workers: 'Workers',
  land: 'Landing',
  gate: 'Gate',
  plan: 'Plan first',
  budget: 'Budget',
};

const sourceWords: { readonly [S in PreflightDecision['source']]: string } = {
  flag: 'chosen for this run',
  env: 'from the environment',
  project: 'from .drover.toml',
  user: 'from your settings file',
  policy: 'by the policy of this machine',
  default: 'default',
};

/** The VS Code setting that the option comes from. */
function sourceOf({ name, source }: PreflightDecision, chosen: RunChoices): string {
  const isChosen =
    name === 'agent'
      ? chosen.agent !== undefined || chosen.model !== undefined
      : chosen[name === 'budget' ? 'budget_usd' : name] !== undefined;
  return source === 'flag' && !isChosen ? `from the setting drover.${name}` : sourceWords[source];
}

function decisionRow(decision: PreflightDecision, chosen: RunChoices): PreflightRow {
  const { name, recommended, why } = decision;
  const source = sourceOf(decision, chosen);
  const better = recommended === null ? null : valueWords(name, recommended);
  return {
    label: `$(${decisionIcons[name]}) ${decisionTitles[name]}: ${plainText(valueWords(name, decision.value), 80)}`,
    description: better === null ? source : `${source} · recommended: ${plainText(better, 60)}`,
    ...(why === null || !needsWords(decision) ? {} : { detail: plainText(why, detailChars) }),
    action: { kind: 'decide', name },
    fixes:
      better === null
        ? []
        : [
            {
              icon: 'sparkle',
              tooltip: `Use ${plainText(better, 60)}`,
              action: { kind: 'accept', decision },
            },
          ],
  };
}

/** Everything must fit, so a default is not explained, and the first row explains landing. */
function needsWords({ name, recommended, value }: PreflightDecision): boolean {
  return recommended !== null || name === 'workers' || (name === 'gate' && value === null);
}

/** A value in readable form. */
export function valueWords(name: DecisionName, value: PreflightDecision['value']): string {
  switch (name) {
    case 'land':
      return landWords[String(value)] ?? String(value);
    case 'plan':
      return value === true ? 'yes' : 'no';
    case 'gate':
    case 'budget':
      if (value === null) return 'none';
      return typeof value === 'number' ? formatCost(value) : String(value);
    case 'agent':
    case 'workers':
      return String(value);
  }
}

export const landWords: Readonly<Record<string, string>> = {
  task: 'each task as soon as it is tested',
  epic: 'the finished epic as one',
  review: 'the finished epic after your review',
  pr: 'the finished epic by a pull request',
};

const outcomeIcons: { readonly [O in PreflightCheck['outcome']]: string } = {
  ok: 'pass',
  note: 'info',
  warning: 'warning',
  error: 'error',
};

function checkRow(check: PreflightCheck): PreflightRow {
  const { outcome, message, remedy } = check;
  const fixes = fixesOf(check);
  const [first] = fixes;
  // The list cuts off the end of a line that is too long, so the action of Enter comes first, and
  // the rest of a long message follows its remedy.
  const help = first === undefined ? '' : `Enter: ${first.tooltip}`;
  const [short, rest] = inTwo(message);
  const other = check.agent?.problem === 'missing' ? pathRemedy : remedy;
  const detail = [help, other ?? '', rest].filter((text) => text !== '').join(' · ');
  return {
    label: `$(${outcomeIcons[outcome]}) ${plainText(short, messageChars)}`,
    ...(detail === '' ? {} : { detail: plainText(detail, detailChars) }),
    ...(first === undefined ? {} : { action: first.action }),
    fixes,
  };
}

/** Enter installs it. A row has no room for the command line as well. */
const pathRemedy = 'Or set [agent] path.';

/** The approximate number of characters that fit into a row. */
const rowChars = 90;

/** The first sentence of a message that is too long for a row, and the rest. */
function inTwo(message: string): readonly [string, string] {
  const end = message.length <= rowChars ? -1 : message.indexOf('. ');
  return end === -1 ? [message, ''] : [message.slice(0, end + 1), message.slice(end + 2)];
}

const openSettings = button('settings-gear', 'Open .drover.toml', 'drover.openProjectSettings');

/** The remedies, with the usual one first. */
function fixesOf({ name, outcome, agent, can_test }: PreflightCheck): readonly RowButton[] {
  if (outcome === 'ok') return [];
  switch (name) {
    case 'agent':
      return agentFixes(agent);
    case 'gate':
      return [
        ...(can_test === true
          ? [testBase(outcome === 'note' ? 'Run It Now' : 'Run It Again')]
          : []),
        // An existing gate needs no replacement.
        ...(outcome === 'note' ? [] : [setGate]),
      ];
    case 'graph':
      return [button('project', 'Open Board and Graph', 'drover.openBoard')];
    case 'checkout':
      return [button('source-control', 'Open Source Control', 'workbench.view.scm')];
    case 'commit':
      return [button('git-commit', 'Make a First Commit…', 'drover.firstCommit')];
    case 'target':
    case 'setup':
      return [openSettings];
    case 'sandbox':
      // A sandbox that a person disabled needs no remedy.
      return outcome === 'note' ? [] : [openSettings];
    case 'git':
    case 'disk':
    case 'machines':
    case 'forge':
    case 'width':
      return [];
  }
}

const setGate: RowButton = {
  icon: 'beaker',
  tooltip: 'Set the Gate…',
  action: { kind: 'decide', name: 'gate' },
};

function testBase(tooltip: string): RowButton {
  return { icon: 'play', tooltip, action: { kind: 'testBase' } };
}

function agentFixes(agent: PreflightCheck['agent']): readonly RowButton[] {
  const select: RowButton = {
    icon: 'robot',
    tooltip: 'Select or Install an Agent…',
    action: { kind: 'decide', name: 'agent' },
  };
  if (agent?.problem !== 'signed_out') return [select];
  const line = signInLine(agent.kind);
  const signIn: readonly RowButton[] =
    line === null
      ? []
      : [
          {
            icon: 'terminal',
            tooltip: 'Sign In in a Terminal',
            action: { kind: 'signIn', agent: agent.kind, line },
          },
        ];
  return [...signIn, button('key', 'Set API Key…', 'drover.setApiKey'), select];
}

function button(icon: string, tooltip: string, id: CommandId | 'workbench.view.scm'): RowButton {
  return { icon, tooltip, action: { kind: 'command', id } };
}

function fineRows(fine: readonly PreflightCheck[], isUnfolded: boolean): readonly PreflightRow[] {
  if (fine.length === 0) return [];
  if (isUnfolded) return [heading('Fine'), ...fine.map(checkRow)];
  return [
    heading(''),
    {
      label: `$(pass) ${formatCount(fine.length, 'check is', 'checks are')} fine`,
      description: 'Enter shows them',
      action: { kind: 'unfold' },
      fixes: [],
    },
  ];
}
