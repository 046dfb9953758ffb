// Today's cost of each project, read again while its board changes, but not at every change.

import type { Project } from '../project/project.ts';

const readAgainMs = 10_000;

export class CostToday {
  readonly #known = new WeakMap<Project, number>();
  readonly #waiting = new Map<Project, NodeJS.Timeout>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** Returns null while the cost is unknown. */
  of(project: Project): number | null {
    return this.#known.get(project) ?? null;
  }

  /** Reads at once the first time, and then once after each interval in which something changed. */
  readSoon(project: Project): void {
    if (this.#waiting.has(project)) return;
    const delayMs = this.#known.has(project) ? readAgainMs : 0;
    const timer = setTimeout(() => void this.#read(project), delayMs);
    this.#waiting.set(project, timer);
  }

  async #read(project: Project): Promise<void> {
    try {
      const { usd } = await project.request('spending', {});
      if (this.#known.get(project) === usd) return;
      this.#known.set(project, usd);
      this.#changed();
    } catch {
      // An older backend does not know the request, and a lost request is repeated.
    } finally {
      this.#waiting.delete(project);
    }
  }

  dispose(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }
}
