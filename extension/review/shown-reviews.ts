// Determines which review is visible: VS Code does not report the contents of a multi-diff editor,
// so its title is remembered.

import * as vscode from 'vscode';
import { setContext } from '../notices/context-keys.ts';
import type { Projects } from '../project/projects.ts';
import { readUri } from './git-uri.ts';
import {
  freeTitle,
  isUnderReview,
  isTabLabel,
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
  /** Titles of open reviews that a person must still decide. */
  readonly #waiting = new Set<string>();

  constructor(memory: vscode.Memento, projects: Projects) {
    this.#memory = memory;
    const tell = (): void => {
      const shown = this.find([]);
      const board = shown === null ? null : (projects.byRoot(shown.root)?.board ?? null);
      const isOpen = shown !== null && board !== null && isUnderReview(board, shown);
      setContext('drover.reviewing', isOpen);
      void this.#closeDecided(projects);
    };
    this.#subscriptions = [
      vscode.window.tabGroups.onDidChangeTabs(tell),
      vscode.window.tabGroups.onDidChangeTabGroups(tell),
      vscode.window.onDidChangeActiveTextEditor(tell),
      projects.onChange(tell),
    ];
    tell();
  }

  /**
   * The title for opening the review; if another review, or an older state of this one, has the
   * same title, it gets an addition.
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
   * Finds the review that a command was called on, otherwise the one whose editor has the focus.
   * Returns null if that editor shows no review.
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

  /** A review that was decided in any window needs no further decision. */
  async #closeDecided(projects: Projects): Promise<void> {
    const decided: string[] = [];
    for (const [title, review] of Object.entries(openOnes(this.#titles()))) {
      const board = projects.byRoot(review.root)?.board ?? null;
      if (board === null) continue;
      if (isUnderReview(board, review)) this.#waiting.add(title);
      else if (this.#waiting.delete(title)) decided.push(title);
    }
    if (decided.length === 0) return;
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const over = tabs.filter(
      ({ input, label }) => isMultiDiff(input) && decided.some((title) => isTabLabel(label, title)),
    );
    await vscode.window.tabGroups.close(over);
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
  const isOpen = (title: string): boolean => tabs.some(({ label }) => isTabLabel(label, title));
  return Object.fromEntries(Object.entries(titles).filter(([title]) => isOpen(title)));
}

/**
 * The class is not public (yet): VS Code returns undefined or this for an input that is hidden from
 * extensions.
 */
function isMultiDiff(input: unknown): boolean {
  return (
    input === undefined || (typeof input === 'object' && input !== null && 'textDiffs' in input)
  );
}
