// The backend's part in the forge: sends planned messages, and polls open pull requests. In a
// fleet, one machine does this.

import { setTimeout as wait } from 'node:timers/promises';
import { beginExporter, takeExporter } from '../store/feed/exporters.ts';
import { pendingRequests } from '../store/forge/outbox.ts';
import { openPulls } from '../store/forge/pull-requests.ts';
import type { Engine } from '../workflows/kit/engine-ports.ts';
import type { ProjectForge } from './forge-access.ts';
import type { Project, Report } from '../project/opened-project.ts';
import { observePulls } from './observe-pulls.ts';
import { planReports } from './report-issues.ts';
import { releasedRuns, startReleasedRun } from './pull-ends.ts';
import { IssueIntake } from './take-issues.ts';
import { sendRequests } from './send-requests.ts';

/** Events within this time are handled together. */
const gatherMs = 200;
const lookMs = 60_000;
/** Longer than the time between two requests of a turn. */
const leaseMs = 5 * 60_000;
const leaseName = 'forge';
const doing = 'working on pull requests';

interface ForgeHost {
  readonly engine: Engine;
  readonly forge: ProjectForge;
}

export class ForgeWork {
  readonly #project: Project;
  readonly #host: ForgeHost;
  readonly #report: Report;
  readonly #stop = new AbortController();
  readonly #forget: () => void;
  readonly #over: Promise<void>;
  #news = Promise.withResolvers<void>();
  #hasWork = true;
  readonly #intake: IssueIntake;
  #observedMs = 0;

  constructor(project: Project, host: ForgeHost, report: Report) {
    this.#project = project;
    this.#host = host;
    this.#report = report;
    const maxAttempts = (): number => project.live.settings.maxAttempts;
    this.#intake = new IssueIntake({ engine: host.engine, project: host.forge, maxAttempts });
    this.#forget = project.store.feed.onAppend(() => this.#news.resolve());
    this.#over = this.#keepWorking();
  }

  /**
   * The backend keeps running while a pull request is open or issues are taken, because only it
   * detects changes.
   */
  isBusy(): boolean {
    return this.#hasWork;
  }

  async close(): Promise<void> {
    this.#forget();
    this.#stop.abort();
    await this.#over;
  }

  async #keepWorking(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      this.#news = Promise.withResolvers<void>();
      let waitMs = lookMs;
      try {
        waitMs = await this.#turn();
      } catch (error) {
        if (!signal.aborted) this.#report(error, doing);
      }
      const timer = new AbortController();
      const timedOut = wait(waitMs, undefined, { signal: timer.signal }).catch(() => undefined);
      const stopped = new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      await Promise.race([timedOut, this.#news.promise, stopped]);
      timer.abort();
      if (!signal.aborted) await wait(gatherMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Resolves with the time until the next turn (ms). */
  async #turn(): Promise<number> {
    const { store, live } = this.#project;
    await planReports(store, live.settings.forge.report);
    const pending = await pendingRequests(store.db);
    const pulls = await openPulls(store.db);
    const { pollMs, quietMs, bots, intake } = live.settings.forge;
    this.#hasWork = pending.length > 0 || pulls.length > 0 || intake !== null;
    const released = await releasedRuns(this.#host.engine);
    const isIdle = !this.#hasWork && released.length === 0;
    if (isIdle || !(await this.#isOurs())) return lookMs;
    for (const run of released) await startReleasedRun(this.#host.engine, run);
    const isOver = (): boolean => this.#stop.signal.aborted;
    const deps = { engine: this.#host.engine, project: this.#host.forge };
    const nextMs = await sendRequests(deps, isOver);
    const dueMs = this.#observedMs + pollMs;
    if (Date.now() >= dueMs && !isOver()) {
      await observePulls({ ...deps, quietMs, bots }, isOver);
      if (intake !== null && !isOver()) await this.#intake.look(intake);
      this.#observedMs = Date.now();
    }
    const nextPollMs = this.#observedMs + pollMs;
    const soonestMs = nextMs === null ? nextPollMs : Math.min(nextMs, nextPollMs);
    return Math.max(gatherMs, Math.min(lookMs, soonestMs - Date.now()));
  }

  async #isOurs(): Promise<boolean> {
    const { store, machineId } = this.#project;
    if (machineId === '') return true;
    const nowMs = store.sources.clock.now();
    return store.transaction(async (tx) => {
      await beginExporter(tx, leaseName, 0);
      return takeExporter(tx, leaseName, machineId, { nowMs, untilMs: nowMs + leaseMs });
    });
  }
}
