// Permission requests and questions of Claude Code: the texts that the user sees, and the response
// for each choice.

import type { AgentEvent } from '../../protocol/agent-events.ts';
import { asObject, objectsAt, textAt, type Json } from '../kit/wire/json-line.ts';

export type Question = Extract<AgentEvent, { type: 'question' }>;

export interface PermissionRequest {
  readonly requestId: string;
  readonly toolName: string;
  readonly input: Json;
  /** Rules that Claude Code suggests for "always". */
  readonly suggestions: readonly Json[];
  readonly reason: string | null;
}

export const permissionChoices = {
  allow: 'Allow',
  always: 'Allow for this session',
  deny: 'Deny',
} as const;

const previewCharsMax = 4_000;

export function readPermissionRequest(requestId: string, request: Json): PermissionRequest {
  return {
    requestId,
    toolName: textAt(request, 'tool_name') ?? 'a tool',
    input: asObject(request['input']) ?? {},
    suggestions: objectsAt(request, 'permission_suggestions'),
    reason: textAt(request, 'decision_reason'),
  };
}

/**
 * The questions for the user, in order. A request of the tool AskUserQuestion may contain several.
 */
export function parseQuestions(request: PermissionRequest, planText: string | null): Question[] {
  const asked = request.toolName === 'AskUserQuestion' ? objectsAt(request.input, 'questions') : [];
  if (asked.length > 0) {
    return asked.map((question, index) => ({
      type: 'question',
      requestId: index === 0 ? request.requestId : `${request.requestId}#${index + 1}`,
      kind: 'question',
      text: questionText(question),
      choices: objectsAt(question, 'options').flatMap((option) => textAt(option, 'label') ?? []),
    }));
  }
  const { allow, always, deny } = permissionChoices;
  const text = permissionText(request, planText);
  const choices = request.suggestions.length > 0 ? [allow, always, deny] : [allow, deny];
  return [{ type: 'question', requestId: request.requestId, kind: 'permission', text, choices }];
}

/** The label alone does not always explain an option. */
function questionText(question: Json): string {
  const options = objectsAt(question, 'options').flatMap((option) => {
    const label = textAt(option, 'label') ?? '';
    const description = textAt(option, 'description') ?? '';
    return description === '' ? [] : [`- ${label}: ${description}`];
  });
  return [textAt(question, 'question') ?? '', ...options].join('\n');
}

function permissionText(request: PermissionRequest, planText: string | null): string {
  if (request.toolName === 'ExitPlanMode') {
    return `Claude Code wants to carry out this plan:\n${planText ?? ''}`.slice(0, previewCharsMax);
  }
  const command = textAt(request.input, 'command');
  const what = command ?? JSON.stringify(request.input, null, 1);
  const why = request.reason === null ? '' : `\n(${request.reason})`;
  return `Claude Code wants to use ${request.toolName}:\n${what.slice(0, previewCharsMax)}${why}`;
}

const writingTools: ReadonlySet<string> = new Set(['Edit', 'MultiEdit', 'Write', 'NotebookEdit']);

/** Allows these requests while planning. Returns null if the user must answer. */
export function planningResponse(request: PermissionRequest): Json | null {
  if (request.toolName === 'ExitPlanMode') {
    const message =
      'Your plan was submitted for review by a person. Do not carry it out: end your turn now.';
    return { behavior: 'deny', message };
  }
  if (!writingTools.has(request.toolName)) return null;
  return {
    behavior: 'deny',
    message: 'You are only planning and cannot write files. Put this into your plan.',
  };
}

/** Allows reading the files that the prompt names. Returns null for any other request. */
export function readingResponse(
  request: PermissionRequest,
  readable: readonly string[],
): Json | null {
  const path = textAt(request.input, 'file_path');
  const isNamed = request.toolName === 'Read' && path !== null && readable.includes(path);
  return isNamed ? { behavior: 'allow', updatedInput: request.input } : null;
}

/**
 * The response to the whole request. `null` = not answered: nothing is allowed, and the model is
 * informed. Text that is not one of our choices is the user's own answer: to a question, the
 * answer; to a permission request, the reason to deny it.
 */
export function permissionResponse(
  request: PermissionRequest,
  answers: readonly (string | null)[],
): Json {
  const input = request.input;
  if (answers.some((answer) => answer === null) || answers.length === 0) {
    return { behavior: 'deny', message: 'You got no answer. Continue without it.' };
  }
  const questions = request.toolName === 'AskUserQuestion' ? objectsAt(input, 'questions') : [];
  if (questions.length > 0) {
    const byQuestion = questions.map((question, index) => [
      textAt(question, 'question') ?? '',
      answers[index] ?? '',
    ]);
    const updatedInput = { ...input, answers: Object.fromEntries(byQuestion) as Json };
    return { behavior: 'allow', updatedInput };
  }
  switch (answers[0]) {
    case permissionChoices.allow:
      return { behavior: 'allow', updatedInput: input };
    case permissionChoices.always:
      return {
        behavior: 'allow',
        updatedInput: input,
        // Any other destination would write a settings file into the worktree.
        updatedPermissions: request.suggestions.map((one) => ({ ...one, destination: 'session' })),
      };
    case permissionChoices.deny:
      return { behavior: 'deny', message: 'A person denied this. Continue without it.' };
    default:
      return { behavior: 'deny', message: answers[0] ?? '' };
  }
}
