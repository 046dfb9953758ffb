// The board at an earlier time: how far back an epic's history goes, and its state at the requested
// time. During a request, only the latest further request waits.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { AskFailure } from '../shared/asks.ts';
import type { Host } from '../shared/host.ts';

export interface Life {
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
}

export class BoardPast implements ReactiveController {
  readonly #component: ReactiveControllerHost;
  readonly #host: Host;
  #wantedMs: number | null = null;
  #isAsking = false;
  /** The selected epic, or null for all. */
  #epic: string | null = null;
  /** Null if no earlier state is shown, or if it has no run. */
  life: Life | null = null;
  /** The requested time. */
  atMs = 0;
  board: StatusSnapshot | null = null;
  isOpen = false;
  failed = '';

  constructor(component: ReactiveControllerHost, host: Host) {
    this.#component = component;
    this.#host = host;
    component.addController(this);
  }

  hostDisconnected(): void {
    this.close();
  }

  /** From the first start of a run to the last end, or to now if one is active. */
  async open(epic: string | null): Promise<void> {
    this.close();
    this.isOpen = true;
    this.#epic = epic;
    try {
      const windows = epic === null ? await this.#allRuns() : await this.#runsOf(epic);
      if (!this.isOpen || this.#epic !== epic) return;
      const fromMs = Math.min(...windows.map((window) => window.fromMs));
      const toMs = Math.max(...windows.map((window) => window.toMs));
      if (windows.length === 0) this.failed = 'No run has worked on this yet.';
      else this.life = { fromMs, toMs };
    } catch (error) {
      this.failed = wordsOf(error);
    }
    this.#component.requestUpdate();
    if (this.life !== null) this.goTo(this.life.toMs);
  }

  close(): void {
    this.isOpen = false;
    this.life = null;
    this.board = null;
    this.failed = '';
    this.#wantedMs = null;
  }

  goTo(atMs: number): void {
    this.atMs = atMs;
    this.#wantedMs = atMs;
    this.#component.requestUpdate();
    if (!this.#isAsking) void this.#ask();
  }

  async #ask(): Promise<void> {
    this.#isAsking = true;
    while (this.#wantedMs !== null) {
      const at_ms = Math.round(this.#wantedMs);
      const epic = this.#epic;
      this.#wantedMs = null;
      try {
        const params = { at_ms, ...(epic === null ? {} : { epic }) };
        const board = await this.#host.backend('past.status', params);
        if (this.isOpen && this.#epic === epic) {
          this.board = board;
          this.failed = '';
        }
      } catch (error) {
        if (this.isOpen) this.failed = wordsOf(error);
      }
      this.#component.requestUpdate();
    }
    this.#isAsking = false;
  }

  async #runsOf(epic: string): Promise<readonly Life[]> {
    const { windows } = await this.#host.backend('report', { id: epic });
    return windows.map(({ started_at_ms: fromMs, ended_at_ms: toMs }) => ({ fromMs, toMs }));
  }

  async #allRuns(): Promise<readonly Life[]> {
    const { runs } = await this.#host.backend('runs.list', {});
    return runs.map(({ started_at_ms: fromMs, ended_at_ms: endedMs }) => ({
      fromMs,
      toMs: endedMs ?? Date.now(),
    }));
  }
}

function wordsOf(error: unknown): string {
  return error instanceof AskFailure ? error.message : String(error);
}

const allowed: ReadonlySet<string> = new Set(['openStream', 'copy', 'measured']);

/** The connection for an earlier state, which is read-only. */
export function readOnlyHost(host: Host): Host {
  const refuse = (): Promise<never> =>
    Promise.reject(new AskFailure('past', 'This is an earlier state. It is read-only.'));
  return {
    ...host,
    backend: refuse,
    action: (name, params) => (allowed.has(name) ? host.action(name, params) : refuse()),
  };
}
