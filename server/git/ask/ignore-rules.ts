// Detects changes of ignore rules between two users of a slot, after which leftover ignored files
// would count as new.

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
 * Rules are nearly always in the root's `.gitignore`. Commits that change other files report it.
 */
class IgnoreRules {
  #generation = 0;
  readonly #cleanedAt = new Map<string, number>();

  /**
   * A commit of ours changed a `.gitignore` somewhere, so every slot is cleaned once before its
   * next use.
   */
  touched(): void {
    this.#generation += 1;
  }

  fingerprint(worktree: string): IgnoreFingerprint {
    return { text: readText(join(worktree, '.gitignore')) };
  }

  /** Returns true if the slot needs cleaning, which the caller then does. */
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
