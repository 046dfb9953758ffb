// Starts git from small shells beside this process. Starting a process first copies the starter's
// memory map, which takes milliseconds for a backend and a fraction of one for a shell.
//
// Each shell runs one git process after another, with argument arrays: its script is constant, and
// all variable parts are lines of data, which it never treats as commands. Calls that do not fit
// this format run in this process.

import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import { BoundedBuffer } from '../../platform/bounded-buffer.ts';
import { Ending, signalGroup } from '../../platform/ending.ts';
import type { RunElsewhere } from './process.ts';
import { gitOutput, outputLimits, noOutput, type GitRequest } from './run-once.ts';
import { type GitOutput } from '../git-command.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

/**
 * A request is the folder, then one line per word: `.` an argument, `=` a variable, `+` the input
 * with printf escapes, and an empty line at the end. Without that end the sender died while
 * writing, and nothing is run. The mark after an output is secret. SIGTERM reaches the whole group
 * but only ends git.
 */
export const shellScript = `
trap : TERM
mark=$1
while IFS= read -r folder; do
  set --
  names=
  input=
  while :; do
    IFS= read -r word || exit
    case $word in
      .*) set -- "$@" "\${word#.}" ;;
      =*) word=\${word#=}; export "$word"; names="$names \${word%%=*}" ;;
      +*) input=$word ;;
      *) break ;;
    esac
  done
  if cd "$folder"; then
    unset PWD OLDPWD
    if [ -n "$input" ]; then printf '%b' "\${input#+}" | "$@"; else "$@" < /dev/null; fi
    code=$?
    cd /
  else
    code=127
  fi
  [ -z "$names" ] || unset $names
  printf '%s %3d\\n' "$mark" "$code" >&2
  printf '%s %3d\\n' "$mark" "$code"
done
`;

/** The exit code of a shell that found no program. */
const codeMissing = 127;
/** Higher codes encode the signal that ended the process. */
const codeOfSignals = 129;
const maxErrorBytes = 64 * 1024;
/** How long a shell's output is read after its exit. */
const outputGraceMs = 500;
/** Longer requests run in this process, because a shell reads byte by byte. */
const requestMax = 16 * 1024;

export interface ShellsOptions {
  readonly most: number;
  /** Shells end after this long without a request. */
  readonly idleMs: number;
}

const defaults: ShellsOptions = { most: 4, idleMs: 10_000 };

export class GitShells {
  readonly #options: ShellsOptions;
  readonly #shells = new Set<Shell>();
  #idleTimer: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(given: Partial<ShellsOptions> = {}) {
    this.#options = { ...defaults, ...given };
  }

  readonly run: RunElsewhere = (request, signal) => {
    // Such a process could keep a shell's output open and write into the next answer.
    if (request.mayLeaveOthers) return null;
    const lines = linesOf(request);
    if (lines === null || this.#isClosed || !thisPlatform.hasShell) return null;
    if (signal?.aborted) return Promise.resolve(noOutput('aborted'));
    const shell = this.#idle(request.environment) ?? this.#begin(request.environment);
    if (shell === null) return null;
    this.#restAfter(this.#options.idleMs);
    return shell.run(request, lines, signal);
  };

  /** Running git processes finish. */
  close(): void {
    this.#isClosed = true;
    this.#letGo();
  }

  #idle(environment: GitRequest['environment']): Shell | null {
    for (const shell of this.#shells) {
      if (shell.environment === environment && !shell.isBusy) return shell;
    }
    return null;
  }

  #begin(environment: GitRequest['environment']): Shell | null {
    if (this.#shells.size >= this.#options.most) return null;
    const shell = new Shell(environment, () => this.#shells.delete(shell));
    if (shell.isGone) return null;
    this.#shells.add(shell);
    return shell;
  }

  #restAfter(idleMs: number): void {
    if (this.#idleTimer !== null) this.#idleTimer.refresh();
    else this.#idleTimer = setTimeout(() => this.#letGo(), idleMs).unref();
  }

  #letGo(): void {
    if (this.#idleTimer !== null) clearTimeout(this.#idleTimer);
    this.#idleTimer = null;
    for (const shell of this.#shells) shell.retire();
  }
}

/** The current call of one shell. */
interface Work {
  hear(stream: 'stdout' | 'stderr', chunk: Buffer): void;
  lost(): void;
}

class Shell {
  readonly environment: GitRequest['environment'];
  readonly #child: ChildProcess;
  readonly #mark = randomBytes(16).toString('hex');
  readonly #onEnd: () => void;
  #work: Work | null = null;

  constructor(environment: GitRequest['environment'], onEnd: () => void) {
    this.environment = environment;
    this.#onEnd = onEnd;
    this.#child = spawn('/bin/sh', ['-c', shellScript, 'drover-git', this.#mark], {
      cwd: '/',
      env: environment,
      stdio: 'pipe',
      // A separate group, so that Ctrl-C does not reach it and a signal can reach git through it.
      detached: true,
    });
    const end = (): void => {
      onEnd();
      this.#work?.lost();
    };
    this.#child.on('error', end);
    this.#child.on('close', end);
    // `close` may come much later, if a process that git started keeps the output open.
    this.#child.on('exit', () => {
      onEnd();
      setTimeout(end, outputGraceMs).unref();
    });
    this.#child.stdin?.on('error', () => undefined);
    for (const stream of ['stdout', 'stderr'] as const) {
      this.#child[stream]?.on('data', (chunk: Buffer) => this.#work?.hear(stream, chunk));
    }
    this.#child.unref();
    this.#keepAlive(false);
  }

  get isBusy(): boolean {
    return this.#work !== null;
  }

  get isGone(): boolean {
    return this.#child.pid === undefined;
  }

  /** Accepts no further calls. The running one finishes. */
  retire(): void {
    this.#onEnd();
    this.#child.stdin?.end();
  }

  run(request: GitRequest, lines: string, signal: AbortSignal | null): Promise<GitOutput> {
    return new Promise((resolve) => {
      const stdout = new MarkedOutput(this.#mark, request.maxOutputBytes);
      const stderr = new MarkedOutput(this.#mark, maxErrorBytes);
      const settle = (code: number): void => {
        this.#work = null;
        this.#keepAlive(false);
        ending.clear();
        // A signal that arrived after git had ended may still end the shell.
        if (ending.problem !== null) this.retire();
        const output = { stdout: stdout.bytes(), stderr: stderr.bytes() };
        resolve(gitOutput(request, { code, ...output, problem: ending.problem }));
      };
      const ending = new Ending(
        outputLimits(request, signal),
        (name) => this.#kill(name),
        () => this.#work?.lost(),
      );
      this.#work = {
        hear: (stream, chunk) => {
          if (stream === 'stderr') stderr.add(chunk);
          else if (!stdout.add(chunk)) ending.end('too_much_output');
          if (stdout.code === null || stderr.code === null) return;
          if (stdout.code === codeMissing) ending.problem ??= 'missing';
          settle(stdout.code === codeMissing || stdout.code >= codeOfSignals ? -1 : stdout.code);
        },
        lost: () => {
          ending.problem ??= 'aborted';
          settle(-1);
        },
      };
      this.#keepAlive(true);
      this.#child.stdin?.write(lines);
    });
  }

  /** Only a running git keeps this process alive. */
  #keepAlive(isWanted: boolean): void {
    for (const stream of [this.#child.stdin, this.#child.stdout, this.#child.stderr]) {
      const socket = stream as Socket | null;
      if (isWanted) socket?.ref();
      else socket?.unref();
    }
  }

  #kill(signal: NodeJS.Signals): void {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) signalGroup(this.#child, signal);
  }
}

