// A conflict in VS Code's own merge editor: the landed version, the task's version, and their
// common base. The result is a file in this window's storage; once every file is merged, the result
// must pass the gate and then lands.

import * as vscode from 'vscode';
import type { MergeSides } from '../../server/core/work/merge-faults.ts';
import type { TaskView } from '../../server/protocol/views.ts';
import { decide } from '../commands/runs.ts';
import type { Messages } from '../notices/messages.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { toUriParts, type GitFile } from './git-uri.ts';
import {
  emptyResult,
  joinedWords,
  landingWords,
  type Merge,
  type MergedFile,
  readMerges,
  resultState,
  resultText,
  storedName,
} from './merge-files.ts';

const memoryKey = 'merges';
/** The manifest identifies the results by this name, for the button in the merge editor. */
const folderName = 'merges';
const mergesMax = 50;
const filesMax = 200;
const titleMax = 60;
/** Files whose changes have been shown before a landing. */
const shownFilesMax = 20;
const showMaxMs = 10_000;

type WindowState = Pick<vscode.ExtensionContext, 'secrets' | 'storageUri' | 'workspaceState'>;

/** The next step of a merge before it can land. */
type Progress = { readonly kind: 'next'; readonly file: MergedFile } | { readonly kind: 'done' };

export class Merges implements vscode.Disposable {
  readonly #extension: WindowState;
  readonly #projects: Projects;
  readonly #messages: Messages;
  readonly #subscription: vscode.Disposable;
  /** Results whose message is open. */
  readonly #asking = new Set<string>();

