// Keys that the manifest declares for the task tree. A person may change or remove each of them, so
// only VS Code's keybindings decide: the tree's page leaves these keys to VS Code, and acts once
// the command has arrived here and was passed to the page. Pure.

import { isOneOf } from '../../server/core/one-of.ts';
import type { ToWebview, WebviewAction } from '../../webview/messages/messages.ts';
import { forwardedCommands, type CommandId } from '../ids.ts';

/** Set by the `args` of a declared key; the same command in a menu or the palette has none. */
export function isKeyOfTree([first]: readonly unknown[]): boolean {
  return typeof first === 'object' && first !== null && 'key' in first && first.key === 'tree';
}

/** The tree's action for this command's key, or null if it has none. */
export function actionOfKey(id: CommandId): WebviewAction | null {
  if (id === 'drover.openStream') return 'open';
  if (id === 'drover.runEpic') return 'run';
  return isForwarded(id) ? forwardedCommands[id] : null;
}

export function isForwarded(id: CommandId): id is keyof typeof forwardedCommands {
  return isOneOf(Object.keys(forwardedCommands), id);
}

/** The push that makes the tree act on its key. */
export function pushOfKey(id: CommandId): Extract<ToWebview, { type: 'do' }> | null {
  const action = actionOfKey(id);
  return action === null ? null : { type: 'do', action, ids: [], byKey: true };
}

/**
 * Answers the tree once VS Code has sent its commands for the keys pressed so far. Until then, the
 * tree holds later keys, because a removed keybinding sends no other answer.
 */
export class KeysOnTheirWay {
  readonly #commands = new Set<Promise<void>>();
  readonly #throughWindow: () => PromiseLike<unknown>;

  /** `throughWindow` goes to VS Code's window and back. */
  constructor(throughWindow: () => PromiseLike<unknown>) {
    this.#throughWindow = throughWindow;
  }

  /** A command that a webview executes: its own key may have called it. */
  async follow(command: Promise<void>): Promise<void> {
    this.#commands.add(command);
    try {
      await command;
    } finally {
      this.#commands.delete(command);
    }
  }

  /**
   * VS Code sends a key's command before the request that the page sends after it, except the first
   * time: then it first asks every extension host about the command, which takes one round trip.
   */
  async done(): Promise<void> {
    await this.#throughWindow();
    await this.#throughWindow();
    await Promise.allSettled(this.#commands);
  }
}
