// Adds a plan to the board, either from its page or as text from an editor.

import * as vscode from 'vscode';
import { formatCount } from '../../server/core/format.ts';
import type { ShownPlan } from '../../server/protocol/spec-plan.ts';
import type { ImportResultView } from '../../server/protocol/views.ts';
import type { PlanCheck } from '../../webview/messages/messages.ts';
import { toFailure } from '../backend/failure.ts';
import type { Messages } from '../notices/messages.ts';
import type { Project } from '../project/project.ts';

type PlanSource = ShownPlan['source'];

const add = 'Add to the Board';

/** Adds all of it or nothing; throws the reason. Existing issues are updated. */
export async function addLines(
  project: Project,
  text: string,
  source: PlanSource,
): Promise<number> {
  const { imported, differs, errors } = await importLines(project, text, source, false);
  const [first] = errors;
  if (first === undefined) return imported.tasks + differs.length;
  throw new Error(`line ${first.line}: ${first.message}`);
}

/** Resolves with the effect of adding it, without changing anything. */
export async function checkLines(
  project: Project,
  text: string,
  source: PlanSource,
): Promise<PlanCheck> {
  const result = await importLines(project, text, source, true);
  const { imported, differs, unchanged, errors } = result;
  const [first] = errors;
  const problem = first === undefined ? null : `${first.id ?? 'the plan'}: ${first.message}`;
  return { problem, fresh: imported.tasks, changed: differs.length, unchanged };
}

async function importLines(
  project: Project,
  text: string,
  source: PlanSource,
  isTrial: boolean,
): Promise<ImportResultView> {
  return await project.request('import', {
    text,
    bad_utf8_lines: [],
    file: 'plan.jsonl',
    format: 'jsonl',
    dry_run: isTrial,
    update: source === 'issues',
  });
}

/** Adds the content of the editor when the button is pressed. */
export async function editAsText(
  project: Project,
  messages: Messages,
  content: string,
  source: PlanSource,
): Promise<void> {
  const document = await vscode.workspace.openTextDocument({ language: 'jsonl', content });
  await vscode.window.showTextDocument(document, { preview: false });
  const count = content.split('\n').filter((line) => /"type":"(?:story|task)"/u.test(line)).length;
  let words = `Planned: ${formatCount(count, 'task')}. Change the plan as you like.`;
  for (;;) {
    const pressed = await messages.show('info', words, [add]);
    if (pressed !== add || document.isClosed) return;
    try {
      const tasks = await addLines(project, document.getText(), source);
      return messages.tell('info', `Added: ${formatCount(tasks, 'task')}.`);
    } catch (error) {
      words = `Nothing was added: ${toFailure(error).message}`;
    }
  }
}
