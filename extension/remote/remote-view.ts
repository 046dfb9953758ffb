// The view of remote workers: runs `drover remote` while it is visible, keeps the result, and runs
// it again if the board differs.

import * as vscode from 'vscode';
import { formatBytes, formatCount } from '../../server/core/format.ts';
import type { RemoteList, RemotePreview } from '../../server/protocol/remote-views.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { workersViewId } from '../ids.ts';
import { setContext } from '../notices/context-keys.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { toTreeItem } from '../trees/tree-item.ts';
import { treeRow, type TreeRow } from '../trees/tree-row.ts';
import { uploadRows } from './upload-rows.ts';
import {
  costKey,
  isOnWorker,
  isSettled,
  parseRun,
  wordsOfFailure,
  workerRows,
} from './worker-rows.ts';

/** Runs `drover remote <args>` and returns its answer; throws a refusal. */
export type AskRemote = <T>(project: Project, args: readonly string[]) => Promise<T>;

/** The board and the workers' leases can differ briefly; then the list is requested again. */
const settleMs = 3_000;
/** The ages of workers are updated. */
const agesMs = 30_000;

export class RemoteView implements vscode.Disposable, vscode.TreeDataProvider<TreeRow> {
  readonly #projects: Projects;
  readonly #ask: AskRemote;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<TreeRow>;
  readonly #subscriptions: readonly vscode.Disposable[];
  readonly #ages: NodeJS.Timeout;
  readonly onDidChangeTreeData = this.#changed.event;
  #root: string | null = null;
  #list: RemoteList | null = null;
  #costs: ReadonlyMap<string, number> = new Map();
  #upload: RemotePreview | null = null;
  #atWork = '';
  #loading: Promise<void> | null = null;
  #settling: NodeJS.Timeout | null = null;
  /** A person opened the view, whatever the settings contain. */
  #isWanted = false;

  constructor(projects: Projects, ask: AskRemote) {
    this.#projects = projects;
    this.#ask = ask;
    this.#view = vscode.window.createTreeView(workersViewId, { treeDataProvider: this });
    this.#subscriptions = [
      this.#view,
      this.#changed,
      this.#view.onDidChangeVisibility(({ visible }) => {
        if (visible) void this.reload();
      }),
      projects.onChange(() => this.#boardChanged()),
    ];
    this.#ages = setInterval(() => {
      if (this.#view.visible) this.#changed.fire(undefined);
    }, agesMs);
  }

  /** Returns the last result, and requests it if none exists. */
  async list(): Promise<RemoteList | null> {
    if (this.#list === null) await this.reload();
    return this.#list;
  }

  async show(): Promise<void> {
    this.#isWanted = true;
    setContext('drover.remoteWorkers', true);
    await vscode.commands.executeCommand(`${workersViewId}.focus`);
  }

  /** Shows the files that an attempt would upload now. */
  async showUpload(project: Project): Promise<void> {
    this.#upload = await this.#ask<RemotePreview>(project, ['preview']);
    await this.show();
    this.#changed.fire(undefined);
    await this.#view.reveal(this.#uploadRow(), { expand: true, focus: true });
  }

  reload(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async getChildren(row?: TreeRow): Promise<TreeRow[]> {
    const project = this.#projects.current;
    if (row !== undefined && row.id !== uploadId) return [...row.children];
    if (project === null) return [];
    if (row !== undefined) {
      this.#upload ??= await this.#ask<RemotePreview>(project, ['preview']);
      return [...uploadRows(this.#upload)];
    }
    const list = await this.list();
    const tasks = new Map(project.board?.tasks.map((task) => [task.id, task]));
    const facts = { tasks, costs: this.#costs, nowMs: Date.now() };
    return [...(list === null ? [] : workerRows({ ...facts, list })), this.#uploadRow()];
  }

  /** Only top-level rows are revealed. */
  getParent(): undefined {
    return undefined;
  }

  getTreeItem(row: TreeRow): vscode.TreeItem {
    return toTreeItem(row, row.children.length > 0 || row.id === uploadId);
  }

  dispose(): void {
    clearInterval(this.#ages);
    if (this.#settling !== null) clearTimeout(this.#settling);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #uploadRow(): TreeRow {
    const { files, bytes } = this.#upload ?? {};
    const description =
      files === undefined || bytes === undefined
        ? ''
        : `${formatCount(files, 'file')}, ${formatBytes(bytes)}`;
    const tooltip = 'What an attempt would upload now, and what stays here.';
    const shown = { description, tooltip, icon: 'cloud-upload', context: 'upload' };
    return treeRow({ id: uploadId, label: 'Upload Preview', ...shown });
  }

  #boardChanged(): void {
    const { current } = this.#projects;
    const board = current?.board ?? null;
    setContext('drover.remoteWorkers', this.#isWanted || makesWorkers(board));
    if (current !== null && current.root !== this.#root) {
      this.#root = current.root;
      this.#list = null;
      this.#upload = null;
      this.#changed.fire(undefined);
    }
    if (!this.#view.visible) return;
    const atWork = (board?.tasks ?? []).filter(isOnWorker);
    const now = atWork.map(({ id, started_at: since }) => `${id} ${since ?? 0}`).join('\n');
    if (now === this.#atWork) return;
    this.#atWork = now;
    void this.reload();
  }

  async #load(): Promise<void> {
    const project = this.#projects.current;
    if (project === null) return;
    let words: string;
    try {
      const list = await this.#ask<RemoteList>(project, ['list']);
      this.#costs = await costsOf(project, list);
      this.#list = list;
      words = wordsOf(list);
    } catch (error) {
      words = wordsOfFailure(toFailure(error));
    }
    this.#view.message = plainText(words);
    this.#view.description = this.#list?.provisioner ?? '';
    this.#changed.fire(undefined);
    this.#seeToSettle(project);
  }

  #seeToSettle(project: Project): void {
    if (this.#settling !== null) clearTimeout(this.#settling);
    this.#settling = null;
    const list = this.#list;
    if (list === null || isSettled(list, project.board?.tasks ?? [])) return;
    this.#settling = setTimeout(() => {
      if (this.#view.visible) void this.reload();
    }, settleMs);
  }
}

const uploadId = 'upload';

function wordsOf({ provisioner, workers }: RemoteList): string {
  if (workers.length > 0) return '';
  return provisioner === null ? 'Remote workers are not set up yet.' : 'No workers.';
}

function makesWorkers(board: StatusSnapshot | null): boolean {
  return typeof board?.config['remote.provisioner']?.value === 'string';
}

/** Costs of the attempts that run on workers; unknown without a backend. */
async function costsOf(project: Project, list: RemoteList): Promise<ReadonlyMap<string, number>> {
  const costs = new Map<string, number>();
  for (const worker of list.workers) {
    const run = parseRun(worker);
    if (run === null || project.connection.kind !== 'connected') continue;
    try {
      const attempts = await project.request('attempts', { id: run.task });
      const attempt = attempts.find(({ number }) => number === run.attempt);
      if (attempt !== undefined) costs.set(costKey(run), attempt.cost);
    } catch {
      // The task no longer exists; its worker is listed anyway.
    }
  }
  return costs;
}