  constructor(extension: WindowState, projects: Projects, messages: Messages) {
    this.#extension = extension;
    this.#projects = projects;
    this.#messages = messages;
    this.#subscription = vscode.workspace.onDidSaveTextDocument(({ uri }) => {
      this.#saved(uri.toString()).catch((error: unknown) => this.#messages.fail('Merge', error));
    });
  }

  /** Returns false if a conflicting file is not text, or if the result cannot be stored. */
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
   * The button in the merge editor: runs VS Code's own check for remaining conflicts, then opens
   * the next file, then starts the landing.
   */
  async accept(args: readonly unknown[]): Promise<void> {
    const [called] = args;
    const active = vscode.window.activeTextEditor?.document.uri;
    const uris = [called, active].flatMap((uri) =>
      uri instanceof vscode.Uri ? [uri.toString()] : [],
    );
    const all = this.#all();
    const merge = all.find(({ files }) => files.some(({ output }) => uris.includes(output)));
    const file = merge?.files.find((each) => uris.includes(each.output));
    if (merge === undefined || file === undefined)
      return this.#messages.tell('warning', 'Open a conflict first: “Drover: Merge Conflict”.');
    await this.#complete(merge, file);
  }

  /**
   * Completes the merge in VS Code's own editor, which asks about remaining conflicts; then opens
   * the next file, then starts the landing.
   */
  async #complete(merge: Merge, file: MergedFile): Promise<void> {
    await this.#show(merge, file);
    const before = await this.#state(merge, file);
    if (before === null) return;
    if (before.kind === 'undecided' && !(await this.#confirmBase(file, before))) return;
    const accepted: unknown = await vscode.commands.executeCommand('mergeEditor.acceptMerge');
    if (!isTaken(accepted)) return;
    const after = await this.#state(merge, file);
    if (after === null) return;
    if (after.kind === 'marked' || (after.kind === 'undecided' && before.kind !== 'undecided'))
      return await this.#openAgain(merge, file);
    await this.#goOn(merge, file, after.kind === 'undecided');
  }

  /** The only way to land lines that neither side wants. */
  async #confirmBase(
    { path }: MergedFile,
    { undecided, conflicts }: { readonly undecided: number; readonly conflicts: number },
  ): Promise<boolean> {
    const which = conflicts === 1 ? 'The conflict' : `${undecided} of ${conflicts} conflicts`;
    const have = conflicts === 1 || undecided === 1 ? 'has' : 'have';
    return await this.#messages.confirm(
      `Undo both changes in ${fileName(path)}?`,
      `${which} in ${path} still ${have} the lines from before both changes. Landing them reverts the landed change there, and this task's change is not used.`,
      'Undo Both Changes',
    );
  }

  /**
   * A saved result counts only once it resolves every conflict, because with Auto Save, VS Code
   * saves the base as soon as the editor opens.
   */
  async #saved(output: string): Promise<void> {
    const merge = this.#all().find(({ files }) => files.some((file) => file.output === output));
    const file = merge?.files.find((each) => each.output === output);
    if (merge === undefined || file === undefined || file.isMerged) return;
    if (this.#asking.has(output)) return;
    const versions = await this.#sides(merge, file);
    if (versions === null) return;
    const text = await textAt(output);
    if (resultState(text, versions).kind !== 'decided') return;
    const lands = landingWords(fileName(file.path), text, versions);
    const words = `${fileName(file.path)} is merged: ${lands}.`;
    const button = merge.files.length === 1 ? 'Land Merge' : 'Next File';
    this.#asking.add(output);
    const chosen = await this.#messages.show('info', words, [button]);
    this.#asking.delete(output);
    const known = this.#all().find(
      ({ task, commit }) => task === merge.task && commit === merge.commit,
    );
    if (chosen === button && known !== undefined) await this.#complete(known, file);
  }

  /** Returns null if the project is not open in this window. */
  async #state(merge: Merge, file: MergedFile): Promise<ReturnType<typeof resultState> | null> {
    const versions = await this.#sides(merge, file);
    return versions === null ? null : resultState(await textAt(file.output), versions);
  }

  async #sides(merge: Merge, { path }: MergedFile): Promise<MergeSides | null> {
    const project = this.#projects.byRoot(merge.root);
    if (project === null) return null;
    const { base, onto, commit } = merge;
    const [inBase = null, landed = null, task = null] = await Promise.all(
      [base, onto, commit].map(async (sha) =>
        sha === null ? null : (await project.request('file.read', { sha, path })).text,
      ),
    );
    return { base: inBase, landed, task };
  }

  async #goOn(merge: Merge, { output }: MergedFile, keepsBase: boolean): Promise<void> {
    const files = merge.files.map((file) =>
      file.output === output ? { ...file, isMerged: true, keepsBase } : file,
    );
    const now = { ...merge, files };
    await this.#keep(now);
    await this.#openNext(now);
  }

  async #openNext(merge: Merge): Promise<void> {
    const progress = progressOf(merge);
    if (progress.kind === 'done') return await this.#land(merge);
    await this.#show(merge, progress.file);
  }

  /** Shows the merge editor of a file; resolves once it is the active editor. */
  async #show(merge: Merge, { path, output, sides }: MergedFile): Promise<void> {
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
    await untilShown(output, path);
  }

  async #land(merge: Merge): Promise<void> {
    const project = this.#projects.byRoot(merge.root);
    if (project === null) return;
    const title = plainText(merge.title, titleMax);
    const files: { path: string; text: string | null; keeps_base?: boolean }[] = [];
    const lands: string[] = [];
    for (const file of merge.files) {
      const versions = await this.#sides(merge, file);
      if (versions === null) return;
      const text = await textAt(file.output);
      const { kind } = resultState(text, versions);
      const keepsBase = file.keepsBase === true && kind === 'undecided';
      if (kind !== 'decided' && !keepsBase) return await this.#openAgain(merge, file);
      const keeps = keepsBase ? { keeps_base: true } : {};
      files.push({ path: file.path, text: resultText(text, versions), ...keeps });
      lands.push(landingWords(file.path, text, versions));
    }
    if (!(await this.#confirmLanding(merge, joinedWords(lands)))) return;
    const { task: id, onto } = merge;
    const context = { extension: this.#extension, messages: this.#messages };
    await decide(context, project, id, () => project.request('task.merge', { id, onto, files }));
    await closeTabs(merge);
    await this.#forget(merge);
    this.#messages.tell('info', `Your merge of “${title}” is being tested and lands.`);
  }

  /** The user sees the change before it lands: as counts, and as a diff on request. */
  async #confirmLanding(merge: Merge, lands: string): Promise<boolean> {
    const question = `Land your merge of “${plainText(merge.title, titleMax)}”?`;
    const detail = `It lands ${lands}. The gate runs on the merged result first. Nothing is pushed.`;
    const buttons = ['Land Merge', 'Show Changes'] as const;
    const answer = await this.#messages.choose(question, detail, buttons);
    if (answer !== 'Show Changes') return answer === 'Land Merge';
    for (const file of merge.files.slice(0, shownFilesMax)) await this.#showChange(merge, file);
    return (await this.#messages.show('info', `${question} ${lands}`, ['Land Merge'])) !== null;
  }

  async #showChange({ root, onto, task }: Merge, file: MergedFile): Promise<void> {
    const { path, output, sides } = file;
    const shownPath = sides[1] === true ? path : null;
    const landed = toUriParts(
      { root, sha: onto, path: shownPath, review: task, side: 'base' },
      path,
    );
    const title = `${fileName(path)}: landed ↔ your merge`;
    const uris = [vscode.Uri.from(landed), vscode.Uri.parse(output)] as const;
    await vscode.commands.executeCommand('vscode.diff', ...uris, title, { preview: false });
  }

  /** A part of it was reopened after it was accepted. */
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

/** Its current text in an editor, saved or not. */
async function textAt(output: string): Promise<string> {
  const open = vscode.workspace.textDocuments.find(({ uri }) => uri.toString() === output);
  if (open !== undefined) return open.getText();
  const uri = vscode.Uri.parse(output);
  return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
}

/** False if conflicts remain, or if another editor is active. */
function isTaken(answer: unknown): boolean {
  return (
    typeof answer === 'object' &&
    answer !== null &&
    'successful' in answer &&
    answer.successful === true
  );
}

/** VS Code does not report when an opened merge editor is ready. */
async function untilShown(output: string, path: string): Promise<void> {
  const isShown = (): boolean =>
    vscode.window.visibleTextEditors.some(({ document }) => document.uri.toString() === output) &&
    (vscode.window.tabGroups.activeTabGroup.activeTab?.label ?? '').includes(fileName(path));
  if (isShown()) return;
  const subscriptions: vscode.Disposable[] = [];
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (isShown()) resolve();
    };
    subscriptions.push(
      vscode.window.onDidChangeVisibleTextEditors(look),
      vscode.window.tabGroups.onDidChangeTabs(look),
    );
    timer = setTimeout(resolve, showMaxMs);
  });
  clearTimeout(timer);
  for (const subscription of subscriptions) subscription.dispose();
}

/** Otherwise, editors of the results would stay open for files that no longer exist. */
async function closeTabs({ files }: Merge): Promise<void> {
  const outputs = new Set(files.map(({ output }) => output));
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const ours = tabs.filter(({ input }) => {
    if (input instanceof vscode.TabInputText) return outputs.has(input.uri.toString());
    return input instanceof vscode.TabInputTextDiff && outputs.has(input.modified.toString());
  });
  await vscode.window.tabGroups.close(ours);
}

function fileName(path: string): string {
  return plainText(path.split('/').at(-1) ?? path, titleMax);
}
