// Which repository a database belongs to: its row identifies a project, and so does a file in the
// git folder. Together they detect a copy, a clone that contained `.drover/`, a moved repository,
// and a database of another project (docs/adr/0019).

import { randomUUID } from 'node:crypto';
import { existsSync, lstatSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative } from 'node:path';
import { Refusal } from '../core/failure.ts';
import type { LocalRepository } from '../git/local-port.ts';
import type { Store } from '../store/port.ts';
import {
  forgetSlotsOfOthers,
  hasAttemptsInFlight,
  readRepository,
  type RepositoryRow,
  writeRepository,
} from '../store/rows/repository-rows.ts';
import { findCommonDir } from '../git/refs/common-dir.ts';
import { makeHome } from './kept-plan.ts';
import {
  gitHome,
  type GitHome,
  isSameFolder,
  type ProjectIdentity,
  type ProjectPlaces,
  readIdentity,
} from './project-places.ts';

type Ownership =
  | { readonly kind: 'ours' | 'unmarked' | 'moved' }
  | { readonly kind: 'copy'; readonly original: ProjectIdentity }
  /** `isGone`: the repository that it belongs to is no longer at its location. */
  | { readonly kind: 'foreign'; readonly owner: RepositoryRow; readonly isGone: boolean }
  | { readonly kind: 'second_plan'; readonly root: string };

export interface IdentityDeps {
  readonly places: ProjectPlaces;
  readonly store: Store;
  readonly openLocal: () => Promise<Pick<LocalRepository, 'rootCommit' | 'mayHold' | 'tracksAny'>>;
}

export type IdentityLook = Omit<IdentityDeps, 'store'> & {
  readonly store: { readonly db: Parameters<typeof readRepository>[0] };
};

/** Refuses a plan that belongs to another repository. Writes nothing. */
export async function checkIdentity(deps: IdentityLook): Promise<void> {
  const { home } = deps.places;
  if (home === null) return;
  const row = await readRepository(deps.store.db);
  await refuseForeign(deps, ownership(deps.places, home, row));
}

