// Why a line is held until a person decides, and the sentence with the command to release it.

import { landingRef } from '../work/ref-names.ts';

type Sha = string;

export type LineHold =
  /** Drover did not write the tip `found`; it last wrote `last`. */
  | { readonly kind: 'foreign'; readonly found: Sha; readonly last: Sha }
  /** The branch was renamed or deleted. */
  | { readonly kind: 'gone'; readonly followed: Sha }
  /** The branch and the landing ref were deleted. */
  | { readonly kind: 'lost'; readonly landed: Sha }
  /** The landing ref was deleted, and git no longer has its commit. */
  | { readonly kind: 'pruned'; readonly landed: Sha; readonly words: string }
  /** The branch was moved to work of `task` that has not passed the gate. */
  | {
      readonly kind: 'ungated';
      readonly task: string;
      readonly target: Sha;
      readonly back: Sha;
    };

const untilDecided = 'until a person decides';
const elsewhere = 'drover run --target <branch> lands elsewhere';

export function describeHold(branch: string, hold: LineHold): string {
  const ref = landingRef(branch);
  switch (hold.kind) {
    case 'foreign': {
      const found = short(hold.found);
      return (
        `${ref} was moved to ${found}, which Drover did not write; nothing lands on ${branch} ${untilDecided}: ` +
        `git update-ref ${ref} ${hold.last} ${hold.found} restores it (merge ${found} into ${branch} first to keep what it holds)`
      );
    }
    case 'gone':
      return (
        `branch ${branch} no longer exists (renamed or deleted); landed work is safe at ${ref}, and nothing more lands ` +
        `${untilDecided}: git branch ${branch} ${hold.followed} recreates it, or ${elsewhere}`
      );
    case 'lost': {
      const other = branch.startsWith('drover/') ? '' : `, or ${elsewhere}`;
      return (
        `branch ${branch} and ${ref} no longer exist; finished work waits, and nothing more lands ` +
        `${untilDecided}: git branch ${branch} ${hold.landed} recreates the branch with the last landed commit${other}`
      );
    }
    case 'pruned':
      return (
        `${ref} was deleted, and git does not find ${hold.landed}, the landed work that it held for ${branch} (${hold.words}); ` +
        `fetch that commit from a clone that has it, and run again`
      );
    case 'ungated': {
      const { task, target, back } = hold;
      return (
        `${branch} was moved to ${short(target)}, which holds work of ${task} that has not passed the gate; nothing lands on ` +
        `${branch} ${untilDecided}: move ${branch} back to ${short(back)} (git reset --keep where it is checked out, ` +
        `otherwise git branch -f), or keep the work as your own with drover cancel ${task}`
      );
    }
  }
}

function short(sha: Sha): string {
  return sha.slice(0, 12);
}
