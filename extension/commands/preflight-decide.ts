// The small questions behind the decisions before a run. Each returns the resulting choices; null
// keeps the current ones.

import * as vscode from 'vscode';
import { landModes } from '../../server/core/plan/task.ts';
import type { PreflightDecision } from '../../server/protocol/panel-views.ts';
import { openInstall, pickAgent } from './agents.ts';
import type { CommandContext } from './context.ts';
import { landWords, type DecisionName } from './preflight-rows.ts';
import type { RunChoices } from './run-choices.ts';

const workersMax = 64;

/** The current choices, or a step that must come first: installing an agent. */
export type Decided = { readonly choices: RunChoices } | { readonly toDo: string } | null;

export async function decide(
  context: CommandContext,
  name: DecisionName,
  choices: RunChoices,
  present: PreflightDecision | undefined,
  hasEpic: boolean,
): Promise<Decided> {
  if (name === 'agent') return await decideAgent(context, choices);
  const changed = await decideOther(name, choices, present, hasEpic);
  return changed === null ? null : { choices: changed };
}

async function decideOther(
  name: Exclude<DecisionName, 'agent'>,
  choices: RunChoices,
  present: PreflightDecision | undefined,
  hasEpic: boolean,
): Promise<RunChoices | null> {
  switch (name) {
    case 'workers':
      return await decideWorkers(choices, present);
    case 'land':
      return await decideLand(choices, present, hasEpic);
    case 'gate':
      return await decideGate(choices, present);
    case 'plan':
      return { ...choices, plan: present?.value !== true };
    case 'budget':
      return await decideBudget(choices, present);
  }
}

/** Accepts the recommended values unchanged. */
export function accepted(
  { name, recommended }: PreflightDecision,
  choices: RunChoices,
): RunChoices | null {
  if (name === 'workers' && typeof recommended === 'number') {
    return { ...choices, workers: recommended };
  }
  if (name === 'gate' && typeof recommended === 'string') return { ...choices, gate: recommended };
  if (name === 'land' && recommended === 'review') return { ...choices, land: 'review' };
  return null;
}

const modelCharsMax = 200;

async function decideAgent(context: CommandContext, choices: RunChoices): Promise<Decided> {
  const chosen = await pickAgent(context, {
    title: 'Agent for This Run',
    placeHolder: 'Tasks that name an agent keep theirs',
  });
  if (chosen === null) return null;
  if (chosen.kind === 'missing') return { toDo: openInstall(chosen.label, chosen.line) };
  const model = await vscode.window.showInputBox({
    title: `Model for ${chosen.label}`,
    prompt: "Empty: the agent's own choice.",
    value: choices.model ?? '',
    validateInput: (text) => (text.length > modelCharsMax ? 'This is too long.' : null),
  });
  if (model === undefined) return null;
  const { model: _before, ...rest } = choices;
  const wanted = model.trim();
  const named = wanted === '' ? {} : { model: wanted };
  return { choices: { ...rest, agent: chosen.agent, ...named } };
}

const fewWorkers = [1, 2, 3, 4, 6, 8, 12, 16] as const;

async function decideWorkers(
  choices: RunChoices,
  present: PreflightDecision | undefined,
): Promise<RunChoices | null> {
  const recommended = present?.recommended ?? null;
  const counts = new Set<number>([...fewWorkers, Number(recommended ?? present?.value ?? 1)]);
  const items = [...counts]
    .filter((count) => count >= 1 && count <= workersMax)
    .sort((a, b) => a - b)
    .map((count) => ({
      label: String(count),
      description: count === recommended ? 'recommended' : '',
      count,
    }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Workers for This Run',
    placeHolder: present?.why ?? 'Maximum number of agents at the same time',
  });
  return chosen === undefined ? null : { ...choices, workers: chosen.count };
}

async function decideLand(
  choices: RunChoices,
  present: PreflightDecision | undefined,
  hasEpic: boolean,
): Promise<RunChoices | null> {
  const modes = hasEpic ? landModes : (['task'] as const);
  const items = modes.map((mode) => ({
    label: landWords[mode] ?? mode,
    description: mode === present?.recommended ? 'recommended' : '',
    mode,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: 'Landing of This Run',
    placeHolder: 'What lands on the target branch, and when. Nothing is pushed.',
  });
  return chosen === undefined ? null : { ...choices, land: chosen.mode };
}

const gateCharsMax = 10_000;

async function decideGate(
  choices: RunChoices,
  present: PreflightDecision | undefined,
): Promise<RunChoices | null> {
  const given = await vscode.window.showInputBox({
    title: 'Gate of This Run',
    prompt: 'Shell command that tests the merged tree. Leave empty to use the settings.',
    value: choices.gate ?? String(present?.value ?? present?.recommended ?? ''),
    validateInput: (text) => (text.length > gateCharsMax ? 'This is too long.' : null),
  });
  if (given === undefined) return null;
  const { gate: _before, ...rest } = choices;
  return given.trim() === '' ? rest : { ...rest, gate: given.trim() };
}

async function decideBudget(
  choices: RunChoices,
  present: PreflightDecision | undefined,
): Promise<RunChoices | null> {
  const given = await vscode.window.showInputBox({
    title: 'Budget of This Run',
    prompt:
      'Limit in US dollars. Agents pause when it is reached, and Drover asks you. Leave empty to use the settings.',
    value: String(choices.budget_usd ?? present?.value ?? ''),
    validateInput: (text) =>
      text.trim() === '' || Number(text) >= 0.0001
        ? null
        : 'Enter an amount in dollars, for example 2.50.',
  });
  if (given === undefined) return null;
  const { budget_usd: _before, ...rest } = choices;
  return given.trim() === '' ? rest : { ...rest, budget_usd: Number(given) };
}
