// A person's choices for runs of an epic or of everything. They override the settings, and are
// stored for the next run.

import type { Memento } from 'vscode';
import { landModes } from '../../server/core/plan/task.ts';
import type { Project } from '../project/project.ts';
import type { BackendRequests } from '../../webview/messages/messages.ts';

export type RunChoices = Pick<
  BackendRequests['preflight']['params'],
  'agent' | 'model' | 'workers' | 'land' | 'gate' | 'plan' | 'budget_usd'
>;

const memoryKey = 'drover.runChoices';
const keptMax = 200;

/** If `epic` is null, the run includes all open tasks. */
export function readStoredChoices(memory: Memento, root: string, epic: string | null): RunChoices {
  return readChoices(all(memory)[keyOf(root, epic)]);
}

export async function keepChoices(
  memory: Memento,
  root: string,
  epic: string | null,
  choices: RunChoices,
): Promise<void> {
  const key = keyOf(root, epic);
  const others = Object.entries(all(memory)).filter(([each]) => each !== key);
  const kept = Object.keys(choices).length === 0 ? others : [...others, [key, choices] as const];
  await memory.update(memoryKey, Object.fromEntries(kept.slice(-keptMax)));
}

/** The choices on top of VS Code's settings; empty settings are ignored. */
export function withSettings(
  { agent, gate, workers, land }: Project['settings'],
  choices: RunChoices,
): RunChoices {
  return {
    ...(agent === '' ? {} : { agent }),
    ...(gate === '' ? {} : { gate }),
    ...(workers === 0 ? {} : { workers }),
    ...(land === '' ? {} : { land }),
    ...choices,
  };
}

function keyOf(root: string, epic: string | null): string {
  return JSON.stringify([root, epic]);
}

function all(memory: Memento): Readonly<Record<string, unknown>> {
  const raw: unknown = memory.get(memoryKey);
  return typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
}

/** Choices stored by an older version may have another shape. */
export function readChoices(raw: unknown): RunChoices {
  if (typeof raw !== 'object' || raw === null) return {};
  const {
    agent,
    model,
    workers,
    land,
    gate,
    plan,
    budget_usd: budget,
  } = raw as Readonly<Record<string, unknown>>;
  const mode = landModes.find((each) => each === land);
  return {
    ...(typeof agent === 'string' ? { agent } : {}),
    ...(typeof model === 'string' ? { model } : {}),
    ...(typeof workers === 'number' ? { workers } : {}),
    ...(mode === undefined ? {} : { land: mode }),
    ...(typeof gate === 'string' ? { gate } : {}),
    ...(typeof plan === 'boolean' ? { plan } : {}),
    ...(typeof budget === 'number' ? { budget_usd: budget } : {}),
  };
}
