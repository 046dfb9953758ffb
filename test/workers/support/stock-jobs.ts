// Whole jobs of the execution client on workers of upstream's form, in folders of their own: the
// results, the requests to the worker, and that no instance is left.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from '../../../server/core/failure.ts';
import { readLeases } from '../../../server/workers/client/leases.ts';
import { type JobOutcome, runJob } from '../../../server/workers/client/run-job.ts';
import type { ResultCaps } from '../../../server/workers/client/unpack.ts';
import type {
  InstanceRef,
  InstanceSpec,
  Provisioner,
} from '../../../server/workers/provisioners/port.ts';
import {
  startStockWorker,
  type StockOptions,
  type StockWorker,
} from '../../doubles/stock-worker.ts';
import { removeFolder } from '../../remove-folder.ts';

const times = {
  health: { firstMs: 1, stepMs: 5, longestStepMs: 10, limitMs: 1_000, requestMs: 500 },
  follow: { firstDelayMs: 5, longestDelayMs: 20, giveUpMs: 300, quietMs: 10_000 },
  destroy: { tries: 5, firstDelayMs: 1, longestDelayMs: 2 },
  cancelMs: 500,
  snapshotMs: 50,
};

/** Stock runtimes as instances; creations and destructions are recorded. */
export class StockProvisioner implements Provisioner {
  readonly kind = 'hook';
  readonly capabilities = { env: true, list: true, foreignPaths: false };
  readonly specs: InstanceSpec[] = [];
  readonly workers = new Map<string, StockWorker>();
  readonly seen: StockWorker[] = [];
  /** Leases as they were on the disk at each creation. */
  readonly leasesSeen: string[] = [];
  destroyed: InstanceRef[] = [];
  refusals = 0;
  readonly #folder: string;
  readonly #options: (count: number) => Partial<StockOptions>;

  constructor(folder: string, options: (count: number) => Partial<StockOptions>) {
    this.#folder = folder;
    this.#options = options;
  }

  async create(spec: InstanceSpec): ReturnType<Provisioner['create']> {
    this.specs.push(spec);
    const { leases } = readLeases(join(this.#folder, 'leases'));
    assert.ok(
      leases.some(({ name }) => name === spec.name),
      'the lease comes first',
    );
    this.leasesSeen.push(JSON.stringify(leases));
    const workspace = mkdtempSync(join(this.#folder, 'workspace-'));
    const { token } = spec;
    const worker = await startStockWorker({
      workspace,
      token,
      ...this.#options(this.specs.length),
    });
    this.workers.set(spec.name, worker);
    this.seen.push(worker);
    return ok({ name: spec.name, id: spec.name, url: worker.url, token });
  }

  async destroy(ref: InstanceRef): ReturnType<Provisioner['destroy']> {
    if (this.refusals > 0) {
      this.refusals -= 1;
      return err('not now.');
    }
    this.destroyed.push(ref);
    await this.workers.get(ref.name)?.close();
    this.workers.delete(ref.name);
    return ok(null);
  }

  async list(): ReturnType<Provisioner['list']> {
    return ok([...this.workers.keys()].map((name) => ({ name, id: name })));
  }
}

export interface Ran {
  readonly outcome: JobOutcome;
  readonly provisioner: StockProvisioner;
  readonly lines: readonly string[];
  readonly notes: string;
}

export interface JobOptions {
  readonly script?: string;
  readonly prompt?: string;
  readonly stock?: (count: number) => Partial<StockOptions>;
  readonly stop?: AbortSignal;
  /** A separate worktree beside the first one. */
  readonly place?: string;
  readonly prepare?: (provisioner: StockProvisioner) => void;
  readonly onLine?: (line: string) => void;
  readonly resultCaps?: ResultCaps;
}

export interface StockJobs {
  readonly ran: (options?: JobOptions) => Promise<Ran>;
  /** Names in the worktree. */
  readonly slot: () => string[];
  /** The worktree. */
  readonly root: string;
  readonly folder: string;
}

/** Within a suite: each test has separate folders. */
export function useStockJobs(): StockJobs {
  let folder: string;
  let root: string;
  setup(() => {
    folder = mkdtempSync(join(tmpdir(), 'drover-job-'));
    root = join(folder, 'slot');
    mkdirSync(root);
    writeFileSync(join(root, 'a.txt'), 'a\n');
    writeFileSync(join(root, 'b.txt'), 'b\n');
  });
  teardown(() => removeFolder(folder));

  const listing = {
    tracked: ['a.txt', 'b.txt'],
    untracked: [],
    droverIgnored: new Set<string>(),
    submodules: [],
  };
  const isNew = (name: string): boolean => !listing.tracked.includes(name);

  async function ran(options: JobOptions = {}): Promise<Ran> {
    const provisioner = new StockProvisioner(folder, options.stock ?? (() => ({})));
    options.prepare?.(provisioner);
    const lines: string[] = [];
    const notes: string[] = [];
    const place = join(folder, options.place ?? 'slot');
    if (options.place !== undefined) cpSync(root, place, { recursive: true });
    const outcome = await runJob({
      root: place,
      listing,
      relist: async () => ok({ ...listing, untracked: readdirSync(place).filter(isNew) }),
      ignored: async () => new Set(),
      provisioner,
      image: null,
      ttlMs: 60_000,
      leases: join(folder, 'leases'),
      owner: 'me',
      follower: { pid: process.pid, startTime: '1' },
      run: 'task-1/1/task-1',
      program: '/bin/sh',
      args: ['-c', options.script ?? 'cat > c.txt; rm b.txt; echo "it\'s $DROVER_TASK_ID"; exit 3'],
      prompt: options.prompt ?? 'do it',
      env: { MODEL_KEY: 'secret' },
      variables: { DROVER_TASK_ID: "task-1's" },
      brings: {},
      scratch: join(folder, `scratch-${options.place ?? ''}`),
      output: {
        onLine: (_, line) => {
          lines.push(line);
          options.onLine?.(line);
        },
        onGap: () => undefined,
        onAway: () => undefined,
      },
      note: (text) => void notes.push(text),
      stop: options.stop ?? new AbortController().signal,
      ...(options.resultCaps === undefined ? {} : { resultCaps: options.resultCaps }),
      times,
    });
    assert.deepEqual([...provisioner.workers.keys()], [], 'no instance is left');
    return { outcome, provisioner, lines, notes: notes.join('\n') };
  }
  const slot = (): string[] => readdirSync(root).toSorted();
  return {
    ran,
    slot,
    get root() {
      return root;
    },
    get folder() {
      return folder;
    },
  };
}
