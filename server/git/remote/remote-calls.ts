// Starts the git processes that talk to the shared remote, and tracks whether it responds to this
// machine.

import type { RepositoryContext } from '../context.ts';
import { settings } from '../git-command.ts';
import type { RemoteHealth } from '../port.ts';
import { remoteFailure } from './remote-failures.ts';
import type { GitOutput } from '../git-command.ts';

const networkSettings = settings({ 'http.lowSpeedLimit': '1', 'http.lowSpeedTime': '15' });

/**
 * A listing is small, so a remote that takes longer for it counts as unreachable, even if it is
 * connected.
 */
const listMaxMs = 10_000;
/** After a more recent response, the remote is unlikely to be unreachable. */
const trustedForMs = 5_000;
/** Matches no ref: the response is short and only shows that the server responds. */
const probePattern = 'refs/drover/probe';

export class RemoteCalls implements RemoteHealth {
  readonly #context: RepositoryContext;
  readonly #remote: string;
  readonly #timeoutMs: number;
  #answeredAtMs = 0;
  #awaySinceMs: number | null = null;
  /** The last request without a response, and when it failed. */
  #unanswered: { readonly output: GitOutput; readonly atMs: number } | null = null;
  readonly #unsent = new WeakSet<GitOutput>();
  #probing: Promise<GitOutput> | null = null;

  constructor(context: RepositoryContext, remote: string, timeoutMs: number) {
    this.#context = context;
    this.#remote = remote;
    this.#timeoutMs = timeoutMs;
  }

  get awaySinceMs(): number | null {
    return this.#awaySinceMs;
  }

  /** The failure that another caller got from an unreachable remote since then. */
  awayAnswerSince(sinceMs: number): GitOutput | null {
    if (this.#awaySinceMs === null || this.#unanswered === null) return null;
    return this.#unanswered.atMs >= sinceMs ? this.#unanswered.output : null;
  }

  /**
   * Returns false if the remote did not even answer a query, so that `run` cannot have had any
   * effect.
   */
  wasSent(output: GitOutput): boolean {
    return !this.#unsent.has(output);
  }

  async probe(): Promise<void> {
    await this.#probe();
  }

  /**
   * One query for all callers, because each query occupies a git process slot until it times out.
   */
  #probe(): Promise<GitOutput> {
    this.#probing ??= this.list([], [probePattern]).finally(() => {
      this.#probing = null;
    });
    return this.#probing;
  }

  list(options: readonly string[], patterns: readonly string[]): Promise<GitOutput> {
    const args = ['ls-remote', '-q', '--refs', ...options, this.#remote, ...patterns];
    return this.#start(args, Math.min(this.#timeoutMs, listMaxMs));
  }

  /**
   * On a network that drops all packets, a fetch or push hangs for minutes, so a small query is
   * sent first.
   */
  async run(args: readonly string[], input?: string): Promise<GitOutput> {
    if (Date.now() - this.#answeredAtMs > trustedForMs) {
      const probed = await this.#probe();
      if (this.#isAway(probed)) {
        this.#unsent.add(probed);
        return probed;
      }
    }
    return this.#whileAnswering((signal) => this.#start(args, this.#timeoutMs, { input, signal }));
  }

  /** A long transfer is fine, but one from an unreachable remote is aborted. */
  async #whileAnswering(body: (signal: AbortSignal) => Promise<GitOutput>): Promise<GitOutput> {
    const away = new AbortController();
    let unanswered: GitOutput | null = null;
    let asking: Promise<void> = Promise.resolve();
    const timer = setInterval(() => {
      asking = this.#probe().then((output) => {
        if (!this.#isAway(output)) return;
        unanswered = output;
        away.abort();
      });
    }, trustedForMs);
    timer.unref();
    const output = await body(away.signal);
    clearInterval(timer);
    if (!away.signal.aborted) return output;
    await asking;
    return unanswered ?? output;
  }

  #isAway(output: GitOutput): boolean {
    return output.code !== 0 && remoteFailure(output, this.#remote, '').isAway === true;
  }

  async #start(
    args: readonly string[],
    timeoutMs: number,
    { input, signal }: { readonly input?: string | undefined; readonly signal?: AbortSignal } = {},
  ): Promise<GitOutput> {
    const output = await this.#context.git([...networkSettings, ...args], {
      env: this.#context.networkVariables,
      network: true,
      timeoutMs,
      ...(input === undefined ? {} : { input }),
      ...(signal === undefined ? {} : { signal }),
    });
    // An aborted call says nothing about the remote.
    if (signal?.aborted === true) return output;
    if (this.#isAway(output)) {
      this.#awaySinceMs ??= Date.now();
      this.#unanswered = { output, atMs: Date.now() };
    } else {
      this.#awaySinceMs = null;
      this.#answeredAtMs = Date.now();
    }
    return output;
  }
}