/** An output that ends with a mark and the exit code. */
class MarkedOutput {
  readonly #mark: string;
  readonly #kept: BoundedBuffer;
  /** The last bytes, which may be part of the mark. */
  #tail: Buffer = Buffer.alloc(0);
  code: number | null = null;

  constructor(mark: string, limit: number) {
    this.#mark = mark;
    this.#kept = new BoundedBuffer(limit);
  }

  /** Returns false if the output exceeds the limit. */
  add(chunk: Buffer): boolean {
    const all = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk]);
    const end = all.length - (this.#mark.length + ' 127\n'.length);
    if (end < 0) {
      this.#tail = all;
      return true;
    }
    const last = all.toString('latin1', end);
    if (last.startsWith(this.#mark)) this.code = Number(last.slice(this.#mark.length));
    this.#tail = all.subarray(end);
    return end === 0 || this.#kept.add(all.subarray(0, end));
  }

  bytes(): Buffer {
    return this.#kept.bytes();
  }
}

/** Only characters that every shell reads and passes on unchanged. */
const plain = /^[ -~]*$/;
const variable = /^[A-Z][A-Z0-9_]*$/;

/** The request as lines for a shell. Returns null if it cannot be expressed as such lines. */
function linesOf(request: GitRequest): string | null {
  const { binary, args, cwd, environment, addedEnvironment, input } = request;
  if (!cwd.startsWith('/') || !binary.startsWith('/')) return null;
  const lines = [cwd, `.${binary}`];
  for (const [name, value] of Object.entries(addedEnvironment)) {
    // The variable is unset afterwards, so it must not have existed before.
    if (!variable.test(name) || environment[name] !== undefined) return null;
    lines.push(`=${name}=${value}`);
  }
  for (const arg of args) lines.push(`.${arg}`);
  if (input !== null) {
    const bytes = typeof input === 'string' ? Buffer.from(input) : input;
    if (bytes.length > requestMax / 4) return null;
    lines.push(`+${escaped(bytes)}`);
  }
  if (!lines.every((line) => plain.test(line))) return null;
  const text = `${lines.join('\n')}\n\n`;
  return text.length > requestMax ? null : text;
}

/** Escapes for `%b` of printf. */
function escaped(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x5c;
    text += isPlain ? String.fromCharCode(byte) : `\\0${byte.toString(8).padStart(3, '0')}`;
  }
  return text;
}
