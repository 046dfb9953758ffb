// Compares the work of running attempts with each other and with their lines, while it can still be
// changed: by snapshots, so that no agent's folder is touched.

import {
  decideForecast,
  type ForecastPolicy,
  type ForecastWork,
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
import type { Uses } from '../kit/engine-ports.ts';
import { waitForTask } from '../person/wait-for.ts';

/** Snapshots are taken less often; a round without a new one costs a query and a ref each. */
const roundMs = 5_000;
/** Attempts compared with each other: 496 pairs at most. */
const attemptsMax = 32;
/** Comparisons remembered, each of a few paths. */
const rememberedMax = 2_000;

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

/** Compares from `begin` to `end`. */
export class Forecast {
  readonly #engine: Forecasting;
  #off = (): void => {};
  #isOver = false;
  /** Keyed by the two commits: paths that differ, or paths in conflict. */
  readonly #paths = new Map<string, readonly string[]>();

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

  /** One comparison of everything that runs here. */
  async round(): Promise<void> {
    const engine = this.#engine;
    const policy = engine.settings().onForecast;
    const works = policy === 'off' ? [] : await this.#works();
    const ids = works.map(({ taskId }) => taskId);
    const known = await readForecasts(engine.store.db, ids);
    if (works.length === 0 && known.length === 0) return;
    const seen = new Set<string>();
    if (policy !== 'off') {
      for (const { later, earlier, shared } of pairsThatMeet(works)) {
        const key = { taskId: later.taskId, otherId: earlier.taskId };
        const now = await this.#overlap(earlier.tip, later.tip, shared);
        seen.add(nameOf(key));
        await this.#settle({ key, later, earlier, now, policy, before: find(known, key) });
      }
      for (const work of works) {
        const key = { taskId: work.taskId, otherId: '' };
        seen.add(nameOf(key));
        const line = await this.#onLine(work);
        const before = find(known, key);
        await this.#settle({ key, later: work, earlier: null, now: line, policy, before });
      }
    }
    await this.#endOthers(known, seen);
  }

  async #works(): Promise<readonly Work[]> {
    const { git, machineId, store } = this.#engine;
    const works: Work[] = [];
    for (const attempt of await comparedAttempts(store.db, machineId, attemptsMax)) {
      const { id, number, base, commit } = attempt;
      const tip = commit ?? (await git.readRef(attemptWorkRef(id, number)));
      if (tip === null) continue;
      const files = await this.#remembered(base, tip, () => git.changedPaths(base, tip));
      const { candidateOf, target, startedMs } = attempt;
      works.push({ taskId: id, files, candidateOf, target, startedMs, attempt, tip });
    }
    return works;
  }

  /** The work against the landings on its line since it started. */
  async #onLine({ attempt, tip, files }: Work): Promise<Overlap | null> {
    const { git } = this.#engine;
    const line = await git.readRef(landingRef(attempt.line));
    if (line === null || line === attempt.base) return null;
    const landed = await this.#remembered(attempt.base, line, () =>
      git.changedPaths(attempt.base, line),
    );
    const shared = sharedFiles(files, landed);
    if (shared.length === 0) return null;
    const overlap = await this.#overlap(line, tip, shared);
    // Landed work in the same file is merged with it, as every other landed work is.
    return overlap?.level === 'conflict' ? overlap : null;
  }

  async #overlap(one: Sha, other: Sha, shared: readonly string[]): Promise<Overlap | null> {
    const conflicts = await this.#remembered(`${one} merge`, other, () =>
      this.#engine.git.conflicts(one, other),
    );
    return conflicts.length === 0
      ? { level: 'same_file', files: shared }
      : { level: 'conflict', files: [...conflicts].sort() };
  }

  /** The answer of git for two commits, which never changes; nothing if git could not tell. */
  async #remembered(
    one: string,
    other: string,
    ask: () => ReturnType<Forecasting['git']['changedPaths']>,
  ): Promise<readonly string[]> {
    const key = `${one} ${other}`;
    const before = this.#paths.get(key);
    if (before !== undefined) return before;
    const answer = await ask();
    if (!answer.ok) return [];
    if (this.#paths.size >= rememberedMax) this.#paths.clear();
    this.#paths.set(key, answer.value);
    return answer.value;
  }

  async #settle(facts: {
    readonly key: ForecastKey;
    readonly later: Work;
    readonly earlier: Work | null;
    readonly now: Overlap | null;
    readonly policy: Exclude<ForecastPolicy, 'off'>;
    readonly before: StoredForecast | null;
  }): Promise<void> {
    const { key, later, earlier, now, policy, before } = facts;
    const { store } = this.#engine;
    const step = decideForecast({ before, now, isLine: earlier === null, policy });
    const { record } = step;
    if (record === null) return;
    if (record === 'ended') {
      await store.transaction((tx) => endForecast(tx, store.sources, key));
      return;
    }
    const hints = step.tell.length === 0 ? [] : await this.#hints(later, earlier, step.tell);
    const told = [...(before?.told ?? []), ...step.tell];
    await store.transaction(async (tx) => {
      await recordForecast(tx, store.sources, key, record, told);
      for (const { id, text } of hints) await addHint(tx, store.sources, id, text, 'forecast');
    });
    for (const { id } of hints) this.#engine.switchboard.hintAdded(id);
    if (step.order) await orderTasks(this.#engine, key, record.files);
  }

  /** A hint about the other work for each agent that runs and takes hints while it runs. */
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
      // Any other agent reads the next prompt in its next attempt, beside other work.
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

  async #endOthers(known: readonly StoredForecast[], seen: ReadonlySet<string>): Promise<void> {
    const { store } = this.#engine;
    const over = known.filter((one) => one.isOpen && !seen.has(nameOf(one)));
    if (over.length === 0) return;
    await store.transaction(async (tx) => {
      for (const one of over) await endForecast(tx, store.sources, one);
    });
  }
}

function nameOf({ taskId, otherId }: ForecastKey): string {
  return `${taskId} ${otherId}`;
}

function find(known: readonly StoredForecast[], key: ForecastKey): StoredForecast | null {
  return known.find((one) => nameOf(one) === nameOf(key)) ?? null;
}

/** The later task continues from the work of the earlier one. */
async function orderTasks(
  engine: Uses<'store' | 'switchboard'>,
  { taskId, otherId }: ForecastKey,
  files: readonly string[],
): Promise<void> {
  const reason = `waits for ${otherId}: both change ${files.slice(0, 3).join(', ')}`;
  try {
    await waitForTask(engine, taskId, otherId, reason);
  } catch (error) {
    // The earlier one waits for the later one by now, or has ended.
    if (error instanceof Refusal) return;
    throw error;
  }
}
