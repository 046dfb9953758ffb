// Comments on a change, written in the diff itself. They are drafts in this workspace until they
// are sent back to the agent, and survive a reload.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { composeComments, readDrafts, type DraftComment } from './comment-text.ts';
import { readUri, toUriParts } from './git-uri.ts';

const draftsKey = 'reviewDrafts';
const commentMax = 8_000;

export class ReviewComments implements vscode.Disposable {
  readonly #memory: vscode.Memento;
  readonly #controller: vscode.CommentController;
  readonly #threads = new Map<string, vscode.CommentThread>();
  #drafts: readonly DraftComment[];

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
    this.#drafts = readDrafts(memory.get(draftsKey));
    this.#controller = vscode.comments.createCommentController('drover.review', 'Drover Review');
    this.#controller.options = {
      prompt: 'Comment for the agent',
      placeHolder: 'What should be different here',
    };
    this.#controller.commentingRangeProvider = {
      provideCommentingRanges(document) {
        const file = readUri(document.uri);
        if (file === null || file.side !== 'head' || file.path === null) return [];
        return [new vscode.Range(0, 0, Math.max(document.lineCount - 1, 0), 0)];
      },
    };
    for (const draft of this.#drafts) this.#show(draft);
  }

  of(review: string, root: string): readonly DraftComment[] {
    return this.#drafts.filter((draft) => draft.review === review && draft.root === root);
  }

  compose(review: string, root: string, general: string): string {
    return composeComments(this.of(review, root), general);
  }

  /** A comment that was written in the editor is stored, and shown as a comment. */
  async add({ thread, text }: vscode.CommentReply): Promise<void> {
    const file = readUri(thread.uri);
    const words = text.slice(0, commentMax).trim();
    if (file === null || file.path === null || words === '') return;
    const { start, end } = thread.range ?? new vscode.Range(0, 0, 0, 0);
    const document = await vscode.workspace.openTextDocument(thread.uri);
    const last = Math.min(end.line, document.lineCount - 1);
    const quoted = document.getText(new vscode.Range(start.line, 0, last, Number.MAX_SAFE_INTEGER));
    const { review, root, sha, path } = file;
    const place = { startLine: start.line, endLine: last, quoted };
    const draft = { id: randomUUID(), review, root, sha, path, ...place, text: words };
    thread.dispose();
    this.#show(draft);
    await this.#keep([...this.#drafts, draft]);
  }

  async remove(thread: vscode.CommentThread): Promise<void> {
    const found = [...this.#threads].find(([, present]) => present === thread);
    thread.dispose();
    if (found === undefined) return;
    this.#threads.delete(found[0]);
    await this.#keep(this.#drafts.filter(({ id }) => id !== found[0]));
  }

  /** The comments were sent. */
  async clear(drafts: readonly DraftComment[]): Promise<void> {
    const gone = new Set(drafts.map(({ id }) => id));
    for (const id of gone) {
      this.#threads.get(id)?.dispose();
      this.#threads.delete(id);
    }
    await this.#keep(this.#drafts.filter(({ id }) => !gone.has(id)));
  }

  #show({ id, review, root, sha, path, startLine, endLine, text }: DraftComment): void {
    const parts = toUriParts({ root, sha, path, review, side: 'head' }, path);
    const range = new vscode.Range(startLine, 0, endLine, 0);
    const comment: vscode.Comment = {
      author: { name: 'You' },
      // VS Code treats a plain string as Markdown, so the text is escaped first.
      body: new vscode.MarkdownString().appendText(text),
      mode: vscode.CommentMode.Preview,
      label: 'draft',
    };
    const thread = this.#controller.createCommentThread(vscode.Uri.from(parts), range, [comment]);
    thread.canReply = false;
    thread.contextValue = 'draft';
    thread.label = 'To be sent back to the agent';
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    this.#threads.set(id, thread);
  }

  async #keep(drafts: readonly DraftComment[]): Promise<void> {
    this.#drafts = drafts;
    await this.#memory.update(draftsKey, drafts);
  }

  dispose(): void {
    this.#controller.dispose();
  }
}
