// Turns a design text into a checked plan, ready for import, without writing anything. Chooses the
// model: a provider's API if a key is set, else the installed agent.

import { agentEnvironment, secretValues } from '../agents/kit/process/environment.ts';
import { claudeEnvironment } from '../agents/claude/invocation.ts';
import { findProgram } from '../agents/kit/process/find-program.ts';
import { createMask, type Mask } from '../agents/kit/log/masking.ts';
import { askForPlan, type AskedPlan } from '../agents/plan/ask-for-plan.ts';
import { createClaudeProgram } from '../agents/plan/claude-program.ts';
import { createModelApi, type ModelApiAccess } from '../agents/plan/model-api.ts';
import type { PlanModel } from '../agents/plan/port.ts';
import { createProcessTable } from '../agents/kit/process/process-table.ts';
import { ok, Refusal, type Result } from '../core/failure.ts';
import type { Settings } from '../core/settings/settings.ts';
import { planIds, planRecords, recordLines } from '../core/spec/spec-import.ts';
import { specCharactersMax, specPrompt } from '../core/prompt/spec-prompt.ts';
import type { SpecPlanRequest, SpecPlanView } from '../protocol/spec-plan.ts';
import { storeSources } from '../project/store-sources.ts';
import { type Environment, LiveSettings } from '../project/live-settings.ts';

export interface PlanFromSpecOptions extends SpecPlanRequest {
  readonly root: string;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Tells a waiting user which model is asked, and what was corrected. */
  readonly onNote: (text: string) => void;
}

/** Used with a key if no model is requested. A login has its own default. */
const modelDefault = 'claude-opus-5-5';

/**
 * Throws a Refusal for problems that the user can fix before the model is called (no design, no
 * model), and if the model returns no plan. Errors of a provider or a program are failures.
 */
export async function planFromSpec(options: PlanFromSpecOptions): Promise<Result<SpecPlanView>> {
  const { documents, signal, onNote } = options;
  checkSize(documents);
  const live = await LiveSettings.loadValid(options.root, options.env);
  const { source, model } = whoPlans(options, live);
  onNote(`Asking ${model.name} for a plan …`);
  const planOptions = { oneEpic: options.one_epic };
  const end = await askForPlan(model, {
    prompt: specPrompt(documents, live.settings.guidelines, planOptions),
    planOptions,
    signal,
    onCorrection: (fault) => onNote(`The plan cannot be used (${fault}); asking once more …`),
  });
  if (!end.ok) return end;
  if (end.value.kind === 'planned') return ok(viewOf(end.value.asked, source, model.name));
  throw new Refusal(
    'bad_plan',
    `The plan from ${model.name} could not be used: ${end.value.fault}. Try again, or make the design clearer.`,
  );
}

function checkSize(documents: SpecPlanRequest['documents']): void {
  const characters = documents.reduce((sum, { text }) => sum + text.length, 0);
  if (documents.every(({ text }) => text.trim() === '')) {
    throw new Refusal('bad_request', 'The design is empty. Write down what you want first.');
  }
  if (characters <= specCharactersMax) return;
  throw new Refusal(
    'bad_request',
    `The design has ${characters} characters, and at most ${specCharactersMax} are planned at once; plan it in parts.`,
  );
}

interface Planner {
  readonly source: SpecPlanView['source'];
  readonly model: PlanModel;
}

function whoPlans(options: PlanFromSpecOptions, live: LiveSettings): Planner {
  const { env } = options;
  const { settings } = live;
  const secrets = [...secretValues(env), ...secretValues(settings.agent.env)];
  const mask = createMask(secrets);
  const wanted = options.model ?? settings.specModel;
  const credential = credentialOf(env);
  if (credential !== null) {
    const baseUrl = given(env['ANTHROPIC_BASE_URL']);
    const model = createModelApi({ credential, baseUrl, model: wanted ?? modelDefault, mask });
    return { source: 'api', model };
  }
  live.refuseUnaccepted('agent.path', 'agent.env', 'env_allow');
  return { source: 'agent', model: installedAgent(options, settings, wanted, mask) };
}

function credentialOf(env: Environment): ModelApiAccess['credential'] | null {
  const key = given(env['ANTHROPIC_API_KEY']);
  if (key !== null) return { kind: 'key', value: key };
  const token = given(env['ANTHROPIC_AUTH_TOKEN']);
  return token === null ? null : { kind: 'token', value: token };
}

function given(value: string | undefined): string | null {
  return value === undefined || value.trim() === '' ? null : value.trim();
}

/** Claude Code, because it supports a schema; with the project's settings for it, if any. */
function installedAgent(
  { root, env }: PlanFromSpecOptions,
  settings: Settings,
  wanted: string | null,
  mask: Mask,
): PlanModel {
  const isOwn = settings.agent.kind === 'claude';
  const extra = isOwn ? settings.agent.env : {};
  const inherited = agentEnvironment(env, 'claude', extra, settings.envAllow);
  const name = (isOwn ? settings.agent.path : null) ?? 'claude';
  const program = findProgram(name, inherited, root);
  if (program === null) {
    throw new Refusal(
      'agent_missing',
      `No model is available to plan: ANTHROPIC_API_KEY is not set, and the program "${name}" of Claude Code was not found. Set the key (and ANTHROPIC_BASE_URL for another provider), or install Claude Code and log in.`,
    );
  }
  return createClaudeProgram({
    program,
    cwd: root,
    env: claudeEnvironment(inherited, {
      ...settings.agent,
      kind: 'claude',
      env: extra,
    }),
    model: wanted ?? (isOwn ? settings.agent.model : null),
    processes: createProcessTable(),
    mask,
  });
}

function viewOf(
  { plan, usage }: AskedPlan,
  source: SpecPlanView['source'],
  model: string,
): SpecPlanView {
  const ids = planIds(plan, storeSources.random);
  const idOf = (key: string): string => ids.get(key) ?? key;
  return {
    source,
    model,
    usage: {
      input_tokens: usage.inputTokens,
      output_tokens: usage.outputTokens,
      cost_usd: usage.costUsd,
    },
    epics: plan.epics.map(({ key, title, description }) => ({ id: idOf(key), title, description })),
    tasks: plan.tasks.map((task) => ({
      id: idOf(task.key),
      epic_id: task.epic === null ? null : idOf(task.epic),
      title: task.title,
      description: task.description,
      type: task.type,
      priority: task.priority,
      blocked_by: task.blockedBy.map(idOf),
      acceptance_criteria: task.acceptanceCriteria,
    })),
    jsonl: recordLines(planRecords(plan, idOf)),
  };
}
