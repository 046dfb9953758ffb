// The standard input of a program that reads JSON lines.

import type { AgentChild } from '../process/spawn.ts';

export class JsonInput {
  readonly #stdin: AgentChild['stdin'];

  constructor({ stdin }: Pick<AgentChild, 'stdin'>) {
    this.#stdin = stdin;
  }

  /** Lost if the program has closed its input. Its exit code explains why. */
  write(message: unknown): void {
    if (this.#stdin?.writable === true) this.#stdin.write(`${JSON.stringify(message)}\n`);
  }

  close(): void {
    this.#stdin?.end();
  }
}
