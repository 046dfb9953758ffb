// Which review is visible: VS Code does not report the contents of a multi-diff editor, so its
// title is remembered.

import * as vscode from 'vscode';
import { setContext } from '../notices/context-keys.ts';
import { readUri } from './git-uri.ts';
import {
  freeTitle,
  isLabelOf,
  readTitles,
  type ShownReview,
  titled,
  type Titles,
} from './review-titles.ts';

const titlesKey = 'reviewTitles';
const titlesMax = 50;

export class ShownReviews implements vscode.Disposable {
  readonly #memory: vscode.Memento;
  readonly #subscriptions: readonly vscode.Disposable[];

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
    const tell = (): void => setContext('drover.reviewing', this.find([]) !== null);
    this.#subscriptions = [
      vscode.window.tabGroups.onDidChangeTabs(tell),
      vscode.window.tabGroups.onDidChangeTabGroups(tell),
      vscode.window.onDidChangeActiveTextEditor(tell),
    ];
    tell();
  }

  /**
   * The title to open the review under: that of another review, or of an older state of this one,
   * gets an addition.
   */
  async note(title: string, review: ShownReview): Promise<string> {
    const titles = this.#titles();
    const own = freeTitle(openOnes(titles), title, review);
    const others = Object.entries(titles).filter(([known]) => known !== own);
    const kept = [...others, [own, review] as const].slice(-titlesMax);
    await this.#memory.update(titlesKey, Object.fromEntries(kept));
    return own;
  }

  /**
   * By what a command was called on, else by the editor that has the focus; null: that is no
   * review.
   */
  find(args: readonly unknown[]): ShownReview | null {
    const [called] = args;
    const active = vscode.window.activeTextEditor?.document.uri;
    for (const uri of [called, active]) {
      const file = uri instanceof vscode.Uri ? readUri(uri) : null;
      if (file === null) continue;
      const { root, review, sha, side } = file;
      if (side === 'head') return { root, id: review, head: sha };
    }
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    if (tab === undefined || !isMultiDiff(tab.input)) return null;
    return titled(this.#titles(), tab.label);
  }

  #titles(): Titles {
    return readTitles(this.#memory.get(titlesKey));
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

function openOnes(titles: Titles): Titles {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
  const isOpen = (title: string): boolean => tabs.some(({ label }) => isLabelOf(label, title));
  return Object.fromEntries(Object.entries(titles).filter(([title]) => isOpen(title)));
}

/**
 * The class is not public (yet): for an input that extensions may not know, VS Code gives nothing,
 * or only this.
 */
function isMultiDiff(input: unknown): boolean {
  return (
    input === undefined || (typeof input === 'object' && input !== null && 'textDiffs' in input)
  );
}
