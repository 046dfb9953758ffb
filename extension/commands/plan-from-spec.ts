// Plan from Spec: a design becomes a plan in an editor, to be read and changed, and is added to the
// board as one.

import * as vscode from 'vscode';
import type { SpecPlanView } from '../../server/protocol/spec-plan.ts';
import { toFailure } from '../backend/failure.ts';
import type { Messages } from '../notices/messages.ts';
import type { Project } from '../project/project.ts';
import { chosenLines } from '../plan/plan-choice.ts';
import { withProject, type Handlers } from './context.ts';
import { pickFromPlan } from './plan-pick.ts';

const fileBytesMax = 1024 * 1024;
const filesMax = 20;
const add = 'Add to the Board';

export const planFromSpecHandlers: Handlers<'drover.planFromSpec' | 'drover.planFromPrompt'> = {
  'drover.planFromSpec': withProject(async ({ args, messages }, project) => {
    const files = await designFiles(args, project);
    if (files.length === 0) return;
    const documents = await readDocuments(files);
    await planAndAdd(project, messages, documents);
  }),
  'drover.planFromPrompt': withProject(async ({ messages }, project) => {
    const words = await vscode.window.showInputBox({
      title: 'Plan from a Prompt',
      prompt: 'What should be done? The plan is shown before anything is added.',
      placeHolder: 'Add a search to the shop, with tests and a page of help',
      ignoreFocusOut: true,
    });
    if (words === undefined || words.trim() === '') return;
    await planAndAdd(project, messages, { request: words.trim(), ...selectedText() });
  }),
};

/** What is selected in the editor in front belongs to what is asked. */
function selectedText(): Record<string, string> {
  const editor = vscode.window.activeTextEditor;
  const text = editor?.document.getText(editor.selection) ?? '';
  if (editor === undefined || text.trim() === '' || text.length > fileBytesMax) return {};
  return { [vscode.workspace.asRelativePath(editor.document.uri)]: text };
}

async function planAndAdd(
  project: Project,
  messages: Messages,
  documents: Record<string, string>,
): Promise<void> {
  const planned = await plan(project, documents);
  if (planned === null) return;
  const picked = await pickFromPlan(planned);
  if (picked === null) return;
  if (picked.kind === 'add') {
    const text = chosenLines(planned, picked.ids, picked.titles);
    const added = await addLines(project, text);
    if (typeof added === 'number') messages.tell('info', `Added: ${counted(added, 'task')}.`);
    // No choice is lost: the plan can be corrected as text.
    else await editAsText(project, messages, { ...planned, jsonl: text }, added);
    return;
  }
  await editAsText(project, messages, planned);
}

async function editAsText(
  project: Project,
  messages: Messages,
  planned: SpecPlanView,
  trouble?: string,
): Promise<void> {
  const document = await vscode.workspace.openTextDocument({
    language: 'jsonl',
    content: planned.jsonl,
  });
  await vscode.window.showTextDocument(document, { preview: false });
  await offer(project, messages, document, planned, trouble);
}

/** From the explorer or an editor's title the file it was called on, else what a person chooses. */
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

/** Null: the person had enough of waiting. */
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

/** What is in the editor when the button is pressed is added, all of it or nothing. */
async function offer(
  project: Project,
  messages: Messages,
  document: vscode.TextDocument,
  { epics, tasks }: SpecPlanView,
  trouble?: string,
): Promise<void> {
  let words =
    trouble ??
    `Planned: ${counted(epics.length, 'epic')}, ${counted(tasks.length, 'task')}. Change the plan as you like.`;
  for (;;) {
    const pressed = await messages.show('info', words, [add]);
    if (pressed !== add || document.isClosed) return;
    const added = await addLines(project, document.getText());
    if (typeof added === 'number') {
      messages.tell('info', `Added: ${counted(added, 'task')}.`);
      return;
    }
    words = added;
  }
}

/** How many tasks were added, or why nothing was. */
async function addLines(project: Project, text: string): Promise<number | string> {
  try {
    const { imported, errors } = await project.request('import', {
      text,
      bad_utf8_lines: [],
      file: 'plan.jsonl',
      format: 'jsonl',
    });
    const [first] = errors;
    if (first === undefined) return imported.tasks;
    return `Nothing was added: line ${first.line}: ${first.message}`;
  } catch (error) {
    return `Nothing was added: ${toFailure(error).message}`;
  }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
