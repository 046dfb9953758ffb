// All VS Code messages go through this file, so that they are plain text and tests can read them.

import * as vscode from 'vscode';
import { toFailure } from '../backend/failure.ts';
import type { CommandId } from '../ids.ts';
import { plainText } from './plain-text.ts';

export type MessageLevel = 'info' | 'warning' | 'error';

const openSettings = 'Open .drover.toml';
const openSettingsCommand: CommandId = 'drover.openProjectSettings';
const shownMax = 200;
const textMax = 400;
/** The length allows a fingerprint and a verb. */
const buttonMax = 60;

export class Messages {
  readonly #log: vscode.LogOutputChannel;
  readonly #shown: string[] = [];

  constructor(log: vscode.LogOutputChannel) {
    this.#log = log;
  }

  get shown(): readonly string[] {
    return this.#shown;
  }

  /** Resolves with the pressed button, or null if the message was closed without one. */
  async show(
    level: MessageLevel,
    text: string,
    buttons: readonly string[] = [],
  ): Promise<string | null> {
    const plain = this.#note(text);
    const titles = buttons.map((button) => plainText(button, buttonMax));
    const chosen = await show(level, plain, titles);
    const at = titles.indexOf(chosen ?? '');
    return buttons[at] ?? null;
  }

  /** Shows a message without waiting for an answer, so that the caller can continue. */
  tell(level: MessageLevel, text: string): void {
    void this.show(level, text);
  }

  /** Asks for confirmation before an action; returns true if the person confirms. */
  async confirm(text: string, detail: string, button: string, close = ''): Promise<boolean> {
    return (await this.choose(text, detail, [button], close)) === button;
  }

  /**
   * Asks before an action that has several options; returns null if the person cancels. `close`
   * names the button that does nothing, in case VS Code's own "Cancel" could be mistaken for the
   * action.
   */
  async choose<Button extends string>(
    text: string,
    detail: string,
    buttons: readonly Button[],
    close = '',
  ): Promise<Button | null> {
    const options = { modal: true, detail: plainText(detail, textMax) };
    const items: readonly vscode.MessageItem[] = [
      ...buttons.map((title) => ({ title })),
      ...(close === '' ? [] : [{ title: close, isCloseAffordance: true }]),
    ];
    const pressed = await vscode.window.showWarningMessage(this.#note(text), options, ...items);
    return buttons.find((button) => button === pressed?.title) ?? null;
  }

  /** A failure that a person caused or must know about; `what` could not be done. */
  fail(what: string | null, error: unknown): void {
    const { kind, message } = toFailure(error);
    const text = what === null ? message : `${what}: ${message}`;
    this.#log.error(text);
    if (kind !== 'bad_configuration') return this.tell('error', text);
    void this.show('error', text, [openSettings]).then((pressed) => {
      if (pressed === openSettings) void vscode.commands.executeCommand(openSettingsCommand);
    });
  }

  #note(text: string): string {
    const plain = plainText(text, textMax);
    this.#shown.push(plain);
    if (this.#shown.length > shownMax) this.#shown.shift();
    this.#log.debug(`message: ${plain}`);
    return plain;
  }
}

function show(
  level: MessageLevel,
  text: string,
  buttons: readonly string[],
): Thenable<string | undefined> {
  switch (level) {
    case 'info':
      return vscode.window.showInformationMessage(text, ...buttons);
    case 'warning':
      return vscode.window.showWarningMessage(text, ...buttons);
    case 'error':
      return vscode.window.showErrorMessage(text, ...buttons);
  }
}
