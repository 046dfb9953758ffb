// Gets a plan from the installed Claude Code in print mode, for users with a login but no key.

import { randomUUID } from 'node:crypto';
import { err, failure, ok, type Result } from '../../core/failure.ts';
import { jsonInText } from '../../core/prompt/spec-prompt.ts';
import { planSchema } from '../../core/spec/spec-schema.ts';
import { runMarker } from '../kit/process/process-list.ts';
import type { ProcessTable } from '../port.ts';
import type { PlanAnswer, PlanModel, PlanQuestion } from './port.ts';
import { type ProgramEnd, runToEnd } from '../../platform/run-to-end.ts';

export interface ClaudeProgram {
  /** Full path. */
  readonly program: string;
  /** The project, read-only. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Null leaves the choice to the program. */
  readonly model: string | null;
  readonly processes: ProcessTable;
  readonly mask: (text: string) => string;
}

const timeoutMs = 10 * 60_000;
const killGraceMs = 2_000;
const maxOutputBytes = 8 * 1024 * 1024;
const reasonCharactersMax = 500;

/**
 * Planning may only read: nothing is written, started or fetched. Allowed by name, because new
 * versions add tools.
 */
const toolsAllowed = 'Read,Glob,Grep';

/** Excludes the prompt, because all users of the machine can see arguments. */
function programArguments(model: string | null): string[] {
  return [
    '-p',
    '--output-format',
    'json',
    '--json-schema',
    JSON.stringify(planSchema),
    '--setting-sources',
    'user',
    '--strict-mcp-config',
    '--permission-mode',
    'default',
    '--tools',
    toolsAllowed,
    '--no-session-persistence',
    ...(model === null ? [] : ['--model', model]),
  ];
}

export function createClaudeProgram(options: ClaudeProgram): PlanModel {
  return {
    name: options.model ?? 'Claude Code',
    ask: async (question, signal) => {
      const ended = await run(options, promptOf(question), signal);
      const result = answerOf(ended);
      return result.ok
        ? result
        : err({ ...result.error, message: options.mask(result.error.message) });
    },
  };
}

function promptOf({ prompt, refused }: PlanQuestion): string {
  if (refused === null) return prompt;
  return `${prompt}\n\nYour first answer was:\n${refused.answer}\n\n${refused.complaint}`;
}

async function run(
  { program, cwd, env, model, processes }: ClaudeProgram,
  prompt: string,
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const runId = `spec/${randomUUID()}`;
  const end = await runToEnd({
    program,
    args: programArguments(model),
    cwd,
    env: { ...env, [runMarker]: runId },
    input: prompt,
    signal,
    timeoutMs,
    killGraceMs,
    maxOutputBytes,
  });
  await processes.endTree(runId, null, 0);
  return end;
}

function answerOf(ended: ProgramEnd): Result<PlanAnswer> {
  switch (ended.problem) {
    case 'aborted':
      return err(failure('interrupted', 'The planning was interrupted.'));
    case 'timeout': {
      const minutes = timeoutMs / 60_000;
      return err(
        failure('timeout', `Claude Code returned no plan within ${minutes} minutes; try again.`),
      );
    }
    case 'too_much_output':
      return err(failure('agent_failed', 'Claude Code wrote more than a plan can hold.'));
    case 'missing':
      return err(
        failure(
          'agent_missing',
          `Claude Code cannot be started: ${ended.stderr.toString('utf8')}.`,
        ),
      );
    case null:
      return readResult(ended);
  }
}

interface ResultLine {
  readonly is_error?: unknown;
  readonly result?: unknown;
  readonly structured_output?: unknown;
  readonly total_cost_usd?: unknown;
  readonly usage?: { readonly input_tokens?: unknown; readonly output_tokens?: unknown };
}

function readResult({ stdout, stderr, code }: ProgramEnd): Result<PlanAnswer> {
  const parsed = jsonInText(stdout.toString('utf8'));
  if (typeof parsed !== 'object' || parsed === null) {
    const reason = short(stderr.toString('utf8')) || `exit code ${code}`;
    return err(failure('agent_failed', `Claude Code returned no plan: ${reason}.`));
  }
  const line = parsed as ResultLine;
  const text = typeof line.result === 'string' ? line.result : '';
  if (line.is_error === true) {
    const message = `Claude Code returned no plan: ${short(text) || `exit code ${code}`}.`;
    return err(failure('agent_failed', message));
  }
  return ok({
    answer: line.structured_output ?? jsonInText(text),
    usage: {
      inputTokens: numberOf(line.usage?.input_tokens) ?? 0,
      outputTokens: numberOf(line.usage?.output_tokens) ?? 0,
      costUsd: numberOf(line.total_cost_usd),
    },
  });
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

function short(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, reasonCharactersMax);
}