/** Why an engine could not start, or null. */
export async function identityProblem(deps: IdentityLook): Promise<string | null> {
  const { places, store } = deps;
  const { home } = places;
  if (home === null) return null;
  try {
    const found = ownership(places, home, await readRepository(store.db));
    await refuseForeign(deps, found);
    if (found.kind === 'copy' && (await hasAttemptsInFlight(store.db)))
      throw copiedInFlight(places, home, found.original);
    return null;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

/** Refuses like `checkIdentity`, then marks a plan that has no mark. */
export async function markIdentity(deps: IdentityDeps): Promise<void> {
  const { home } = deps.places;
  if (home === null) return;
  const row = await readRepository(deps.store.db);
  const found = ownership(deps.places, home, row);
  await refuseForeign(deps, found);
  if (found.kind === 'unmarked' || found.kind === 'foreign') await mark(deps, home, row);
}

/**
 * For the only engine of a repository, before it starts: records a new location, and turns a copy
 * into a separate project. A copy in which agents seem to run is refused, because they belong to
 * the original.
 */
export async function settleIdentity(
  deps: IdentityDeps,
  isOwnSlot: (path: string) => boolean,
): Promise<void> {
  const { places, store } = deps;
  const { home } = places;
  if (home === null) return;
  const row = await readRepository(store.db);
  const found = ownership(places, home, row);
  await refuseForeign(deps, found);
  if (found.kind === 'ours') return;
  if (found.kind !== 'copy') {
    await mark(deps, home, row);
    return;
  }
  if (await hasAttemptsInFlight(store.db)) throw copiedInFlight(places, home, found.original);
  const forgot = await store.transaction((tx) => forgetSlotsOfOthers(tx, '', isOwnSlot));
  // A copy of a plan that never ran shares nothing with the original, so only its location is
  // recorded.
  if (forgot > 0) await mark(deps, home, null);
  else writeIdentity(home, { ...found.original, common_dir: home.commonDir, root: places.root });
}

function ownership(places: ProjectPlaces, home: GitHome, row: RepositoryRow | null): Ownership {
  const noted = readIdentity(home);
  if (row === null) {
    const other = noted === null ? null : secondPlan(places, noted.root);
    return other === null ? { kind: 'unmarked' } : { kind: 'second_plan', root: other };
  }
  if (noted?.id !== row.id) {
    if (isSameFolder(row.common_dir, home.commonDir)) return { kind: 'unmarked' };
    const isGone = readIdentity(gitHome(row.common_dir))?.id !== row.id;
    return { kind: 'foreign', owner: row, isGone };
  }
  if (isSameFolder(noted.common_dir, home.commonDir)) {
    const isNoted =
      row.common_dir === home.commonDir || readIdentity(gitHome(row.common_dir))?.id === row.id;
    return { kind: isNoted && noted.root === places.root ? 'ours' : 'moved' };
  }
  const original = readIdentity(gitHome(noted.common_dir));
  return original?.id === noted.id ? { kind: 'copy', original } : { kind: 'moved' };
}

/**
 * Another worktree of the repository with a separate plan, from before repositories shared one
 * plan.
 */
function secondPlan(places: ProjectPlaces, root: string): string | null {
  if (root === places.root || places.database !== places.ownDatabase) return null;
  if (findCommonDir(root) !== places.home?.commonDir) return null;
  const other = join(root, basename(places.folder), basename(places.ownDatabase));
  return existsSync(other) && !isSameFolder(other, places.database) ? root : null;
}

/**
 * A plan that git tracks came with a clone: its author chose its content and the programs that it
 * runs. Only a note in the git folder, which no clone contains, makes a plan this repository's own.
 */
export async function refuseTracked({
  places,
  openLocal,
}: Pick<IdentityLook, 'places' | 'openLocal'>): Promise<void> {
  const own = [places.folder, places.database].map((path) => relative(places.root, path));
  const inside = own.filter((path) => path !== '' && !path.startsWith('..') && !isAbsolute(path));
  const local = await openLocal();
  if (inside.length === 0 || !(await local.tracksAny(inside))) return;
  throw wrongProject(
    `Git tracks files of Drover's own in ${places.root}: this repository brings a plan that was made elsewhere, and nothing of it is used. To make a plan of your own, run "git rm -r --cached ${inside.join(' ')}", move ${places.folder} away, then run "drover init".`,
  );
}

/** Called before the database is opened, because a link from a clone would be written through. */
export async function refuseTrackedLinks(
  deps: Pick<IdentityLook, 'places' | 'openLocal'>,
): Promise<void> {
  const { folder, database } = deps.places;
  if ([folder, database].some(isLink)) await refuseTracked(deps);
}

/** An unreadable path is never written to. Opening it reports the problem. */
function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

async function refuseForeign(deps: IdentityLook, found: Ownership): Promise<void> {
  const { places } = deps;
  if (found.kind === 'unmarked') await refuseTracked(deps);
  if (found.kind === 'second_plan') {
    throw wrongProject(
      `${places.ownDatabase} is a second plan of this repository, whose project is ${found.root}. Work there (drover -C ${found.root}), or move one of the two .drover folders away.`,
    );
  }
  if (found.kind !== 'foreign') return;
  const { common_dir: commonDir, root_commit: rootCommit } = found.owner;
  if (found.isGone && rootCommit !== null) {
    const local = await deps.openLocal();
    if (await local.mayHold(rootCommit)) return refuseTracked(deps);
  }
  const owner = checkoutOf(commonDir);
  const remedy =
    places.database === places.ownDatabase
      ? `Move ${places.folder} away, then run "drover init" for a separate plan.`
      : `Name another file for this repository: DROVER_DATABASE_URL, or database in .drover.toml.`;
  throw wrongProject(
    `The database ${places.database} belongs to the repository ${owner}, not to ${places.root}. ${remedy}`,
  );
}

async function mark(
  { places, store, openLocal }: IdentityDeps,
  home: GitHome,
  row: RepositoryRow | null,
): Promise<void> {
  const noted = readIdentity(home);
  const isHere = noted !== null && isSameFolder(noted.common_dir, home.commonDir);
  const id = row?.id ?? (isHere ? noted.id : randomUUID());
  const root_commit = row?.root_commit ?? (await (await openLocal()).rootCommit());
  await store.transaction((tx) =>
    writeRepository(tx, { id, common_dir: home.commonDir, root_commit }),
  );
  writeIdentity(home, { id, common_dir: home.commonDir, root: places.root });
}

function writeIdentity(home: GitHome, identity: ProjectIdentity): void {
  makeHome(home);
  const fresh = `${home.identity}.${process.pid}`;
  writeFileSync(fresh, `${JSON.stringify(identity)}\n`);
  renameSync(fresh, home.identity);
}

function copiedInFlight(places: ProjectPlaces, home: GitHome, original: ProjectIdentity): Refusal {
  return wrongProject(
    `${places.root} is a copy of ${original.root} that was made while tasks were running there. Finish them there, or move the original away to continue here. For a separate plan, delete ${places.folder} and ${home.folder}, then run "drover init".`,
  );
}

function wrongProject(message: string): Refusal {
  return new Refusal('wrong_project', message);
}

function checkoutOf(commonDir: string): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}
