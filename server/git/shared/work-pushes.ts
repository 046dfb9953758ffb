// Snapshots are made on this machine; they are also pushed, later and in groups, so that other
// machines find them. Snapshots with files that are never committed, or that git ignores, stay on
// this machine.

import { sharedRoot } from '../../core/work/ref-names.ts';
import { isAncestor } from '../read/ancestry.ts';
import type { RepositoryContext } from '../context.ts';
import { secretsInRange } from '../work/held-contents.ts';
import { secretNames } from '../work/held-names.ts';
import { shown, zeroEnded } from '../files/paths.ts';
import { readRef, type RefChange } from '../refs/refs.ts';
import { changesIn } from '../work/without-held.ts';
import { pushChanges, type PushDeps } from './pushes.ts';
import type { Sha } from '../sha.ts';

/** Beyond this many waiting ones, the oldest stay on this machine alone. */
const waitingMax = 200;

export class WorkPushes {
  readonly #deps: PushDeps;
  readonly #report: (error: unknown, doing: string) => void;
  readonly #waiting: string[] = [];
  #running: Promise<void> | null = null;

  constructor(deps: PushDeps, report: (error: unknown, doing: string) => void) {
    this.#deps = deps;
    this.#report = report;
  }

  add(ref: string | null): void {
    if (ref === null) return;
    if (this.#waiting.length >= waitingMax) this.#waiting.shift();
    this.#waiting.push(ref);
    this.#running ??= this.#pushAll()
      .catch((error: unknown) => this.#report(error, 'pushing snapshots'))
      .finally(() => {
        this.#running = null;
      });
  }

  async settled(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  async #pushAll(): Promise<void> {
    const { context, name } = this.#deps.remote;
    while (this.#waiting.length > 0) {
      const refs = this.#waiting.splice(0);
      const found = await this.#deps.remoteRefs.exactly([...new Set(refs)]);
      if (!found.ok) {
        this.#report(found.error, `pushing snapshots to ${name}`);
        continue;
      }
      const changes: RefChange[] = [];
      for (const ref of new Set(refs)) {
        const next = await readRef(context, ref);
        const old = found.value.get(ref) ?? null;
        if (next === null || next === old) continue;
        // Each snapshot leads to the one before. What does not is another machine's, and is never
        // replaced.
        const isOurs = old === null || (await isAncestor(context, old, next));
        if (isOurs && (await mayBeShared(context, next))) changes.push({ ref, next, old });
      }
      if (changes.length === 0) continue;
      const pushed = await pushChanges(this.#deps, changes);
      if (pushed.kind === 'trouble') {
        this.#report(pushed.failure, `pushing snapshots to ${name}`);
      }
    }
  }
}

/** Also false if it is unknown. */
async function mayBeShared(context: RepositoryContext, commit: Sha): Promise<boolean> {
  // Every commit that the remote does not have, against each of its parents: what was staged is one
  // of them.
  const known = ['--not', `--glob=${sharedRoot}*`, '--remotes'];
  const changed = await changesIn(context, ['--root', commit, ...known]);
  if (!changed.ok) return false;
  const { present: paths, blobs } = changed.value;
  if (paths.some((path) => context.isHeldName(shown(path)))) return false;
  const names = await secretNames(context, null, paths);
  if (!names.ok || names.value.size > 0) return false;
  const secrets = await secretsInRange(context, null, blobs, []);
  if (!secrets.ok || secrets.value.size > 0) return false;
  if (paths.length === 0) return true;
  const ignored = await context.git(['check-ignore', '-q', '-z', '--stdin', '--no-index'], {
    input: zeroEnded(paths),
  });
  // 1: none of them is ignored.
  return ignored.code === 1 && ignored.problem === null;
}
