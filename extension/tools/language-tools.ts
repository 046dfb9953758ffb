// Drover's tools for VS Code's language models: the confirmation that a person sees before a
// change, and the text that the model gets.

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { runPersonTool } from '../../server/protocol/person-tools/carry-out.ts';
import { personTools, type PersonToolName } from '../../server/protocol/person-tools/tools.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { startLikeAsked } from '../commands/runs.ts';
import type { Project } from '../project/project.ts';
import { confirmation } from './tool-questions.ts';

/** Runs a tool on a connected project. A refusal is thrown, so that the model reads it. */
export async function invokeTool(
  name: PersonToolName,
  input: unknown,
  project: Project,
  extension: Pick<vscode.ExtensionContext, 'secrets' | 'workspaceState'>,
): Promise<string> {
  return await runPersonTool(name, input, {
    request: (request, params) => project.request(request, params),
    startRun: (epic) => startLikeAsked(extension, project, epic),
    random: randomBytes,
  });
}

/** VS Code's message while a tool runs, and its confirmation before. It has no effects. */
export function prepareTool(
  name: PersonToolName,
  input: unknown,
  board: StatusSnapshot | null,
): vscode.PreparedToolInvocation {
  const { title, isReadOnly } = personTools[name];
  const invocationMessage = `Drover: ${title.charAt(0).toLowerCase()}${title.slice(1)}`;
  if (isReadOnly || board === null) return { invocationMessage };
  const asked = confirmation(name, input, board);
  if (asked === null) return { invocationMessage };
  const message = new vscode.MarkdownString();
  for (const line of asked.lines) message.appendText(`${line}\n`);
  return { invocationMessage, confirmationMessages: { title: asked.title, message } };
}
