// Compares the work of running attempts with each other and with their lines while it can still be
// changed. It uses snapshots, so it never touches an agent's folder.

import {
  decideForecast,
  type ForecastWork,
  orderOfPair,
  type Overlap,
  pairsThatMeet,
  sharedFiles,
} from '../../core/forecast/decide.ts';
import { Refusal } from '../../core/failure.ts';
import { forecastHint } from '../../core/prompt/forecast-hint.ts';
import { attemptWorkRef, landingRef } from '../../core/work/ref-names.ts';
import type { Sha } from '../../git/sha.ts';
import {
  addHint,
  type ComparedAttempt,
  comparedAttempts,
  endForecast,
  type ForecastKey,
  readForecasts,
  recordForecast,
  type StoredForecast,
} from '../../store/port.ts';
import { pathsChanged, pathsInConflict } from '../kit/compared-commits.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { waitForTask } from '../person/wait-for.ts';

/**
 * Snapshots are made less often than this. A round without a new snapshot costs one query and one
 * ref read per attempt.
 */
const roundMs = 5_000;
/** Maximum number of attempts compared with each other (496 pairs). */
const attemptsMax = 32;

type Forecasting = Uses<
  | 'clock'
  | 'driverFor'
  | 'git'
  | 'machineId'
  | 'mask'
  | 'report'
  | 'settings'
  | 'store'
  | 'switchboard'
>;

interface Work extends ForecastWork {
  readonly attempt: ComparedAttempt;
  readonly tip: Sha;
}

/** Two works that overlap. `earlier` is null if the work overlaps with its line. */
interface Meeting {
  readonly key: ForecastKey;
  readonly later: Work;
  readonly earlier: Work | null;
  readonly now: Overlap;
}

/** Compares from `begin` until `end`. */
export class Forecast {
  readonly #engine: Forecasting;
  #off = (): void => {};
  #isOver = false;
  #wasBusy = true;

  constructor(engine: Forecasting) {
    this.#engine = engine;
  }

