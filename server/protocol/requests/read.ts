// Validates the parameters of a request: invalid ones are refused before the handler runs, and
// unknown keys are dropped. The result matches its type. This file is bundled separately with the
// part of the library that it needs (build/bundled-programs.mjs), so it shares no class with its
// callers.

import * as z from 'zod/mini';
import type { Result } from '../../core/failure.ts';
import type { AgentParams, AgentRequestName } from '../agent-requests.ts';
import type { Params, RequestName } from '../api.ts';
import { agentShapes } from './agents.ts';
import { boardShapes } from './board.ts';
import { epicShapes } from './epics.ts';
import { exchangeShapes } from './exchange.ts';
import type { Shape } from './fields.ts';
import { noteShapes } from './notes.ts';
import { reviewShapes } from './reviews.ts';
import { runShapes } from './runs.ts';
import { taskShapes } from './tasks.ts';
import { upkeepShapes } from './upkeep.ts';

export const requestShapes = {
  ...boardShapes,
  ...taskShapes,
  ...epicShapes,
  ...runShapes,
  ...reviewShapes,
  ...noteShapes,
  ...exchangeShapes,
  ...upkeepShapes,
} satisfies { readonly [N in RequestName]: Shape };

export function isRequestName(name: string): name is RequestName {
  return Object.hasOwn(requestShapes, name);
}

export function isAgentRequestName(name: string): name is AgentRequestName {
  return Object.hasOwn(agentShapes, name);
}

export function readParams<N extends RequestName>(
  name: N,
  raw: unknown,
): Result<Params<N>, string> {
  return readBy<Params<N>>(name, requestShapes[name], raw);
}

export function readAgentParams<N extends AgentRequestName>(
  name: N,
  raw: unknown,
): Result<AgentParams<N>, string> {
  return readBy<AgentParams<N>>(name, agentShapes[name], raw);
}

/** Built at the first request of each name. */
const schemas = new Map<string, z.ZodMiniObject>();

function readBy<Value>(name: string, shape: Shape, raw: unknown): Result<Value, string> {
  const given = raw ?? {};
  if (typeof given !== 'object' || Array.isArray(given)) {
    return { ok: false, error: `The parameters of ${name} must be an object.` };
  }
  const schema = schemas.get(name) ?? z.object(shape);
  schemas.set(name, schema);
  const read = schema.safeParse(given);
  if (read.success) return { ok: true, value: read.data as Value };
  return { ok: false, error: sentence(name, given, read.error.issues[0]) };
}

const keyCharactersMax = 100;

function sentence(name: string, given: object, issue: z.core.$ZodIssue | undefined): string {
  const [key = '', inner] = issue?.path.map(String) ?? [];
  if (!Object.hasOwn(given, key)) return `${name} needs the parameter ${key}.`;
  // A number is an index in a list, for which the list's description is sufficient.
  const isNamed = inner !== undefined && !/^\d+$/u.test(inner);
  const where = isNamed ? `${key}.${inner.slice(0, keyCharactersMax)}` : key;
  return `"${where}" must be ${issue?.message ?? 'something else'}.`;
}
