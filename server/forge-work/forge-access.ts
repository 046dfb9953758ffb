// The project's forge as the backend uses it: opened when it is needed, and again when the remote
// or the token may have changed.

import { failure, err, ok, Refusal, type Result } from '../core/failure.ts';
import { GithubIssues } from '../forge/github-issues.ts';
import { GithubPulls } from '../forge/github-pulls.ts';
import type { Forge, Tracker } from '../forge/port.ts';
import type { Project } from '../project/opened-project.ts';
import { openForge, type OpenedForge } from './open-forge.ts';

export interface ForgeAccess extends OpenedForge {
  readonly forge: Forge;
  readonly tracker: Tracker;
}

/** A token that the user renews is found after this time. */
const openedMs = 10 * 60_000;
/** This share of the host's hourly requests is left to the user. */
const reserve = 0.4;

export class ProjectForge {
  readonly #project: Pick<Project, 'store' | 'places' | 'live'>;
  #opened: { readonly access: ForgeAccess; readonly env: object; readonly atMs: number } | null =
    null;

  constructor(project: Pick<Project, 'store' | 'places' | 'live'>) {
    this.#project = project;
  }

  async open(): Promise<Result<ForgeAccess>> {
    const { store, places, live } = this.#project;
    const nowMs = (): number => store.sources.clock.now();
    const env = live.environment;
    const known = this.#opened;
    if (known !== null && known.env === env && nowMs() - known.atMs < openedMs)
      return ok(known.access);
    try {
      const opened = await openForge(places.root, env, nowMs, {
        reserve,
        known: known?.access.client ?? null,
      });
      const access = accessTo(opened, known?.access ?? null);
      this.#opened = { access, env, atMs: nowMs() };
      return ok(access);
    } catch (error) {
      if (error instanceof Refusal) return err(failure('git_failed', error.message));
      throw error;
    }
  }

  /** The branch that pull requests are merged into, as it currently is on the forge. */
  async newestBase(branch: string): Promise<Result<string>> {
    const opened = await this.open();
    return opened.ok ? opened.value.remote.fetch(branch) : opened;
  }
}

/**
 * The client and its readers cache responses, so they are reused while token and repository are the
 * same.
 */
function accessTo(opened: OpenedForge, known: ForgeAccess | null): ForgeAccess {
  const { client, repository } = opened;
  const { owner, name } = repository;
  const isSame =
    known?.client === client && known.repository.owner === owner && known.repository.name === name;
  if (isSame) return { ...opened, forge: known.forge, tracker: known.tracker };
  return {
    ...opened,
    forge: new GithubPulls(client, repository),
    tracker: new GithubIssues(client, repository),
  };
}
