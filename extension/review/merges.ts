// A conflict in VS Code's own merge editor: what has landed, what the task made, and what both
// started from. The result is a file of this window's storage; once every file is merged, the whole
// passes the gate and lands.

import * as vscode from 'vscode';
import type { TaskView } from '../../server/protocol/views.ts';
import type { Messages } from '../notices/messages.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { toUriParts, type GitFile } from './git-uri.ts';
import {
  editedResult,
  emptyResult,
  type Merge,
  type MergedFile,
  readMerges,
  storedName,
} from './merge-files.ts';

const memoryKey = 'merges';
/** The manifest knows the results by this name, for the button in the merge editor. */
const folderName = 'merges';
const mergesMax = 50;
const filesMax = 200;
const titleMax = 60;

/** What a merge still has to do before it can land. */
type Progress = { readonly kind: 'next'; readonly file: MergedFile } | { readonly kind: 'done' };

export class Merges implements vscode.Disposable {
  readonly #extension: Pick<vscode.ExtensionContext, 'storageUri' | 'workspaceState'>;
  readonly #projects: Projects;
  readonly #messages: Messages;
  readonly #subscription: vscode.Disposable;

  constructor(
    extension: Pick<vscode.ExtensionContext, 'storageUri' | 'workspaceState'>,
    projects: Projects,
    messages: Messages,
  ) {
    this.#extension = extension;
    this.#projects = projects;
    this.#messages = messages;
    this.#subscription = vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      void this.#saved(uri.toString());
    });
  }

  /** False: a file that is no text is in conflict, or there is no place for the result. */
  async open(project: Project, task: TaskView): Promise<boolean> {
    const folder = this.#extension.storageUri;
    if (folder === undefined) return false;
    const { base, onto, commit, files } = await project.request('conflict', { id: task.id });
    if (files.length > filesMax) return false;
    const known = this.#all().find((each) => each.task === task.id && each.onto === onto);
    if (known?.commit === commit) {
      await this.#openNext(known);
      return true;
    }
    const merged: MergedFile[] = [];
    for (const path of files) {
      const sides = await Promise.all(
        [base, onto, commit].map(async (sha) =>
          sha === null ? null : await project.request('file.read', { sha, path }),
        ),
      );
      if (sides.some((side) => side !== null && side.text === null && side.size > 0)) return false;
      const [inBase, inOnto, inCommit] = sides.map((side) => side?.text ?? null);
      const name = storedName(`${task.id}-${commit.slice(0, 12)}`, path);
      const output = vscode.Uri.joinPath(folder, folderName, ...name);
      await vscode.workspace.fs.writeFile(
        output,
        new TextEncoder().encode(emptyResult(inOnto ?? '', inCommit ?? '')),
      );
      merged.push({
        path,
        output: output.toString(),
        sides: [inBase ?? null, inOnto ?? null, inCommit ?? null].map((side) => side !== null),
        isMerged: false,
      });
    }
    const { root } = project;
    const merge: Merge = {
      root,
      task: task.id,
      title: task.title,
      base,
      onto,
      commit,
      files: merged,
    };
    await this.#keep(merge);
    await this.#openNext(merge);
    return true;
  }

  /**
   * The button in the merge editor: VS Code's own check for conflicts that are left, then the next
   * file, then the landing.
   */
  async accept(args: readonly unknown[]): Promise<void> {
    const [called] = args;
    const active = vscode.window.activeTextEditor?.document.uri;
    const uris = [called, active].flatMap((uri) =>
      uri instanceof vscode.Uri ? [uri.toString()] : [],
    );
    const all = this.#all();
    const merge = all.find(({ files }) => files.some(({ output }) => uris.includes(output)));
    if (merge === undefined)
      return this.#messages.tell('warning', 'Open a conflict first: “Drover: Merge Conflict”.');
    const accepted: unknown = await vscode.commands.executeCommand('mergeEditor.acceptMerge');
    if (isRefused(accepted)) return;
    const output = merge.files.find((file) => uris.includes(file.output))?.output ?? '';
    await this.#goOn(merge, output);
  }

  /** A result that was saved by VS Code's own ways counts as soon as nothing in it is open. */
  async #saved(output: string): Promise<void> {
    const merge = this.#all().find(({ files }) => files.some((file) => file.output === output));
    const file = merge?.files.find((each) => each.output === output);
    if (merge === undefined || file === undefined || file.isMerged) return;
    if (editedResult(await textAt(output), file) === undefined) return;
    const words = `${fileName(file.path)} is merged.`;
    const button = merge.files.length === 1 ? 'Land Merge' : 'Next File';
    if ((await this.#messages.show('info', words, [button])) === button)
      await this.#goOn(merge, output);
  }

  async #goOn(merge: Merge, output: string): Promise<void> {
    const files = merge.files.map((file) =>
      file.output === output ? { ...file, isMerged: true } : file,
    );
    const now = { ...merge, files };
    await this.#keep(now);
    await this.#openNext(now);
  }

  async #openNext(merge: Merge): Promise<void> {
    const progress = progressOf(merge);
    if (progress.kind === 'done') return await this.#land(merge);
    const { path, output, sides } = progress.file;
    const { base, onto, commit } = merge;
    const at = (sha: string | null, side: GitFile['side'], index: number): vscode.Uri => {
      const shownPath = sha !== null && sides[index] === true ? path : null;
      const file = {
        root: merge.root,
        sha: sha ?? onto,
        path: shownPath,
        review: merge.task,
        side,
      };
      return vscode.Uri.from(toUriParts(file, path));
    };
    const title = plainText(merge.title, titleMax);
    await vscode.commands.executeCommand('_open.mergeEditor', {
      base: at(base, 'base', 0),
      input1: { uri: at(onto, 'base', 1), title: 'Landed', description: onto.slice(0, 7) },
      input2: { uri: at(commit, 'head', 2), title: 'This task', description: title },
      output: vscode.Uri.parse(output),
    });
  }

  async #land(merge: Merge): Promise<void> {
    const project = this.#projects.byRoot(merge.root);
    if (project === null) return;
    const title = plainText(merge.title, titleMax);
    const files: { path: string; text: string | null }[] = [];
    for (const file of merge.files) {
      const text = editedResult(await textAt(file.output), file);
      if (text === undefined) return await this.#openAgain(merge, file);
      files.push({ path: file.path, text });
    }
    const detail = 'The gate runs on the merged result, then it lands. Nothing is pushed.';
    if (!(await this.#messages.confirm(`Land your merge of “${title}”?`, detail, 'Land Merge'))) {
      return;
    }
    await project.request('task.merge', { id: merge.task, onto: merge.onto, files });
    await this.#forget(merge);
    this.#messages.tell('info', `Your merge of “${title}” is being tested and lands.`);
  }

  /** Something in it was opened again after it was accepted. */
  async #openAgain(merge: Merge, open: MergedFile): Promise<void> {
    const files = merge.files.map((file) =>
      file.output === open.output ? { ...file, isMerged: false } : file,
    );
    const now = { ...merge, files };
    await this.#keep(now);
    await this.#openNext(now);
  }

  #all(): readonly Merge[] {
    return readMerges(this.#extension.workspaceState.get(memoryKey));
  }

  async #keep(merge: Merge): Promise<void> {
    const others = this.#all().filter(({ task }) => task !== merge.task);
    await this.#extension.workspaceState.update(memoryKey, [...others, merge].slice(-mergesMax));
  }

  async #forget(merge: Merge): Promise<void> {
    const others = this.#all().filter(({ task }) => task !== merge.task);
    await this.#extension.workspaceState.update(memoryKey, others);
    for (const { output } of merge.files) {
      await vscode.workspace.fs.delete(vscode.Uri.parse(output)).then(undefined, () => undefined);
    }
  }

  dispose(): void {
    this.#subscription.dispose();
  }
}

function progressOf({ files }: Merge): Progress {
  const next = files.find(({ isMerged }) => !isMerged);
  return next === undefined ? { kind: 'done' } : { kind: 'next', file: next };
}

async function textAt(output: string): Promise<string> {
  const uri = vscode.Uri.parse(output);
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}

/** VS Code answers whether it took the merge; a version that says nothing has. */
function isRefused(answer: unknown): boolean {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'successful' in answer &&
    answer.successful === false
  );
}

function fileName(path: string): string {
  return plainText(path.split('/').at(-1) ?? path, titleMax);
}
