// The person's actions on the repository during a run: commits, uncommitted changes, branches, and
// rewinds.

import type { Sha } from '../../server/git/sha.ts';
import type { Files, GitObjects } from '../doubles/simulated-git-objects.ts';
import { flaws, isGreen } from './scenario.ts';
import type { World } from './world.ts';

export class PersonAtGit {
  readonly #world: World;
  #counter = 0;

  constructor(world: World) {
    this.#world = world;
  }

  #write(): void {
    const { personChance: chance, repository } = this.#world;
    this.#counter += 1;
    const tasks = this.#world.rows<{ id: string }>('select id from tasks order by position');
    const path = chance.percent(70)
      ? `person/${this.#counter % 5}`
      : chance.percent(50)
        ? 'shared'
        : `src/${chance.pick(tasks).id}`;
    repository.checkout.files.set(path, `by the person ${this.#counter}\n`);
  }

  actWildly(): void {
    const { personChance: chance, repository, scenario } = this.#world;
    const act = chance.weighted({
      commit: 8,
      change: 4,
      tidy: 4,
      switch: 2,
      rewind: scenario.personRewinds ? 3 : 0,
    });
    this.#world.tell(`person: git ${act}`);
    switch (act) {
      case 'commit':
        this.#write();
        repository.commitIn(repository.checkout, 'by hand', 'person');
        return;
      case 'change':
        return this.#write();
      case 'tidy':
        return this.tidy();
      case 'switch':
        return this.#switch(repository.checkout.branch === 'refs/heads/own' ? 'main' : 'own');
      case 'rewind':
        return this.#rewind();
    }
  }

  #switch(branch: string): void {
    const { repository } = this.#world;
    const { checkout, refs, objects } = repository;
    if (repository.changedIn(checkout).length > 0) return;
    const head = repository.headOf(checkout);
    if (head === null) return;
    const ref = `refs/heads/${branch}`;
    if (!refs.has(ref)) repository.moveRefs([{ ref, next: head, old: null }], 'person', 'a branch');
    checkout.branch = ref;
    checkout.files = new Map(objects.filesOf(refs.get(ref) as string));
  }

  #rewind(): void {
    const { repository } = this.#world;
    const { checkout, objects } = repository;
    const head = repository.headOf(checkout);
    const parent = head === null ? undefined : objects.commit(head).parents[0];
    if (checkout.branch === null || head === null || parent === undefined) return;
    repository.moveRefs(
      [{ ref: checkout.branch, next: parent, old: head }],
      'person',
      'reset --hard',
    );
    checkout.files = new Map(objects.filesOf(parent));
  }

  /**
   * Merges one branch into another by hand; if both have changed a file, the branch's own version
   * stays.
   */
  mergeInto(from: string, into: string): void {
    const { repository } = this.#world;
    const { refs, objects } = repository;
    const ours = refs.get(`refs/heads/${into}`);
    const theirs = refs.get(`refs/heads/${from}`);
    if (ours === undefined || theirs === undefined || objects.isAncestor(theirs, ours)) return;
    this.#world.handMerges += 1;
    this.#world.tell(`person: git merge ${from} into ${into}`);
    const settled = this.#settle(ours, objects.mergeFiles(ours, theirs));
    const sha = repository.commit(settled, [ours, theirs], `merge ${from}`, 'person');
    this.#moveBranch(into, ours, sha, 'merge');
  }

  /**
   * `git cherry-pick -m 1` with the short ids from the message; conflicts are resolved as in a
   * merge.
   */
  pickInto(shorts: readonly string[], into: string): void {
    const { repository } = this.#world;
    const { refs, objects } = repository;
    const started = refs.get(`refs/heads/${into}`);
    if (started === undefined) return;
    this.#world.handMerges += 1;
    this.#world.tell(`person: git cherry-pick -m 1 ${shorts.join(' ')} on ${into}`);
    let tip = started;
    for (const short of shorts) {
      const picked = objects.commit(objects.withPrefix(short));
      const merged = objects.mergeFiles(tip, picked.sha, picked.parents[0] ?? null);
      const settled = this.#settle(tip, merged);
      const isEmpty = objects.writeTree(settled) === objects.commit(tip).tree;
      // Existing changes are left out; a conflict is concluded with its own message.
      if (isEmpty && merged.conflicts.length === 0) continue;
      tip = repository.commit(settled, [tip], picked.subject, 'person', picked.trailers);
    }
    this.#moveBranch(into, started, tip, 'cherry-pick');
  }

  #settle(ours: Sha, { files, conflicts }: ReturnType<GitObjects['mergeFiles']>): Files {
    const settled = new Map(files);
    const before = this.#world.repository.objects.filesOf(ours);
    for (const path of conflicts) settled.set(path, before.get(path) ?? '');
    return settled;
  }

  #moveBranch(branch: string, old: Sha, next: Sha, reason: string): void {
    const { repository } = this.#world;
    const ref = `refs/heads/${branch}`;
    repository.moveRefs([{ ref, next, old }], 'person', reason);
    if (repository.checkout.branch === ref)
      repository.checkout.files = new Map(repository.objects.filesOf(next));
  }

  /** Untested work has broken the main branch, so the error is removed. */
  mend(): void {
    const { repository } = this.#world;
    const { checkout } = repository;
    if (checkout.branch !== 'refs/heads/main' || isGreen('gate', checkout.files)) return;
    this.#world.tell('person: mends the main branch');
    for (const [path, content] of checkout.files)
      checkout.files.set(path, content.replaceAll(flaws, '(mended)'));
    repository.commitIn(checkout, 'mend', 'person');
  }

  /** Uncommitted changes are stashed, and the checkout is on the main branch again. */
  tidy(): void {
    const { repository } = this.#world;
    const { checkout, objects } = repository;
    const head = repository.headOf(checkout);
    if (head !== null && repository.changedIn(checkout).length > 0)
      checkout.files = new Map(objects.filesOf(head));
    if (this.#world.calm && checkout.branch !== 'refs/heads/main') this.#switch('main');
  }
}
