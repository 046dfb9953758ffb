// The meaning of each key in the tree, the same as in VS Code's own trees if they have it. Keys
// that the manifest declares as keybindings are left to VS Code, because the user may have changed
// them.

import type { WebviewAction } from '../messages/messages.ts';

export type TreeKey =
  | {
      readonly kind: 'move';
      readonly to: 'up' | 'down' | 'pageUp' | 'pageDown' | 'home' | 'end';
      readonly extend: boolean;
    }
  | {
      readonly kind:
        | 'unfold'
        | 'fold'
        | 'unfoldAll'
        | 'toggle'
        | 'selectAll'
        | 'undo'
        | 'redo'
        | 'moveOut'
        | 'moveIn'
        | 'copy'
        | 'escape'
        | 'menu';
    }
  | { readonly kind: 'type'; readonly text: string };

export interface Pressed {
  readonly key: string;
  /** The physical key, because with Alt the letter itself may differ. */
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly shiftKey: boolean;
}

const plain: Readonly<Record<string, TreeKey>> = {
  ArrowRight: { kind: 'unfold' },
  ArrowLeft: { kind: 'fold' },
  '*': { kind: 'unfoldAll' },
  ' ': { kind: 'toggle' },
  Escape: { kind: 'escape' },
  ContextMenu: { kind: 'menu' },
};

const withCommand: Readonly<Record<string, TreeKey>> = {
  a: { kind: 'selectAll' },
  z: { kind: 'undo' },
  y: { kind: 'redo' },
  c: { kind: 'copy' },
};

const withAltAndShift: Readonly<Record<string, TreeKey>> = {
  ArrowLeft: { kind: 'moveOut' },
  ArrowRight: { kind: 'moveIn' },
};

const declared = {
  plain: { Enter: 'open', F2: 'rename', Delete: 'remove' },
  command: { f: 'filter', Enter: 'run' },
  alt: { ArrowUp: 'moveUp', ArrowDown: 'moveDown' },
  /**
   * Alt with a letter opens a menu of the window, and Alt with left or right navigates its history.
   * Menus also open with Shift held, so no letter here is one of theirs (F E S V G R T H).
   */
  altAndShift: {
    KeyN: 'newTask',
    KeyP: 'newEpic',
    KeyM: 'moveToEpic',
    KeyB: 'addBlocker',
    KeyU: 'removeBlocker',
    KeyD: 'duplicate',
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, WebviewAction>>>>;

const moves = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  PageUp: 'pageUp',
  PageDown: 'pageDown',
  Home: 'home',
  End: 'end',
} as const;

/** Returns null if the key does not belong to the tree. */
export function treeKey(pressed: Pressed): TreeKey | null {
  const { key, altKey, shiftKey } = pressed;
  const hasCommand = pressed.ctrlKey || pressed.metaKey;
  if (hasCommand && shiftKey && key.toLowerCase() === 'z') return { kind: 'redo' };
  if (hasCommand) return own(withCommand, key.length === 1 ? key.toLowerCase() : key);
  if (altKey) return shiftKey ? own(withAltAndShift, pressed.code) : null;
  if (Object.hasOwn(moves, key))
    return { kind: 'move', to: moves[key as keyof typeof moves], extend: shiftKey };
  if (shiftKey && key === 'F10') return { kind: 'menu' };
  const known = own(plain, key);
  if (known !== null) return known;
  return key.length === 1 ? { kind: 'type', text: key } : null;
}

/** The action that the manifest declares for it, or null if it declares none. */
export function declaredAction(pressed: Pressed): WebviewAction | null {
  const { key, code, altKey, shiftKey } = pressed;
  if (pressed.ctrlKey || pressed.metaKey)
    return altKey || shiftKey
      ? null
      : own(declared.command, key.length === 1 ? key.toLowerCase() : key);
  if (altKey) return shiftKey ? own(declared.altAndShift, code) : own(declared.alt, code);
  return shiftKey ? null : own(declared.plain, key);
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | null {
  return Object.hasOwn(table, key) ? (table[key] ?? null) : null;
}

const typeAheadMs = 1_000;

/**
 * Collects letters that are typed in quick succession, and finds the next row that starts with
 * them.
 */
export class TypeAhead {
  #text = '';
  #lastMs = Number.NEGATIVE_INFINITY;

  /** The index to move to, or -1. */
  find(letter: string, titles: readonly string[], from: number, nowMs: number): number {
    this.#text = nowMs - this.#lastMs > typeAheadMs ? letter : this.#text + letter;
    this.#lastMs = nowMs;
    const wanted = this.#text.toLowerCase();
    const first = wanted.length === 1 ? from + 1 : from;
    for (let step = 0; step < titles.length; step += 1) {
      const index = (first + step) % titles.length;
      if (titles[index]?.toLowerCase().startsWith(wanted)) return index;
    }
    return -1;
  }
}
