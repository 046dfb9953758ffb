// Threads of an epic's pull request beside the lines of its diff. Strangers may have written their
// text: VS Code gets it escaped, as text.

import * as vscode from 'vscode';
import { threadPlace } from '../../server/core/forge/pull-replies.ts';
import type { PullThreadView, PullView } from '../../server/protocol/run-views.ts';
import { plainText } from '../notices/plain-text.ts';
import type { Project } from '../project/project.ts';
import type { Projects } from '../project/projects.ts';
import { toUriParts } from './git-uri.ts';
import type { ShownReview } from './review-titles.ts';

interface ShownDiff extends ShownReview {
  readonly project: Project;
  /** Thread → its place in the editor. A reply that is being written there stays. */
  readonly threads: Map<string, vscode.CommentThread>;
  views: readonly PullThreadView[];
}

const nameMax = 80;

export class PullThreads implements vscode.Disposable {
  readonly #controller: vscode.CommentController;
  readonly #changes: vscode.Disposable;
  /** The newest diff of each epic that was opened. */
  readonly #diffs = new Map<string, ShownDiff>();

  constructor(projects: Projects) {
    this.#controller = vscode.comments.createCommentController('drover.pull', 'Pull Request');
    this.#controller.options = { prompt: 'Reply on GitHub', placeHolder: 'Reply on GitHub' };
    this.#changes = projects.onChange(({ project }) => {
      for (const diff of this.#diffs.values())
        if (diff.project === project) this.#read(diff).catch(() => {});
    });
  }

  /** Shows them from now on, in the version of the files that this diff shows. */
  async show(project: Project, review: ShownReview): Promise<void> {
    const key = JSON.stringify([review.root, review.id]);
    for (const thread of this.#diffs.get(key)?.threads.values() ?? []) thread.dispose();
    const diff: ShownDiff = { ...review, project, threads: new Map(), views: [] };
    this.#diffs.set(key, diff);
    await this.#read(diff);
  }

  /** Sent to the forge by the backend. */
  async reply({ thread, text }: vscode.CommentReply): Promise<void> {
    const found = this.#find(thread);
    if (found === null) return;
    const { diff, view } = found;
    const pull = await diff.project.request('epic.reply', { id: diff.id, thread: view.id, text });
    this.#take(diff, pull);
  }

  async open(thread: vscode.CommentThread): Promise<void> {
    const url = this.#find(thread)?.view.url;
    if (url !== undefined) await vscode.env.openExternal(vscode.Uri.parse(url));
  }

  #find(
    thread: vscode.CommentThread,
  ): { readonly diff: ShownDiff; readonly view: PullThreadView } | null {
    for (const diff of this.#diffs.values()) {
      const view = diff.views.find(({ id }) => diff.threads.get(id) === thread);
      if (view !== undefined) return { diff, view };
    }
    return null;
  }

  async #read(diff: ShownDiff): Promise<void> {
    const pull = await diff.project.request('epic.pull', { id: diff.id });
    if (pull !== null) this.#take(diff, pull);
  }

  #take(diff: ShownDiff, pull: PullView): void {
    diff.views = pull.threads.filter(({ path }) => path !== null);
    for (const [id, thread] of diff.threads) {
      if (diff.views.some((view) => view.id === id)) continue;
      thread.dispose();
      diff.threads.delete(id);
    }
    for (const view of diff.views) {
      const thread = diff.threads.get(view.id) ?? this.#create(diff, view);
      diff.threads.set(view.id, thread);
      thread.comments = commentsOf(view);
      thread.label = `${plainText(threadPlace(view), nameMax)} (${view.is_open ? 'open' : 'resolved'})`;
      thread.state = view.is_open
        ? vscode.CommentThreadState.Unresolved
        : vscode.CommentThreadState.Resolved;
    }
  }

  #create({ root, head: sha, id: review }: ShownDiff, view: PullThreadView): vscode.CommentThread {
    const { path, line, is_open: isOpen } = view;
    const uri = vscode.Uri.from(toUriParts({ root, sha, path, review, side: 'head' }, path ?? ''));
    // Without a line, the reviewed line is not in the newest version.
    const at = Math.max(0, (line ?? 1) - 1);
    const thread = this.#controller.createCommentThread(uri, new vscode.Range(at, 0, at, 0), []);
    thread.contextValue = 'pull';
    thread.collapsibleState = isOpen
      ? vscode.CommentThreadCollapsibleState.Expanded
      : vscode.CommentThreadCollapsibleState.Collapsed;
    return thread;
  }

  dispose(): void {
    this.#changes.dispose();
    this.#controller.dispose();
  }
}

function commentsOf({ comments, replies }: PullThreadView): readonly vscode.Comment[] {
  const mode = vscode.CommentMode.Preview;
  return [
    ...comments.map(({ author, text, at }) => ({
      author: { name: plainText(author, nameMax) },
      body: new vscode.MarkdownString().appendText(text),
      timestamp: new Date(at * 1000),
      mode,
    })),
    ...replies.map(({ text, error }) => ({
      author: { name: 'You' },
      body: new vscode.MarkdownString().appendText(text),
      label: error === null ? 'to be sent' : `not sent: ${error}`,
      mode,
    })),
  ];
}
