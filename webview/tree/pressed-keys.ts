// The keys that are pressed on the rows, in order. Keys that are not the tree's own are left to VS
// Code, whose keybindings determine their effect: a key's command comes back from the extension a
// moment later, or never. Keys in between wait, because they may be meant for the row that moves up
// or for the field that opens.

import type { WebviewAction } from '../messages/messages.ts';
import { declaredAction, treeKey, type TreeKey } from './keys.ts';
import type { Selection } from './selection.ts';

export interface PressParts {
  readonly selection: () => Selection;
  readonly act: (key: TreeKey) => void;
  /** Whether VS Code would execute a key that is left to it. */
  readonly mayLeave: () => boolean;
  readonly carryOut: (action: WebviewAction) => void;
  /** Answered after all commands of the keys that were pressed before. */
  readonly ask: () => Promise<unknown>;
  /** The field that has the focus once everything is drawn. */
  readonly field: () => Promise<HTMLInputElement | null>;
}

interface LeftKey {
  readonly kind: 'left';
  /** If null, runs the command that the user has bound to it. */
  readonly action: WebviewAction | null;
  /**
   * The time at which it was pressed, to which its command applies. Null if other keys come first.
   */
  readonly selection: Selection | null;
}

type Waiting = LeftKey | { readonly kind: 'typed'; readonly event: KeyboardEvent };

/** Keys that are not commands by themselves, belong to the browser, or are part of a character. */
const passing: ReadonlySet<string> = new Set(
  'Shift Control Alt AltGraph Meta CapsLock NumLock ScrollLock Tab Dead Process Unidentified'.split(
    ' ',
  ),
);

export class PressedKeys {
  readonly #parts: PressParts;
  /** The first one is always a key that was left to VS Code. */
  #waiting: readonly Waiting[] = [];

  constructor(parts: PressParts) {
    this.#parts = parts;
  }

  press(event: KeyboardEvent): void {
    if (passing.has(event.key) || event.isComposing) return;
    // The window would switch its editors to overtype.
    if (isPlainInsert(event)) return event.stopPropagation();
    const key = treeKey(event);
    if (key === null && !this.#isOfText(event)) return this.#leave(event);
    event.preventDefault();
    // The key would have the same effect there as on the rows.
    if (key === null) event.stopPropagation();
    if (this.#waiting.length > 0) this.#waiting = [...this.#waiting, { kind: 'typed', event }];
    else if (key !== null) this.#parts.act(key);
  }

  /** The selection when the key of this command was pressed. Returns null if no key is waiting. */
  commanded(action: WebviewAction, byKey: boolean): Selection | null {
    const wanted = byKey ? action : null;
    const found = this.#waiting.find((each) => each.kind === 'left' && each.action === wanted);
    if (found?.kind !== 'left') return null;
    const at = this.#waiting.indexOf(found);
    // VS Code has found no command for the previous keys.
    const before = this.#waiting.slice(0, at);
    this.#waiting = this.#waiting.slice(at + 1);
    this.#actOn(before);
    return found.selection ?? this.#parts.selection();
  }

  /** Releases the keys after the executed command. */
  release(): void {
    void this.#release();
  }

  async #release(): Promise<void> {
    while (this.#waiting[0]?.kind === 'typed') {
      const field = await this.#parts.field();
      const [next, ...others] = this.#waiting;
      if (next?.kind !== 'typed') return;
      this.#waiting = others;
      if (field === null) this.#actOn([next]);
      else typeInto(field, next.event);
    }
  }

  #actOn(waiting: readonly Waiting[]): void {
    for (const each of waiting) {
      const key = each.kind === 'typed' ? treeKey(each.event) : null;
      if (key !== null) this.#parts.act(key);
    }
  }

  /** Enter and similar keys after letters, which end or correct the text. */
  #isOfText({ ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
    const isEnd = (each: Waiting): boolean =>
      each.kind === 'left' || each.event.key === 'Enter' || each.event.key === 'Escape';
    const text = this.#waiting.slice(this.#waiting.findLastIndex(isEnd) + 1);
    const hasLetter = text.some((each) => each.kind === 'typed' && isLetter(each.event));
    return hasLetter && !ctrlKey && !metaKey && !altKey;
  }

  #leave(event: KeyboardEvent): void {
    const action = declaredAction(event);
    // A button on the rows would also be pressed.
    if (action !== null) event.preventDefault();
    // Right after the click that moved the focus here, VS Code would not act yet.
    if (action !== null && this.#waiting.length === 0 && !this.#parts.mayLeave()) {
      event.stopPropagation();
      return this.#parts.carryOut(action);
    }
    const selection = this.#waiting.length === 0 ? this.#parts.selection() : null;
    const left: LeftKey = { kind: 'left', action, selection };
    this.#waiting = [...this.#waiting, left];
    const settle = (): void => {
      if (!this.#waiting.includes(left)) return;
      this.#waiting = this.#waiting.filter((each) => each !== left);
      this.release();
    };
    this.#parts.ask().then(settle, settle);
  }
}

export function focusedField(root: ShadowRoot | null): HTMLInputElement | null {
  let focused: Element | null = root?.activeElement ?? null;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused instanceof HTMLInputElement ? focused : null;
}

/** The event must not come from one of their fields or from the elements around them. */
export function isOnRows(root: ShadowRoot | null, rows: HTMLElement | null): boolean {
  const focused = root?.activeElement ?? null;
  if (focused instanceof HTMLInputElement) return false;
  return focused === null || rows?.contains(focused) === true;
}

function isPlainInsert({ key, ctrlKey, metaKey, altKey, shiftKey }: KeyboardEvent): boolean {
  return key === 'Insert' && !ctrlKey && !metaKey && !altKey && !shiftKey;
}

function isLetter({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  return key.length === 1 && !ctrlKey && !metaKey && !altKey;
}

/** A browser types nothing for an event that a script dispatches. */
function typeInto(field: HTMLInputElement, event: KeyboardEvent): void {
  if (!isLetter(event) && event.key !== 'Backspace') {
    field.dispatchEvent(new KeyboardEvent('keydown', event));
    return;
  }
  const end = field.selectionEnd ?? field.value.length;
  const start = field.selectionStart ?? end;
  const isSingle = event.key === 'Backspace' && start === end;
  const text = event.key === 'Backspace' ? '' : event.key;
  field.setRangeText(text, isSingle ? Math.max(0, start - 1) : start, end, 'end');
  field.dispatchEvent(new InputEvent('input', { bubbles: true, composed: true }));
}
