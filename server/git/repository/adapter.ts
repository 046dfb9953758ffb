// The git adapter: opens repositories with the git binary, once per common folder.

import { stat, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ok } from '../../core/failure.ts';
import type { SecretSearch } from '../context.ts';
import {
  flushed,
  gitEnvironment,
  homeFolder,
  shortened,
  type Variables,
} from '../process/environment.ts';
import { settings } from '../git-command.ts';
import { refuse } from '../failures.ts';
import {
  askCheckout,
  findRepository,
  readFacts,
  type RepositoryPlace,
} from './repository-facts.ts';
import { resolveCommitter } from '../process/identity.ts';
import { openGitProcesses, type GitProcesses, type RunElsewhere } from '../process/process.ts';
import type { GitAdapter, GitResult, RepositoryFacts } from '../port.ts';
import { openRepository } from './repository.ts';
import { type LocalRepository } from '../local-port.ts';
import { programOnPath } from '../../files/program-path.ts';
import { KeyedMutex } from '../../core/work/semaphore.ts';
import { readVersion } from '../process/version.ts';

export interface GitAdapterOptions {
  /** The git program. */
  readonly binary?: string;
  /** Environment that git inherits, without variables that redirect it. */
  readonly environment?: Variables;
  /** Maximum number of parallel git processes over all repositories. */
  readonly concurrency?: number;
  /** Number of processes that one checkout may use; 0 = one per core. */
  readonly checkoutWorkers?: number;
  /** How long to wait for another process's lock. */
  readonly lockPatienceMs?: number;
  /** An older lock in a slot was left by a killed agent. */
  readonly staleLockMs?: number;
  /** False for temporary repositories: nothing is flushed to the disk. */
  readonly durable?: boolean;
  readonly maxOutputBytes?: number;
  readonly timeoutMs?: number;
  /** Starts git processes elsewhere while available. Absent = start them in this process. */
  readonly elsewhere?: RunElsewhere;
  /** Finds secrets in contents that would be committed or shared. If absent, only names decide. */
  readonly secretsIn?: SecretSearch;
  /** Paths whose names and contents may look like secrets. */
  readonly secretsAllowed?: (path: string) => boolean;
}

export interface BinaryGitAdapter extends GitAdapter {
  open(path: string): Promise<GitResult<LocalRepository>>;
  /** Resolves when the background deletion of removed worktrees is done. */
  settled(): Promise<void>;
}

const defaults = {
  concurrency: 4,
  checkoutWorkers: 2,
  lockPatienceMs: 3_000,
  staleLockMs: 5_000,
  maxOutputBytes: 64 * 1024 * 1024,
  timeoutMs: 10 * 60_000,
};

export function openGitAdapter(options: GitAdapterOptions = {}): BinaryGitAdapter {
  const inherited = options.environment ?? process.env;
  const processes = openGitProcesses({
    binary: options.binary ?? programOnPath('git', inherited),
    environment: gitEnvironment(shortened(inherited)),
    networkEnvironment: gitEnvironment(inherited),
    settings: (options.durable ?? true) ? flushed : [],
    concurrency: options.concurrency ?? defaults.concurrency,
    maxOutputBytes: options.maxOutputBytes ?? defaults.maxOutputBytes,
    timeoutMs: options.timeoutMs ?? defaults.timeoutMs,
    ...(options.elsewhere === undefined ? {} : { elsewhere: options.elsewhere }),
  });
  const mutex = new KeyedMutex();
  const repositories = new Map<string, ReturnType<typeof openRepository>>();
  let version: Promise<GitResult<string>> | null = null;

  const knownVersion = async (): Promise<GitResult<string>> => {
    version ??= readVersion(processes, '/');
    const result = await version;
    // A missing git may be installed later.
    if (!result.ok) version = null;
    return result;
  };

  const open = async (path: string): Promise<GitResult<LocalRepository>> => {
    const folder = await existingFolder(path);
    if (folder === null) {
      const known = await knownVersion();
      return known.ok ? refuse('not_a_repository', `${path} does not exist.`) : known;
    }
    const looked = await lookAt({ processes, home: homeFolder(inherited) }, folder, knownVersion());
    if (!looked.ok) return looked;
    const { place, facts } = looked.value;
    const committer = resolveCommitter(place.commonDir, place.config, inherited);
    const known = repositories.get(facts.commonDir);
    if (known) {
      known.renew(facts, committer);
      return ok(known.repository);
    }
    const opened = openRepository({
      processes,
      mutex,
      place,
      facts,
      committer,
      inherited,
      lockPatienceMs: options.lockPatienceMs ?? defaults.lockPatienceMs,
      staleLockMs: options.staleLockMs ?? defaults.staleLockMs,
      secretsIn: options.secretsIn ?? null,
      secretsAllowed: options.secretsAllowed ?? (() => false),
      checkoutSettings: settings({
        'checkout.workers': String(options.checkoutWorkers ?? defaults.checkoutWorkers),
      }),
    });
    repositories.set(facts.commonDir, opened);
    return ok(opened.repository);
  };

  return {
    open,
    version: knownVersion,
    settled: async () => {
      for (const { settled } of repositories.values()) await settled();
    },
  };
}

/** In parallel, because the folder usually is the root and then needs no second query. */
async function lookAt(
  { processes, home }: { readonly processes: GitProcesses; readonly home: string },
  folder: string,
  version: Promise<GitResult<string>>,
): Promise<GitResult<{ readonly place: RepositoryPlace; readonly facts: RepositoryFacts }>> {
  const [usable, found, asked] = await Promise.all([
    version,
    findRepository(processes.run, folder, home),
    askCheckout(processes.run, folder),
  ]);
  if (!usable.ok) return usable;
  if (!found.ok) return found;
  const place = found.value;
  const isRoot = folder === place.root;
  return ok({ place, facts: await readFacts(processes.run, place, isRoot ? asked : null) });
}

async function existingFolder(path: string): Promise<string | null> {
  try {
    const real = await realpath(path);
    return (await stat(real)).isDirectory() ? real : dirname(real);
  } catch {
    return null;
  }
}
