// Which review is looked at: VS Code does not say what a multi-diff editor is about, so its title is remembered.

import * as vscode from 'vscode';
import { setContext } from '../context-keys.ts';
import { readUri } from './git-uri.ts';

export interface ShownReview {
  readonly root: string;
  /** The task or epic. */
  readonly id: string;
}

const titlesKey = 'reviewTitles';
const titlesMax = 50;

type Titles = Readonly<Record<string, ShownReview>>;

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

  async note(title: string, review: ShownReview): Promise<void> {
    const others = Object.entries(this.#titles()).filter(([known]) => known !== title);
    const kept = [...others, [title, review] as const].slice(-titlesMax);
    await this.#memory.update(titlesKey, Object.fromEntries(kept));
  }

  /** By what a command was called on, else by the editor that has the focus; null: that is no review. */
  find(args: readonly unknown[]): ShownReview | null {
    const [called] = args;
    const active = vscode.window.activeTextEditor?.document.uri;
    for (const uri of [called, active]) {
      const file = uri instanceof vscode.Uri ? readUri(uri) : null;
      if (file !== null) return { root: file.root, id: file.review };
    }
    const tab = vscode.window.tabGroups.activeTabGroup.activeTab;
    if (tab === undefined || !isMultiDiff(tab.input)) return null;
    return titled(this.#titles(), tab.label);
  }

  #titles(): Titles {
    const kept: unknown = this.#memory.get(titlesKey);
    return typeof kept === 'object' && kept !== null ? (kept as Titles) : {};
  }

  dispose(): void {
    for (const subscription of this.#subscriptions) subscription.dispose();
  }
}

/** The class is not public (yet): of an input that extensions may not know there is nothing, or only this. */
function isMultiDiff(input: unknown): boolean {
  return (
    input === undefined || (typeof input === 'object' && input !== null && 'textDiffs' in input)
  );
}

/** VS Code puts the number of files behind the title, in the person's language. */
function titled(titles: Titles, label: string): ShownReview | null {
  const known = Object.entries(titles).filter(([title]) => {
    return label === title || label.startsWith(`${title} (`);
  });
  const [longest] = known.toSorted(([a], [b]) => b.length - a.length);
  return longest?.[1] ?? null;
}
