// The disk space used by this machine's worktrees, for their limit: always available, and measured
// in the background at low cost.

import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { folderUse } from '../files/folder-use.ts';

/** A slot as stored. */
interface UsedSlot {
  readonly path: string;
  readonly task_id: string | null;
  /** Unix seconds. */
  readonly last_used_at: number;
}

export interface WorktreeUseDeps {
  /** Folder of the pool. */
  readonly folder: () => string;
  readonly slots: () => Promise<readonly UsedSlot[]>;
  readonly nowMs: () => number;
}

interface Measured {
  readonly bytes: number;
  readonly atMs: number;
  /** The slot was in use when it was measured, so it may have grown since. */
  readonly wasHeld: boolean;
}

/** Folders beside the slots change with setups, which are rare. */
const othersEveryMs = 300_000;
const restMinMs = 5_000;
/** Rests this many times as long as it measured, so it uses at most 5 % of a core. */
const restFactor = 20;
/** During a run, the dispatcher queries it every second. */
const silenceMs = 10_000;

export class WorktreeUse {
  readonly #deps: WorktreeUseDeps;
  readonly #measured = new Map<string, Measured>();
  #measuring: Promise<void> | null = null;
  #restUntilMs = Number.NEGATIVE_INFINITY;
  /** Earlier measurements than this are outdated. */
  #oldFromMs = Number.NEGATIVE_INFINITY;

  constructor(deps: WorktreeUseDeps) {
    this.#deps = deps;
  }

  /**
   * Bytes of all folders of the pool when last measured, without deleted ones. The first call, and
   * one after a long pause, waits until all are measured.
   */
  async bytes(): Promise<number> {
    const paths = await this.#folders();
    for (const known of this.#measured.keys()) {
      if (!paths.includes(known)) this.#measured.delete(known);
    }
    const nowMs = performance.now();
    if (nowMs >= this.#restUntilMs) {
      this.#measuring ??= this.#measure(paths).finally(() => (this.#measuring = null));
      if (nowMs >= this.#oldFromMs) await this.#measuring;
    }
    return [...this.#measured.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async #folders(): Promise<readonly string[]> {
    const folder = this.#deps.folder();
    const names = await readdir(folder).catch((): string[] => []);
    return names.map((name) => join(folder, name));
  }

  /** Never rejects. */
  async #measure(paths: readonly string[]): Promise<void> {
    const beganMs = performance.now();
    try {
      const slots = new Map((await this.#deps.slots()).map((slot) => [slot.path, slot]));
      for (const path of paths) {
        const slot = slots.get(path);
        if (!this.#isDue(path, slot)) continue;
        const atMs = this.#deps.nowMs();
        const bytes = await folderUse(path);
        this.#measured.set(path, { bytes, atMs, wasHeld: (slot?.task_id ?? null) !== null });
      }
    } catch {
      // The database was unreachable. The next check asks again.
    }
    const nowMs = performance.now();
    this.#restUntilMs = nowMs + Math.max(restMinMs, (nowMs - beganMs) * restFactor);
    this.#oldFromMs = this.#restUntilMs + silenceMs;
  }

  /** The content of a free slot does not change. */
  #isDue(path: string, slot: UsedSlot | undefined): boolean {
    const last = this.#measured.get(path);
    if (last === undefined) return true;
    if (slot === undefined) return this.#deps.nowMs() - last.atMs >= othersEveryMs;
    return slot.task_id !== null || last.wasHeld || slot.last_used_at * 1_000 >= last.atMs - 1_000;
  }
}

/** Folders of the pool that are not among these slots: sealed setups, and other users' folders. */
export async function besidesSlots(
  folder: string,
  slots: readonly { readonly path: string }[],
): Promise<readonly string[]> {
  const names = new Set(await readdir(folder).catch((): string[] => []));
  for (const { path } of slots) if (dirname(path) === folder) names.delete(basename(path));
  return [...names].map((name) => join(folder, name));
}
