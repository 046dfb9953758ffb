// The decisions that a person makes before a run: the value that would take effect, its source, and
// the recommended one.

import { gateTitle } from '../../core/settings/gate-stages.ts';
import { availableParallelism } from 'node:os';
import { findGate } from '../../config/found-gate.ts';
import { stepText } from '../../core/format.ts';
import { agentTitle } from '../../core/plan/agent-titles.ts';
import type { SettingKey } from '../../core/settings/settings.ts';
import type { Params } from '../../protocol/api.ts';
import type { PreflightCheck, PreflightDecision } from '../../protocol/panel-views.ts';
import type { Uses } from '../../workflows/kit/engine-ports.ts';
import type { EngineHandlerDeps } from './engine-deps.ts';

export interface DecisionFacts {
  readonly hasEpic: boolean;
  readonly branch: string | null;
  /** How many tasks could run at the same time with enough workers. */
  readonly width: number;
  readonly workers: number;
  readonly tasks: number;
}

export async function preflightDecisions(
  deps: EngineHandlerDeps,
  params: Params<'preflight'>,
  facts: DecisionFacts,
): Promise<readonly PreflightDecision[]> {
  const gate = await gateDecision(deps, params);
  return [
    agentDecision(deps, params),
    workersDecision(deps, params, facts),
    landDecision(deps, params, facts, gate.value !== null),
    gate,
    planDecision(deps, params),
    budgetDecision(deps, params),
  ];
}

function decision(
  deps: EngineHandlerDeps,
  key: SettingKey,
  isOfRun: boolean,
  found: Omit<PreflightDecision, 'source'>,
): PreflightDecision {
  const source = isOfRun ? 'flag' : (deps.settingOf?.(key).source ?? 'default');
  return { ...found, source };
}

function agentDecision(deps: EngineHandlerDeps, params: Params<'preflight'>): PreflightDecision {
  const { agentKind } = deps.engine.settings();
  const model = params.model ?? textOf(deps.settingOf?.('agent.model').value);
  return decision(deps, 'agent.kind', params.agent !== undefined || params.model !== undefined, {
    name: 'agent',
    value: stepText({ agent: agentKind, model }),
    recommended: null,
    why: null,
  });
}

function workersDecision(
  deps: EngineHandlerDeps,
  params: Params<'preflight'>,
  { width, workers, tasks }: DecisionFacts,
): PreflightDecision {
  const cores = availableParallelism();
  const better = Math.min(width, Math.max(2, cores));
  const isMore = better > workers;
  const why =
    width <= 1
      ? tasks <= 1
        ? null
        : 'Each task waits for the one before it, so one agent works at a time.'
      : isMore
        ? `${width} tasks can run at once, and this machine has ${cores} cores.`
        : null;
  return decision(deps, 'max_workers', params.workers !== undefined, {
    name: 'workers',
    value: workers,
    recommended: isMore ? better : null,
    why,
  });
}

function landDecision(
  deps: EngineHandlerDeps,
  params: Params<'preflight'>,
  { hasEpic, branch }: DecisionFacts,
  hasGate: boolean,
): PreflightDecision {
  const { land } = deps.engine.settings();
  const mode = params.land ?? land ?? (hasEpic ? 'epic' : 'task');
  const on = branch ?? 'the target branch';
  const why = {
    task: `Each task lands on ${on} as soon as it passes. Nothing is pushed.`,
    epic: `The finished epic lands on ${on} as one merge. Nothing is pushed.`,
    review: `The finished epic lands on ${on} after your approval. Nothing is pushed.`,
    pr: `The finished epic is pushed, and a pull request into ${on} is opened.`,
  }[mode];
  const isUntested = hasEpic && !hasGate && mode !== 'review';
  return decision(deps, 'land.mode', params.land !== undefined, {
    name: 'land',
    value: mode,
    recommended: isUntested ? 'review' : null,
    why: isUntested ? `${why} Without a gate, nothing but your review checks the work.` : why,
  });
}

async function gateDecision(
  deps: EngineHandlerDeps,
  params: Params<'preflight'>,
): Promise<PreflightDecision> {
  const { engine } = deps;
  const { gateCommand } = engine.settings();
  const found = gateCommand === null ? await findGate(engine.git.facts.root) : null;
  const why =
    gateCommand !== null
      ? 'Runs on the merged tree before anything lands.'
      : found === null
        ? 'Without a gate, nothing is tested before it lands.'
        : `Found in ${found.file}. Without a gate, nothing is tested before it lands.`;
  return decision(deps, 'gate.command', params.gate !== undefined, {
    name: 'gate',
    value: gateCommand === null ? null : engine.mask(gateTitle(gateCommand)),
    recommended: found?.command ?? null,
    why,
  });
}

function planDecision(deps: EngineHandlerDeps, params: Params<'preflight'>): PreflightDecision {
  const isOn = params.plan ?? deps.settingOf?.('plan').value === true;
  return decision(deps, 'plan', params.plan !== undefined, {
    name: 'plan',
    value: isOn,
    recommended: null,
    why: isOn
      ? 'An agent plans each task first and waits for your approval.'
      : 'Agents start on the work immediately.',
  });
}

function budgetDecision(deps: EngineHandlerDeps, params: Params<'preflight'>): PreflightDecision {
  // Each single task has its own limit, even if they belong to one epic.
  const hasEpic = params.epic !== undefined;
  const key = hasEpic ? 'budget.epic_usd' : 'budget.task_usd';
  const value = params.budget_usd ?? numberOf(deps.settingOf?.(key).value);
  const what = hasEpic ? 'all tasks of the epic together' : 'each task';
  return decision(deps, key, params.budget_usd !== undefined, {
    name: 'budget',
    value,
    recommended: null,
    why:
      value === null
        ? 'No limit on what agents may cost.'
        : `In US dollars for ${what}. Agents pause when it is reached, and Drover asks you.`,
  });
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}

/** Checks whether an agent can work. */
export async function agentCheck(
  engine: Uses<'agentEnvironment' | 'driverFor'>,
  kind: string,
): Promise<PreflightCheck> {
  const driver = engine.driverFor(kind);
  const env = engine.agentEnvironment(kind, null);
  const probe = await driver.probe(env);
  const problem = probe.isBroken === true ? 'broken' : 'missing';
  if (!probe.ok) return agentProblem(kind, problem, probe.message);
  const account = (await driver.account?.(env)) ?? null;
  if (account?.isSignedIn === false) return agentProblem(kind, 'signed_out', account.message);
  if (probe.isBroken === true)
    return { ...agentProblem(kind, problem, probe.message), outcome: 'warning' };
  const version = probe.version === null ? '' : ` ${probe.version}`;
  const state = account === null ? 'is installed' : 'is installed and signed in';
  return agentFound(`${agentTitle(kind)}${version} ${state}.`);
}

/** The problem is short enough for one row of a list. The rest of the text is its remedy. */
function agentProblem(
  kind: string,
  problem: NonNullable<PreflightCheck['agent']>['problem'],
  text: string,
): PreflightCheck {
  const end = /[:.] /.exec(text)?.index ?? text.length;
  const message = `${text.slice(0, end)}.`.replace(/\.\.$/, '.');
  const rest = text.slice(end + 2);
  const remedy = rest === '' ? null : rest.charAt(0).toUpperCase() + rest.slice(1);
  return { name: 'agent', outcome: 'error', message, remedy, agent: { kind, problem } };
}

function agentFound(message: string): PreflightCheck {
  return { name: 'agent', outcome: 'ok', message, remedy: null };
}
