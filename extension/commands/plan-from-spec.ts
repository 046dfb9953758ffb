// Plan from Spec: a design becomes a plan in an editor, to be read and changed, and is added to the board as one.

import * as vscode from 'vscode';
import type { SpecPlanView } from '../../server/protocol/spec-plan.ts';
import { toFailure } from '../backend/failure.ts';
import type { Messages } from '../messages.ts';
import type { Project } from '../project.ts';
import { withProject, type Handlers } from './context.ts';

const fileBytesMax = 1024 * 1024;
const filesMax = 20;
const add = 'Add to the Board';

export const planFromSpecHandlers: Handlers<'drover.planFromSpec'> = {
  'drover.planFromSpec': withProject(async ({ args, messages }, project) => {
    const files = await designFiles(args, project);
    if (files.length === 0) return;
    const documents = await readDocuments(files);
    const planned = await plan(project, documents);
    if (planned === null) return;
    const document = await vscode.workspace.openTextDocument({
      language: 'jsonl',
      content: planned.jsonl,
    });
    await vscode.window.showTextDocument(document, { preview: false });
    await offer(project, messages, document, planned);
  }),
};

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
): Promise<void> {
  let words = `Planned: ${counted(epics.length, 'epic')}, ${counted(tasks.length, 'task')}. Change the plan as you like.`;
  for (;;) {
    const pressed = await messages.show('info', words, [add]);
    if (pressed !== add || document.isClosed) return;
    try {
      const { imported, errors } = await project.request('import', {
        text: document.getText(),
        bad_utf8_lines: [],
        file: 'plan.jsonl',
        format: 'jsonl',
      });
      const [first] = errors;
      if (first === undefined) {
        messages.tell('info', `Added: ${counted(imported.tasks, 'task')}.`);
        return;
      }
      words = `Nothing was added: line ${first.line}: ${first.message}`;
    } catch (error) {
      words = `Nothing was added: ${toFailure(error).message}`;
    }
  }
}

function counted(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}
