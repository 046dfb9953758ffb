// The jobs that can be requested: the running one, and those that ended within the last quarter of
// an hour.

import { randomBytes } from 'node:crypto';
import { Job } from './job.ts';
import type { Leash } from './leash.ts';
import type { WorkerTimes } from './times.ts';

/** Total for all ended jobs. The oldest are first reduced to their end. */
const keptCharactersMax = 64 * 1024 * 1024;
const endedJobsMax = 1000;

export interface JobsOptions {
  readonly folder: string;
  /** The variables of commands, without the runtime's own token. */
  readonly env: Readonly<Record<string, string>>;
  readonly times: WorkerTimes;
  readonly leash: Leash;
}

export class Jobs {
  readonly #options: JobsOptions;
  readonly #jobs = new Map<string, Job>();
  /** Job ids by the key of the request that started them. */
  readonly #keyed = new Map<string, string>();
  /** Oldest first. */
  readonly #ended: Job[] = [];

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  start(command: string, key: string | null = null): Job {
    const { folder, env, times, leash } = this.#options;
    const id = randomBytes(16).toString('hex');
    const job = new Job({ id, command, folder, env, leash, times });
    this.#jobs.set(id, job);
    if (key !== null) this.#keyed.set(key, id);
    void job.ended.then(() => this.#keep(job));
    return job;
  }

  find(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  findByKey(key: string): Job | undefined {
    return this.#jobs.get(this.#keyed.get(key) ?? '');
  }

  cancelAll(): void {
    for (const job of this.#jobs.values()) job.cancel();
  }

  /** Resolves when every job has ended and every reader has received that. */
  async over(): Promise<void> {
    await Promise.all(
      [...this.#jobs.values()].map((job) => job.ended.then(() => job.readersGone())),
    );
  }

  #keep(job: Job): void {
    this.#ended.push(job);
    setTimeout(() => this.#forget(job), this.#options.times.jobKeptMs).unref();
    if (this.#ended.length > endedJobsMax) this.#forget(this.#ended[0]);
    let kept = this.#ended.reduce((sum, one) => sum + one.keptCharacters, 0);
    for (const old of this.#ended) {
      if (kept <= keptCharactersMax) break;
      kept -= old.keptCharacters;
      old.shrink();
    }
  }

  #forget(job: Job | undefined): void {
    if (job === undefined || !this.#jobs.delete(job.id)) return;
    this.#ended.splice(this.#ended.indexOf(job), 1);
    for (const [key, id] of this.#keyed) if (id === job.id) this.#keyed.delete(key);
    job.forget();
  }
}
