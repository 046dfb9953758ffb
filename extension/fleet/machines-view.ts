// The view of a fleet's machines: requests them while it is visible, and again when the board shows
// that a task has started or ended on a machine.

import * as vscode from 'vscode';
import type { MachineView } from '../../server/protocol/views.ts';
import { toFailure } from '../backend/failure.ts';
import { machinesViewId } from '../ids.ts';
import { setContext } from '../notices/context-keys.ts';
import { plainText } from '../notices/plain-text.ts';
import type { ProjectChange } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { toTreeItem } from '../trees/tree-item.ts';
import type { TreeRow } from '../trees/tree-row.ts';
import { machineRows, formatPlaces } from './machine-rows.ts';

/** Heartbeats are not events, so the state of machines is polled. */
const askEveryMs = 3_000;

export class MachinesView implements vscode.Disposable, vscode.TreeDataProvider<TreeRow> {
  readonly #projects: Projects;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<TreeRow>;
  readonly #subscriptions: readonly vscode.Disposable[];
  readonly #timer: NodeJS.Timeout;
  readonly onDidChangeTreeData = this.#changed.event;
  #machines: readonly MachineView[] = [];
  #places = '';
  #loading: Promise<void> | null = null;

  constructor(projects: Projects) {
    this.#projects = projects;
    this.#view = vscode.window.createTreeView(machinesViewId, { treeDataProvider: this });
    this.#subscriptions = [
      this.#view,
      this.#changed,
      this.#view.onDidChangeVisibility(({ visible }) => {
        if (visible) void this.#reload();
      }),
      projects.onChange((change) => this.#projectChanged(change)),
    ];
    this.#timer = setInterval(() => {
      if (this.#view.visible) void this.#reload();
    }, askEveryMs);
  }

  getChildren(row?: TreeRow): TreeRow[] {
    if (row !== undefined) return [...row.children];
    const tasks = this.#projects.current?.board?.tasks ?? [];
    return [...machineRows(this.#machines, tasks, Date.now())];
  }

  getTreeItem(row: TreeRow): vscode.TreeItem {
    return toTreeItem(row, row.children.length > 0);
  }

  dispose(): void {
    clearInterval(this.#timer);
    for (const subscription of this.#subscriptions) subscription.dispose();
  }

  #projectChanged({ project, change }: ProjectChange): void {
    const { current } = this.#projects;
    if (change.kind === 'list') this.#machines = [];
    else if (project !== current) return;
    // Only a connected backend knows whether its project belongs to a fleet.
    if (change.kind === 'list' || change.kind === 'attached') return void this.#reload();
    const places = formatPlaces(current?.board?.tasks ?? []);
    if (places === this.#places) return;
    this.#places = places;
    if (this.#view.visible) void this.#reload();
  }

  #reload(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    const project = this.#projects.current;
    let words = '';
    if (project?.connection.kind === 'connected') {
      try {
        this.#machines = await project.request('machines.list', {});
      } catch (error) {
        words = toFailure(error).message;
      }
    }
    this.#view.message = plainText(words);
    setContext('drover.fleet', this.#machines.length > 0);
    this.#changed.fire(undefined);
  }
}
