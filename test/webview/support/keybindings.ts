// The keybindings of the manifest, as VS Code reads them if nothing was changed.

import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isOneOf } from '../../../server/core/one-of.ts';
import { commandIds, type CommandId } from '../../../extension/ids.ts';
import type { WebviewName } from '../../../webview/messages/messages.ts';
import type { Pressed } from '../../../webview/tree/keys.ts';

export type PressedInPage = Pressed;

interface Keybinding {
  readonly command: string;
  readonly key: string;
  readonly when?: string;
  readonly args?: unknown;
}

const manifest = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../../../package.json'), 'utf8'),
) as { readonly contributes: { readonly keybindings: readonly Keybinding[] } };

/** Those that count only while the keyboard is in this webview: the tree alone has such. */
export function keybindingsOf(webview: WebviewName): readonly Keybinding[] {
  const { keybindings } = manifest.contributes;
  return keybindings.filter(
    ({ when }) => webview === 'tree' && when === 'drover.inTree && !inputFocus && !listFocus',
  );
}

/** Returns null if VS Code has no binding of ours for this key. */
export function commandOf(webview: WebviewName, pressed: Pressed): CommandId | null {
  const found = keybindingsOf(webview).find(({ key }) => key === chordOf(pressed));
  return found !== undefined && isOneOf(commandIds, found.command) ? found.command : null;
}

const names: Readonly<Record<string, string>> = { ArrowUp: 'up', ArrowDown: 'down' };

function chordOf({ key, code, ctrlKey, altKey, shiftKey }: Pressed): string {
  const letter = /^Key([A-Z])$/u.exec(code)?.[1];
  const name = (letter ?? names[key] ?? key).toLowerCase();
  const held = [ctrlKey ? 'ctrl' : '', altKey ? 'alt' : '', shiftKey ? 'shift' : ''];
  return [...held.filter((each) => each !== ''), name].join('+');
}

const keys: Readonly<Record<string, string>> = {
  enter: 'Enter',
  delete: 'Delete',
  up: 'ArrowUp',
  down: 'ArrowDown',
  f2: 'F2',
};

/** The event of a key as the manifest writes it. */
export function pressed(chord: string): Pressed {
  const parts = chord.split('+');
  const name = parts.at(-1) ?? '';
  const key = keys[name] ?? name;
  return {
    key,
    code: key.length === 1 ? `Key${key.toUpperCase()}` : key,
    ctrlKey: parts.includes('ctrl'),
    metaKey: false,
    altKey: parts.includes('alt'),
    shiftKey: parts.includes('shift'),
  };
}
