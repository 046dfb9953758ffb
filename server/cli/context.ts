// One call of the command: its folder, its output, and its client, which is closed at the end.

import { resolve } from 'node:path';
import { Refusal } from '../core/failure.ts';
import type { Client } from '../protocol/api.ts';
import type { BackendNeed } from './backends.ts';
import { jsonLine, plainText } from './plain-text.ts';
import type { Surroundings } from './surroundings.ts';

export interface GlobalOptions {
  readonly json: boolean;
  readonly color: boolean;
  /** The value of `-C`, or null. */
  readonly directory: string | null;
}

export class CommandContext {
  readonly surroundings: Surroundings;
  readonly json: boolean;
  readonly color: boolean;
  readonly directory: string;
  readonly #clients = new Set<Client>();

  constructor(surroundings: Surroundings, options: GlobalOptions) {
    this.surroundings = surroundings;
    this.json = options.json;
    this.directory = resolve(surroundings.cwd, options.directory ?? '.');
    const { env, stdout } = surroundings;
    const noColor = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
    this.color = options.color && stdout.isTTY && !noColor;
  }

  /** For people, on standard output. Prints nothing with `--json`. */
  say(text: string): void {
    if (!this.json) this.surroundings.stdout.write(`${text}\n`);
  }

  /** For people, on standard error. */
  tell(text: string): void {
    this.surroundings.stderr.write(`${text}\n`);
  }

  /**
   * Text by agents and repositories: sanitized for a terminal, unchanged for a file (a patch must
   * apply).
   */
  foreign(text: string): string {
    return this.surroundings.stdout.isTTY ? plainText(text) : text;
  }

  /** Prints the result: JSON for programs, otherwise the text for people. */
  answer(value: unknown, text: string): void {
    if (this.json) this.printJson(value);
    else this.surroundings.stdout.write(text === '' ? '' : `${text}\n`);
  }

  printJson(value: unknown): void {
    this.surroundings.stdout.write(`${jsonLine(value)}\n`);
  }

  async root(): Promise<string> {
    const { findProject } = await this.surroundings.loadBackends();
    const root = findProject(this.directory);
    if (root === null) {
      throw new Refusal(
        'no_project',
        `No Drover project in ${this.directory} or its parent folders. Run "drover init" first.`,
      );
    }
    return root;
  }

  async client(
    need: Exclude<BackendNeed, 'existing'>,
    settingsFlags: Record<string, unknown> = {},
  ): Promise<Client> {
    const client = await this.#open(need, settingsFlags);
    if (client === null) throw new Error('The backend could not be reached or started.');
    return client;
  }

  async existingClient(): Promise<Client | null> {
    return await this.#open('existing', {});
  }

  /** Closes the client if one is open. */
  close(): void {
    for (const client of this.#clients) client.close();
    this.#clients.clear();
  }

  async #open(need: BackendNeed, settingsFlags: Record<string, unknown>): Promise<Client | null> {
    const root = await this.root();
    const { openClient } = await this.surroundings.loadBackends();
    const { env } = this.surroundings;
    const client = await openClient({ root, need, env, settingsFlags });
    if (client !== null) this.#clients.add(client);
    return client;
  }
}
