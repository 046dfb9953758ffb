// Reads the list of runs and the report of one: when the page starts, again when the board has
// changed, and never twice at once.

import type { ReactiveController, ReactiveControllerHost } from 'lit';
import type { Report } from '../../server/core/history/report.ts';
import type { RunList } from '../../server/core/history/run-list.ts';
import type { Host } from '../shared/host.ts';

/**
 * The earliest time after which an active run's report is read again, or five times the cost of
 * reading it if that is longer.
 */
const restMinMs = 1_500;
const restPerReading = 5;

export class RunReader implements ReactiveController {
  readonly #component: ReactiveControllerHost;
  readonly #host: Host;
  #isReading = false;
  #hasBackend = false;
  #isWanted = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #wantedRun: string | null = null;
  #wantedSearch = '';
  #readFor = { run: this.#wantedRun, search: this.#wantedSearch };
  list: RunList | null = null;
  report: Report | null = null;
  failed = '';

  constructor(component: ReactiveControllerHost, host: Host) {
    this.#component = component;
    this.#host = host;
    component.addController(this);
  }

  hostDisconnected(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
  }

  /** If `run` is null, it is the latest one. */
  show(run: string | null, search: string): void {
    this.#wantedRun = run;
    this.#wantedSearch = search;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isWanted = true;
    void this.#read();
  }

  /** The backend is connected: refused requests are repeated. */
  connected(): void {
    this.#hasBackend = true;
    if (!this.#isWanted) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    void this.#read();
  }

  /** The board has changed, so the displayed run may have changed too. */
  touch(): void {
    this.#isWanted = true;
    if (this.#timer === null) void this.#read();
  }

  async #read(): Promise<void> {
    if (this.#isReading) return;
    this.#isReading = true;
    const beganMs = performance.now();
    while (this.#isWanted) {
      this.#isWanted = false;
      const isSure = this.#hasBackend;
      await this.#readOnce();
      const isEarly = !isSure && this.failed !== '';
      if (isEarly) {
        this.failed = '';
        this.#isWanted = true;
      } else this.#component.requestUpdate();
      // Another run or search is read at once, and a change of the board after a pause.
      if (isEarly ? !this.#hasBackend : !this.#isStale()) break;
    }
    this.#isReading = false;
    const restMs = Math.max(restMinMs, (performance.now() - beganMs) * restPerReading);
    this.#timer = setTimeout(() => {
      this.#timer = null;
      if (this.#isWanted && this.#hasBackend) void this.#read();
    }, restMs);
  }

  #isStale(): boolean {
    const { run, search } = this.#readFor;
    return run !== this.#wantedRun || search !== this.#wantedSearch;
  }

  async #readOnce(): Promise<void> {
    const run = this.#wantedRun;
    const search = this.#wantedSearch;
    this.#readFor = { run, search };
    // Sent together with the list; only the answer of a search says which run is selected.
    const asked = run === null && search !== '' ? null : this.#reportOf(run);
    asked?.catch(() => undefined);
    try {
      const list = await this.#host.backend('runs.list', search === '' ? {} : { search });
      this.list = list;
      this.#component.requestUpdate();
      const id = run ?? list.runs[0]?.id ?? null;
      this.report = id === null ? null : await (asked ?? this.#reportOf(id));
      this.failed = '';
    } catch (error) {
      this.failed = error instanceof Error ? error.message : String(error);
    }
  }

  /** Null reads the newest run. */
  #reportOf(id: string | null): Promise<Report> {
    return this.#host.backend('report', id === null ? {} : { id });
  }
}
