// One life of the helper process: conversations by id over its channel, and what becomes of them
// when it dies.

import { fork, type ChildProcess } from 'node:child_process';
import type { FromHelper, Heard, ToHelper } from './helper-messages.ts';

export interface Conversation {
  hear(message: Heard): void;
  /** The helper is gone; nothing more will be heard. */
  lost(): void;
}

/**
 * It runs little code for a long time: V8's optimizing compilers would load more of Node into
 * memory than all of its own code, and the larger it is, the longer it takes to start processes.
 */
const helperNodeArgs: readonly string[] = [
  '--no-warnings',
  '--max-semi-space-size=1',
  '--optimize-for-size',
  '--no-opt',
  '--no-maglev',
];

export class HelperChannel {
  readonly #child: ChildProcess;
  readonly #open = new Map<number, Conversation>();
  readonly #environments = new Map<Readonly<Record<string, string>>, number>();
  readonly #idleMs: number;
  readonly #onEnd: (wasInUse: boolean) => void;
  #isReady = false;
  #hasEnded = false;
  #nextId = 1;
  #idleTimer: NodeJS.Timeout | null = null;

  /** `onEnd` is called once, before the conversations end. */
  constructor(program: string, idleMs: number, onEnd: (wasInUse: boolean) => void) {
    this.#idleMs = idleMs;
    this.#onEnd = onEnd;
    this.#child = fork(program, [], {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [...helperNodeArgs],
      env: ownEnvironment(),
    });
    this.#child.on('message', (message: FromHelper) => this.#hear(message));
    for (const event of ['error', 'exit', 'disconnect'] as const) {
      this.#child.once(event, () => this.#end());
    }
    // Neither it nor its channel keeps this process alive; only an open conversation does.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  /** False until it has said so itself. */
  get isReady(): boolean {
    return this.#isReady && this.#child.connected;
  }

  /** Starts a conversation; its id is part of its messages. */
  open(conversation: Conversation): number {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
    if (this.#open.size === 0) this.#child.channel?.ref();
    const id = this.#nextId;
    this.#nextId += 1;
    this.#open.set(id, conversation);
    return id;
  }

  close(id: number): void {
    if (!this.#open.delete(id) || this.#open.size > 0 || !this.#child.connected) return;
    this.#child.channel?.unref();
    this.#idleTimer = setTimeout(() => this.letGo(), this.#idleMs).unref();
  }

  /** A channel that broke says so by `disconnect`, which ends every conversation. */
  send(message: ToHelper): void {
    if (this.#child.connected) this.#child.send(message, () => undefined);
  }

  /** The number that an environment has over there; it is sent only once. */
  environmentNumber(variables: Readonly<Record<string, string>>): number {
    const known = this.#environments.get(variables);
    if (known !== undefined) return known;
    const number = this.#environments.size;
    this.#environments.set(variables, number);
    this.send({ kind: 'environment', number, variables });
    return number;
  }

  /** It brings its git processes to an end, and ends. */
  letGo(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }

  #hear(message: FromHelper): void {
    if (message.kind === 'ready') this.#isReady = true;
    else this.#open.get(message.id)?.hear(message);
  }

  #end(): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    const left = [...this.#open.values()];
    this.#open.clear();
    this.#onEnd(left.length > 0);
    for (const conversation of left) conversation.lost();
  }
}

/** What Node itself needs; git and agents get their environment with each request. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const names = ['PATH', 'SystemRoot', 'TEMP', 'TMPDIR', 'ELECTRON_RUN_AS_NODE'];
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
