// Notices when ignore rules have changed between two users of a slot: then files left over would
// turn from ignored to new.

import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import { join } from 'node:path';
import { readText } from '../../files/small-files.ts';

export function isIgnoreFile(path: string): boolean {
  return path === '.gitignore' || path.endsWith('/.gitignore');
}

export interface IgnoreFingerprint {
  readonly text: string | null;
}

/**
 * Rules are in the root's `.gitignore` nearly always; changes to others are reported by the commits
 * that make them.
 */
class IgnoreRules {
  #generation = 0;
  readonly #cleanedAt = new Map<string, number>();

  /**
   * Some commit of ours touched a `.gitignore` anywhere: every slot is cleaned once before its next
   * use.
   */
  touched(): void {
    this.#generation += 1;
  }

  fingerprint(worktree: string): IgnoreFingerprint {
    return { text: readText(join(worktree, '.gitignore')) };
  }

  /** True when the slot needs cleaning; the caller then cleans it. */
  changedSince(worktree: string, before: IgnoreFingerprint): boolean {
    const seen = this.#cleanedAt.get(worktree) ?? 0;
    this.#cleanedAt.set(worktree, this.#generation);
    return seen !== this.#generation || this.fingerprint(worktree).text !== before.text;
  }
}

const ofRepository = new MadeOnce<RepositoryContext, IgnoreRules>();

export function ignoreRules(context: RepositoryContext): IgnoreRules {
  return ofRepository.of(context, () => new IgnoreRules());
}
