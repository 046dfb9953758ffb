// sqlforge apply: shows the plan first, and applies it after the user has typed the environment's
// name. Refuses agents.

import { Refusal } from '../../core/failure.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

/** Excludes options, paths and characters that a shell could interpret. */
const environmentName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/;

export interface SqlforgeApplyOptions {
  readonly confirm?: string;
}

export async function sqlforgeApply(
  context: CommandContext,
  wanted: string | undefined,
  options: SqlforgeApplyOptions,
): Promise<number> {
  const { surroundings, json } = context;
  const { openSqlforge } = await surroundings.loadBackends();
  const sqlforge = await openSqlforge(context.directory, surroundings.env);
  const environment = usableName(wanted ?? sqlforge.environment);
  if (options.confirm === undefined && (json || surroundings.askLine === null)) {
    throw new Refusal(
      'not_confirmed',
      `Nothing was applied: without a terminal, confirm the environment with --confirm ${environment}.`,
    );
  }
  const planned = await sqlforge.run(['plan', environment], json);
  if (planned !== 0) {
    context.tell(
      `sqlforge plan ${environment} ended with exit code ${planned}; nothing was applied.`,
    );
    return exitCodes.failed;
  }
  const said = options.confirm ?? (await surroundings.askLine?.(question(environment)))?.trim();
  if (said !== environment) {
    const heard = said === undefined || said === '' ? 'nothing' : `"${plainLine(said)}"`;
    throw new Refusal(
      'not_confirmed',
      `Nothing was applied: you entered ${heard}, but the environment is "${environment}".`,
    );
  }
  const applied = await sqlforge.run(['apply', environment], json);
  if (applied !== 0) {
    context.tell(`sqlforge apply ${environment} ended with exit code ${applied}.`);
    return exitCodes.failed;
  }
  context.answer({ environment, applied: true }, `Applied to ${environment}.`);
  return exitCodes.done;
}

function usableName(name: string | null): string {
  if (name !== null && environmentName.test(name)) return name;
  const what = name === null ? 'default_environment of sqlforge.yml' : `"${plainLine(name)}"`;
  throw new Refusal(
    'bad_value',
    `${what} is not the name of an environment (letters, digits, "_", "." and "-"); name one, as in "drover sqlforge apply dev".`,
  );
}

function question(environment: string): string {
  return `This changes the warehouse. Type "${environment}" to apply the plan above: `;
}