  begin(): this {
    if (this.#isOver) return this;
    const { clock, report } = this.#engine;
    this.#off = clock.timer(roundMs, () => {
      this.round()
        .catch((error: unknown) => report(error, 'comparing running work'))
        .finally(() => this.begin());
    });
    return this;
  }

  end(): void {
    this.#isOver = true;
    this.#off();
  }

  /** Compares everything that runs here, once. */
  async round(): Promise<void> {
    const { machineId, settings, store, switchboard } = this.#engine;
    // Runs once more after the last step, to close the forecasts of finished work.
    const { isBusy } = switchboard;
    if (!isBusy && !this.#wasBusy) return;
    this.#wasBusy = isBusy;
    const works = settings().onForecast === 'off' ? [] : await this.#works();
    const ids = works.map(({ taskId }) => taskId);
    const known = await readForecasts(store.db, machineId, ids);
    const meetings = await this.#meetings(works);
    for (const meeting of meetings) await this.#settle(meeting, find(known, meeting.key));
    const still = new Set(meetings.map(({ key }) => nameOf(key)));
    for (const one of known) {
      if (one.isOpen && !still.has(nameOf(one)))
        await store.transaction((tx) => endForecast(tx, store.sources, one));
    }
  }

  async #works(): Promise<readonly Work[]> {
    const { git, machineId, store } = this.#engine;
    const works: Work[] = [];
    for (const attempt of await comparedAttempts(store.db, machineId, attemptsMax)) {
      const { id, number, base, commit } = attempt;
      const tip = commit ?? (await git.readRef(attemptWorkRef(id, number)));
      // After a restart on a newer base, the last snapshot still belongs to the previous work.
      if (tip === null || !(await git.isAncestor(base, tip))) continue;
      const files = (await pathsChanged(this.#engine, base, tip)) ?? [];
      const { candidateOf, target, startedMs } = attempt;
      const isFinished = commit !== null;
      works.push({ taskId: id, files, candidateOf, target, startedMs, isFinished, attempt, tip });
    }
    return works;
  }

  async #meetings(works: readonly Work[]): Promise<readonly Meeting[]> {
    const found: Meeting[] = [];
    for (const { later, earlier, shared } of pairsThatMeet(works)) {
      const key = { taskId: later.taskId, otherId: earlier.taskId };
      found.push({ key, later, earlier, now: await this.#overlap(earlier, later, shared) });
    }
    for (const later of works) {
      const now = await this.#conflictWithLine(later);
      const key = { taskId: later.taskId, otherId: '' };
      if (now !== null) found.push({ key, later, earlier: null, now });
    }
    return found;
  }

  /**
   * Compares the work with landings on its line since it started. Git can merge changes to the same
   * file that do not conflict.
   */
  async #conflictWithLine({ attempt, tip, files }: Work): Promise<Overlap | null> {
    const line = await this.#engine.git.readRef(landingRef(attempt.line));
    if (line === null || line === attempt.base) return null;
    const landed = await pathsChanged(this.#engine, attempt.base, line);
    const shared = sharedFiles(files, landed ?? []);
    if (shared.length === 0) return null;
    const conflicts = await pathsInConflict(this.#engine, line, tip);
    return conflicts.length === 0 ? null : asOverlap(conflicts, shared);
  }

  /** A conflict with landed work in the other task's base is a conflict with the line. */
  async #overlap(one: Work, other: Work, shared: readonly string[]): Promise<Overlap> {
    const both = await pathsInConflict(this.#engine, one.tip, other.tip);
    if (both.length === 0) return asOverlap([], shared);
    const landed = [
      ...(await pathsInConflict(this.#engine, one.tip, other.attempt.base)),
      ...(await pathsInConflict(this.#engine, other.tip, one.attempt.base)),
    ];
    const own = both.filter((file) => !landed.includes(file));
    return asOverlap(own, shared);
  }

  async #settle(meeting: Meeting, before: StoredForecast | null): Promise<void> {
    const { key, later, earlier, now } = meeting;
    const { settings, store, switchboard } = this.#engine;
    const policy = settings().onForecast;
    const step = decideForecast({ before, now, isLine: earlier === null, policy });
    const { record } = step;
    if (record === null) return;
    const hints = step.tell.length === 0 ? [] : await this.#hints(later, earlier, step.tell);
    const told = [...(before?.told ?? []), ...step.tell];
    await store.transaction(async (tx) => {
      await recordForecast(tx, store.sources, key, record, told);
      for (const { id, text } of hints) await addHint(tx, store.sources, id, text, 'forecast');
    });
    for (const { id } of hints) switchboard.hintAdded(id);
    const order = step.order && earlier !== null ? orderOfPair(later, earlier) : null;
    if (order !== null && (await this.#isRunning(order.waits)))
      await orderTasks(this.#engine, order, record.files);
  }

  /**
   * The work may have been finished since the round started, because a round takes seconds under
   * load.
   */
  async #isRunning({ attempt: { id, number } }: Work): Promise<boolean> {
    const { machineId, store } = this.#engine;
    const now = await comparedAttempts(store.db, machineId, attemptsMax);
    return now.some((each) => each.id === id && each.number === number && each.commit === null);
  }

  /** Sends a hint about the other work to each running agent that accepts hints. */
  async #hints(
    later: Work,
    earlier: Work | null,
    files: readonly string[],
  ): Promise<readonly { readonly id: string; readonly text: string }[]> {
    const sides = [
      { to: later, of: earlier },
      ...(earlier === null ? [] : [{ to: earlier, of: later }]),
    ];
    const hints = sides.map(async ({ to, of }) => {
      const { agent, phase } = to.attempt;
      // Any other agent gets it in the prompt of its next attempt.
      const hears = phase === 'agent' && this.#engine.driverFor(agent).capabilities.hints;
      if (!hears) return [];
      const diff = await this.#diffFor(to, of, files);
      const other = of === null ? null : { id: of.taskId, title: of.attempt.title };
      const text = this.#engine.mask(forecastHint({ other, files, diff }));
      return [{ id: to.taskId, text }];
    });
    return (await Promise.all(hints)).flat();
  }

  async #diffFor({ attempt }: Work, of: Work | null, files: readonly string[]): Promise<string> {
    const { git } = this.#engine;
    const [from, to] =
      of === null
        ? [attempt.base, await git.readRef(landingRef(attempt.line))]
        : [of.attempt.base, of.tip];
    if (to === null) return '';
    const diff = await git.diff(from, to, files);
    return diff.ok ? diff.value : '';
  }
}

function nameOf({ taskId, otherId }: ForecastKey): string {
  return `${taskId} ${otherId}`;
}

function find(known: readonly StoredForecast[], key: ForecastKey): StoredForecast | null {
  return known.find((one) => nameOf(one) === nameOf(key)) ?? null;
}

function asOverlap(conflicts: readonly string[], shared: readonly string[]): Overlap {
  return conflicts.length === 0
    ? { level: 'same_file', files: shared }
    : { level: 'conflict', files: [...conflicts].sort() };
}

/** Makes one task continue from the other task's work. */
async function orderTasks(
  engine: Uses<'store' | 'switchboard'>,
  { waits, lands }: { readonly waits: Work; readonly lands: Work },
  files: readonly string[],
): Promise<void> {
  const reason = `waits for ${lands.taskId}: both change ${files.slice(0, 3).join(', ')}`;
  try {
    await waitForTask(engine, waits.taskId, lands.taskId, reason);
  } catch (error) {
    // The other task now waits for this one, or has ended.
    if (error instanceof Refusal) return;
    throw error;
  }
}
