// A persistent git process that answers one question after another: starting git takes
// milliseconds, a question to a running one a fraction of that. It ends after idle time, and with
// its owner, whose end closes its input.

import { spawn, type ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { err, ok, type Result } from '../../core/failure.ts';
import { BoundedBuffer } from '../../platform/bounded-buffer.ts';
import { Ending, signalGroup } from '../../platform/ending.ts';
import { gitOutput, outputLimits, type GitRequest } from './run-once.ts';
import { type GitOutput } from '../git-command.ts';
import type { Conversation, Question } from '../git-command.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

const idleMs = 10_000;
/** Answers come from memory or a few files, so a process that takes longer hangs. */
const answerMs = 60_000;
const maxErrorBytes = 64 * 1024;

export class ProcessConversation implements Conversation {
  readonly #start: () => Promise<GitRequest>;
  #process: TalkingProcess | null = null;
  #turn: Promise<unknown> = Promise.resolve();
  #idleTimer: NodeJS.Timeout | null = null;

  constructor(start: () => Promise<GitRequest>) {
    this.#start = start;
  }

  /** Asks in order. The failure is git's output when it ended. */
  ask<T>(question: Question<T>): Promise<Result<T, GitOutput>> {
    const answer = this.#turn.then(() => this.#askTwice(question));
    this.#turn = answer.catch(() => undefined);
    return answer;
  }

  /** A killed process gives no reason, so another process is asked. */
  async #askTwice<T>(question: Question<T>): Promise<Result<T, GitOutput>> {
    const answer = await this.#askOnce(question);
    const isLost = !answer.ok && answer.error.problem === null && answer.error.stderr === '';
    return isLost ? this.#askOnce(question) : answer;
  }

  async #askOnce<T>(question: Question<T>): Promise<Result<T, GitOutput>> {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    if (this.#process === null || this.#process.hasEnded)
      this.#process = new TalkingProcess(await this.#start());
    const answer = await this.#process.answer(question);
    this.#idleTimer = setTimeout(() => this.#rest(), idleMs).unref();
    return answer;
  }

  #rest(): void {
    this.#process?.retire();
    this.#process = null;
  }
}

class TalkingProcess {
  readonly #request: GitRequest;
  readonly #child: ChildProcess;
  #stderr = new BoundedBuffer(maxErrorBytes);
  #hear: ((chunk: Buffer) => void) | null = null;
  #lost: (() => void) | null = null;
  #code: number | null = null;
  hasEnded = false;

  constructor(request: GitRequest) {
    this.#request = request;
    this.#child = spawn(request.binary, [...request.args], {
      cwd: request.cwd,
      env: { ...request.environment, ...request.addedEnvironment },
      stdio: 'pipe',
      windowsHide: true,
      // A separate group, so that Ctrl-C does not reach it.
      detached: thisPlatform.hasProcessGroups,
    });
    this.#child.on('error', (error) => {
      this.#stderr.add(Buffer.from(error.message));
      this.#end();
    });
    this.#child.on('close', (code) => {
      this.#code = code;
      this.#end();
    });
    this.#child.stdin?.on('error', () => undefined);
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#hear?.(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#stderr.add(chunk));
    this.#child.unref();
    this.#keepAlive(false);
  }

  answer<T>({ input, read }: Question<T>): Promise<Result<T, GitOutput>> {
    return new Promise((resolve) => {
      const stdout = new BoundedBuffer(this.#request.maxOutputBytes);
      this.#stderr = this.hasEnded ? this.#stderr : new BoundedBuffer(maxErrorBytes);
      const settle = (answer: Result<T, GitOutput>): void => {
        ending.clear();
        this.#hear = null;
        this.#lost = null;
        this.#keepAlive(false);
        resolve(answer);
      };
      this.#lost = () => {
        const problem = ending.problem ?? (this.#child.pid === undefined ? 'missing' : null);
        const output = { stdout: stdout.bytes(), stderr: this.#stderr.bytes() };
        settle(err(gitOutput(this.#request, { code: this.#code, ...output, problem })));
      };
      const ending = new Ending(
        { ...outputLimits(this.#request, null), timeoutMs: answerMs },
        (name) => signalGroup(this.#child, name),
        () => this.#end(),
      );
      this.#hear = (chunk) => {
        if (!stdout.add(chunk)) return ending.end('too_much_output');
        const value = read(stdout.bytes());
        if (value !== null) settle(ok(value));
      };
      this.#keepAlive(true);
      if (this.hasEnded) this.#end();
      else this.#child.stdin?.write(input);
    });
  }

  /** Stops using the process. */
  retire(): void {
    this.hasEnded = true;
    this.#child.stdin?.end();
  }

  #end(): void {
    this.hasEnded = true;
    this.#lost?.();
  }

  /** Only an open question keeps this process alive. */
  #keepAlive(isWanted: boolean): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      const socket = stream as Socket | null;
      if (isWanted) socket?.ref();
      else socket?.unref();
    }
  }
}
