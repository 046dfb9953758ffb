// Gets a plan from a model provider's API, through Anthropic's library. Any server with the
// Messages API works.

import Anthropic from '@anthropic-ai/sdk';
import { err, failure, ok, type Failure, type Result } from '../../core/failure.ts';
import { jsonInText } from '../../core/prompt/spec-prompt.ts';
import { planSchema } from '../../core/spec/spec-schema.ts';
import type { PlanAnswer, PlanModel, PlanQuestion } from './port.ts';

export interface ModelApiAccess {
  readonly credential:
    | { readonly kind: 'key'; readonly value: string }
    | { readonly kind: 'token'; readonly value: string };
  /** Null = use the provider's own URL. */
  readonly baseUrl: string | null;
  readonly model: string;
  /** Applied to everything that is shown, because API errors may repeat the request. */
  readonly mask: (text: string) => string;
}

const toolName = 'submit_plan';
const outputTokensMax = 32_000;
/** For one question with all its retries. */
const timeoutMs = 10 * 60_000;
const retriesMax = 3;
const reasonCharactersMax = 500;

type Choice = Anthropic.Messages.ToolChoiceTool | Anthropic.Messages.ToolChoiceAuto;

export function createModelApi(access: ModelApiAccess): PlanModel {
  const { credential, baseUrl, model } = access;
  const client = new Anthropic({
    ...(credential.kind === 'key' ? { apiKey: credential.value } : { authToken: credential.value }),
    // Always passed, because the library would otherwise read this process's environment.
    baseURL: baseUrl ?? 'https://api.anthropic.com',
    maxRetries: retriesMax,
    timeout: timeoutMs,
    logLevel: 'off',
  });
  const send = async (
    question: PlanQuestion,
    choice: Choice,
    signal: AbortSignal,
  ): Promise<Anthropic.Messages.Message> => {
    const stream = client.messages.stream(
      {
        model,
        max_tokens: outputTokensMax,
        messages: messagesOf(question),
        tools: [
          {
            name: toolName,
            description: 'Submits the finished plan. Call it exactly once, with the whole plan.',
            input_schema: planSchema as unknown as Anthropic.Messages.Tool.InputSchema,
          },
        ],
        tool_choice: choice,
      },
      { signal },
    );
    return await stream.finalMessage();
  };
  return {
    name: model,
    ask: async (question, given) => {
      const deadline = AbortSignal.timeout(timeoutMs);
      const signal = AbortSignal.any([given, deadline]);
      const choices: readonly Choice[] = [{ type: 'tool', name: toolName }, { type: 'auto' }];
      for (const choice of choices) {
        try {
          return answerOf(await send(question, choice, signal));
        } catch (error) {
          // A model that always thinks first accepts no forced tool, so the prompt asks it to use
          // the tool.
          const mayBeChoice = choice.type === 'tool' && error instanceof Anthropic.BadRequestError;
          if (!mayBeChoice) return failed(access, error, deadline.aborted);
        }
      }
      throw new Error('the last choice returns in any case');
    },
  };
}

function messagesOf({ prompt, refused }: PlanQuestion): Anthropic.Messages.MessageParam[] {
  const first = `${prompt}\n\nAnswer with the tool ${toolName} alone.`;
  if (refused === null) return [{ role: 'user', content: first }];
  return [
    { role: 'user', content: first },
    { role: 'assistant', content: refused.answer },
    { role: 'user', content: `${refused.complaint} Use the tool ${toolName}.` },
  ];
}

function answerOf(message: Anthropic.Messages.Message): Result<PlanAnswer> {
  if (message.stop_reason === 'max_tokens') {
    const text = `The plan exceeded the limit of ${outputTokensMax} tokens for an answer; plan the design in parts, one file at a time.`;
    return err(failure('agent_limit', text));
  }
  if (message.stop_reason === 'refusal') {
    return err(failure('agent_failed', 'The model declined to plan this design.'));
  }
  const call = message.content.find((block) => block.type === 'tool_use');
  const text = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
  const { input_tokens: inputTokens, output_tokens: outputTokens } = message.usage;
  return ok({
    answer: call === undefined ? jsonInText(text.join('\n')) : call.input,
    usage: { inputTokens, outputTokens, costUsd: null },
  });
}

function failed(access: ModelApiAccess, error: unknown, isLate: boolean): Result<never> {
  const told = isLate ? late(access) : failureOf(access, error);
  const { baseUrl, mask } = access;
  const plain =
    baseUrl === null ? told.message : told.message.replaceAll(baseUrl, placeOf(baseUrl));
  return err({ ...told, message: mask(plain) });
}

function late({ baseUrl }: ModelApiAccess): Failure {
  const text = `${placeOf(baseUrl)} returned no plan within ${timeoutMs / 60_000} minutes; try again.`;
  return failure('timeout', text);
}

/** A URL that is safe to show, because a proxy's URL may contain a password. */
function placeOf(baseUrl: string | null): string {
  if (baseUrl === null) return 'The Anthropic API';
  return URL.canParse(baseUrl) ? new URL(baseUrl).origin : 'The address in ANTHROPIC_BASE_URL';
}

function failureOf({ baseUrl, model }: ModelApiAccess, error: unknown): Failure {
  const where = placeOf(baseUrl);
  if (error instanceof Anthropic.APIUserAbortError) {
    return failure('interrupted', 'The planning was interrupted.');
  }
  const reason = reasonOf(error);
  if (error instanceof Anthropic.APIConnectionError) {
    const text = `${where} cannot be reached or dropped the connection (${reason}). Check the network and ANTHROPIC_BASE_URL, then try again.`;
    return failure('agent_overloaded', text);
  }
  const status = error instanceof Anthropic.APIError ? (error.status as unknown) : undefined;
  switch (status) {
    case 401:
    case 403:
      return failure(
        'agent_auth',
        `${where} rejected the key (${status}: ${reason}); correct ANTHROPIC_API_KEY, or unset it to use the installed agent.`,
      );
    case 404:
      return failure(
        'agent_failed',
        `${where} does not know the model ${model} (${reason}); name another one with --model.`,
      );
    case 429:
    case 529:
      return failure('agent_overloaded', `${where} is at its limit (${reason}); try again later.`);
    default:
      return failure('agent_failed', `${where} returned no plan: ${reason}.`);
  }
}

/** The provider's own sentence, if any, as one short line. */
function reasonOf(error: unknown): string {
  const body = error instanceof Anthropic.APIError ? (error.error as unknown) : null;
  const inner = (body as { readonly error?: { readonly message?: unknown } } | null)?.error
    ?.message;
  const outer = error instanceof Error ? error.message : String(error);
  const text = typeof inner === 'string' ? inner : outer;
  return text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '').slice(0, reasonCharactersMax);
}
