// Plan from Spec and Plan from a Prompt: turns a design into a plan on a page. The user reviews and
// edits it there before adding it to the board.

import * as vscode from 'vscode';
import type { SpecPlanView } from '../../server/protocol/spec-plan.ts';
import { keepPlan } from '../plan/kept-plans.ts';
import { askForAnotherPlan } from '../plan/plan-again.ts';
import type { Project } from '../project/project.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';

const fileBytesMax = 1024 * 1024;
const filesMax = 20;

export const planFromSpecHandlers: Handlers<'drover.planFromSpec' | 'drover.planFromPrompt'> = {
  'drover.planFromSpec': withProject(async (context, project) => {
    const files = await designFiles(context.args, project);
    if (files.length === 0) return;
    const documents = await readDocuments(files);
    await askForAnotherPlan(
      {
        edit: null,
        plan: async () => await planAndShow(context, project, documents),
        offer: async (text, buttons) => await context.messages.show('error', text, buttons),
      },
      '',
    );
  }),
  'drover.planFromPrompt': withProject(async (context, project) => {
    const memory = context.extension.workspaceState;
    const selected = selectedText();
    const words = await askForPrompt(memory.get<string>(unplannedKey) ?? '');
    if (words === null) return;
    const left = await askForAnotherPlan(
      {
        edit: askForPrompt,
        plan: async (request) => await planAndShow(context, project, { request, ...selected }),
        offer: async (text, buttons) => await context.messages.show('error', text, buttons),
      },
      words,
    );
    await memory.update(unplannedKey, left ?? undefined);
  }),
};

/** The prompt that has produced no plan yet, for the next time. */
const unplannedKey = 'unplannedPrompt';

/** Returns null if the person canceled. */
async function askForPrompt(words: string): Promise<string | null> {
  const given = await vscode.window.showInputBox({
    title: 'Plan from a Prompt',
    prompt: 'What should be done? The plan is shown before anything is added.',
    placeHolder: 'Add a search to the shop, with tests and a page of help',
    value: words,
    ignoreFocusOut: true,
  });
  const trimmed = given?.trim() ?? '';
  return trimmed === '' ? null : trimmed;
}

/** The selection in the active editor is part of the request. */
function selectedText(): Record<string, string> {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection) ?? '';
  if (editor === undefined || text.trim() === '' || text.length > fileBytesMax) return {};
  return { [vscode.workspace.asRelativePath(editor.document.uri)]: text };
}

/**
 * The plan opens as a page, from which it is added. Returns false if the user stopped the planning.
 */
async function planAndShow(
  { extension, showPanel }: CommandContext,
  project: Project,
  documents: Record<string, string>,
): Promise<boolean> {
  const planned = await plan(project, documents);
  if (planned === null) return false;
  const id = await keepPlan(extension.workspaceState, planned);
  showPanel('plan', { root: project.root, id, attempt: null });
  return true;
}

/**
 * If called from the explorer or an editor's title, uses that file; otherwise, the user chooses.
 */
async function designFiles(
  args: readonly unknown[],
  project: Project,
): Promise<readonly vscode.Uri[]> {
  const [called, selected] = args;
  const uris = Array.isArray(selected) ? (selected as readonly unknown[]) : [called];
  const given = uris.filter((each) => each instanceof vscode.Uri);
  if (given.length > 0) return given.slice(0, filesMax);
  const chosen = await vscode.window.showOpenDialog({
    title: 'Plan from Spec',
    openLabel: 'Plan',
    canSelectMany: true,
    defaultUri: project.folder.uri,
    filters: { Design: ['md', 'txt'] },
  });
  return (chosen ?? []).slice(0, filesMax);
}

async function readDocuments(files: readonly vscode.Uri[]): Promise<Record<string, string>> {
  const documents: Record<string, string> = {};
  for (const file of files) {
    const name = vscode.workspace.asRelativePath(file);
    const { size } = await vscode.workspace.fs.stat(file);
    if (size > fileBytesMax) throw new Error(`${name} is larger than 1 MB; plan it in parts.`);
    documents[name] = new TextDecoder().decode(await vscode.workspace.fs.readFile(file));
  }
  return documents;
}

/** Returns null if the user stops waiting. */
async function plan(
  project: Project,
  documents: Record<string, string>,
): Promise<SpecPlanView | null> {
  const progress = {
    location: vscode.ProgressLocation.Notification,
    title: 'Drover: planning…',
    cancellable: true,
  };
  return await vscode.window.withProgress(progress, async (_report, token) => {
    token.onCancellationRequested(() => {
      project.request('spec.cancel', {}).catch(() => {});
    });
    try {
      return await project.request('spec.plan', { documents });
    } catch (error) {
      if (token.isCancellationRequested) return null;
      throw error;
    }
  });
}
