// Moves a checkout from one commit to another while Drover itself holds its index. A command of a
// person reads the branch first and the index a little later: if the branch moves in between, it
// gives up at its end, with files and index of another commit. Git's own merge makes that worse: it
// reads the index before it locks it.
//
// So the index is locked first. What runs in the checkout by then is waited for, untouched; what
// starts later finds the lock, and ends before it has changed anything. The new index takes the old
// one's place under the lock, and before the lock is let go, commands that may have read the old
// one have ended: a merge or a rebase puts aside what is staged before it asks for the lock, and
// what was put aside from an index that is not of HEAD can't be put back. Only `git merge` asks for
// a commit of its result then, where there is none: that commit would drop what was to be merged.
// So that merge is ended.

import { linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RepositoryContext } from '../context.ts';
import { settings } from '../process/environment.ts';
import { exists } from '../files/small-files.ts';
import type { Sha } from '../sha.ts';
import { unfinishedOperation } from '../refs/worktree-heads.ts';
import { writeMissing } from './arrived-files.ts';
import { placedIndex } from './cut-follow.ts';
import { commandsEnd, isCommandRunning, starters } from './git-processes.ts';

interface Checkout {
  readonly path: string;
  readonly gitDir: string;
}

/** From what the index is of to what it should be of: commits or trees. */
export interface HeldMove {
  readonly from: Sha;
  readonly to: Sha;
  /** The branch, which goes along from the one commit to the other; null: files and index alone. */
  readonly ref: string | null;
}

/**
 * `locked`: someone else holds the index. `in use`: a command is running there, or what was found
 * before the lock is so no longer. `overtaken`: a command that needs no index came in between, and
 * the move was taken back. `refused`: files are in the way, or the branch is held. Nothing is
 * changed then.
 */
export type HeldMoveEnd =
  | { readonly kind: 'moved' }
  | { readonly kind: 'locked' }
  | { readonly kind: 'in use' }
  | { readonly kind: 'overtaken' }
  | { readonly kind: 'refused'; readonly said: string };

/**
 * Git works on the lock as if it were the index. The first answer is `go`; without it, the index is
 * let go unchanged. Before the second, Drover may have put the index in place under the lock; the
 * answer may be `back` and the commit that HEAD was at; a refusal only waits for it. The script
 * outlives Drover, and ends what it has started.
 *
 * The copy gets the time of the index: git reads a file again if it is as new as the index, because
 * it may have changed unseen in that second. A copy with a later time would hide such a change.
 */
const script = `
trap '' HUP INT PIPE TERM
index=$1 from=$2 to=$3 ref=$4
shift 4
lock=$index.lock
( set -C; cat "$index" > "$lock" ) 2> /dev/null || { echo locked; exit; }
touch -r "$index" "$lock" || { rm -f "$lock"; echo 'in use'; exit; }
end() { rm -f "$lock"; echo "$1"; exit; }
put() { mv -f "$lock" "$index"; echo "$1"; exit; }
refuse() { echo refusing; read -r answer; end refused; }
between() { GIT_INDEX_FILE=$lock "$@" < /dev/null 2>&1; }
echo held
read -r answer
[ "$answer" = go ] || end 'in use'
if [ -z "$ref" ]; then
  said=$(between "$@" read-tree -m -u "$from" "$to")
else
  said=$(between "$@" merge -q --no-stat --ff-only --no-overwrite-ignore "$to")
fi
code=$?
printf '%s\\n' "$said" >&2
case $code$said in
  0*) ;;
  *[Cc]'annot lock ref'*)
    "$@" update-ref -m 'drover: land' "$ref" "$to" "$from" < /dev/null || {
      between "$@" read-tree -m -u "$to" "$from"
      refuse
    } ;;
  *) refuse ;;
esac
echo written
read -r answer
placed=
[ ! "$lock" -ef "$index" ] || placed=yes
back=\${answer#back }
if [ "$back" != "$answer" ] && "$@" update-ref -m 'drover: put back' HEAD "$back" "$to" < /dev/null; then
  between "$@" read-tree -m -u "$to" "$from"
  [ -z "$placed" ] || put overtaken
  end overtaken
fi
[ -z "$placed" ] || end moved
put moved
`;

/** Asked while the index is locked. */
export interface HeldQuestions {
  /** Right before anything is changed. */
  readonly isAsFound: () => Promise<boolean>;
  /**
   * When it is changed: where HEAD was, if a command that needs no index has moved it or the branch
   * meanwhile; then the move is taken back. Null: the move is as it should be.
   */
  readonly overtakenAt?: () => Promise<Sha | null>;
}

/** Null: this system has no shell for it, or there is no index. */
export async function moveHeld(
  context: RepositoryContext,
  checkout: Checkout,
  { from, to, ref }: HeldMove,
  { isAsFound, overtakenAt }: HeldQuestions,
): Promise<HeldMoveEnd | null> {
  const index = join(checkout.gitDir, 'index');
  if (!context.holdsIndexes || !exists(index)) return null;
  const hadNone = unfinishedOperation(checkout.gitDir) === null;
  let hasEndedMerge = false;
  const othersEnd = async (): Promise<boolean> => {
    const others = await commandsEnd(context, [checkout.path], letGo);
    if (hadNone && (await endMerge(context, checkout))) hasEndedMerge = true;
    return others !== 'free';
  };
  const output = await context.git(moveSettings, {
    at: checkout.path,
    waitForLocks: false,
    dialog: {
      script,
      args: [index, from, to, ref ?? ''],
      answer: async (line) => {
        if (line === 'held')
          return !isCommandRunning(context, [checkout.path]) && (await isAsFound()) ? 'go' : 'no';
        if (line !== 'written' && line !== 'refusing') return null;
        if (line === 'written') placeIndex(index);
        const wereOthers = await othersEnd();
        if (line === 'refusing') return 'go';
        const old = (await overtakenAt?.()) ?? null;
        if (old !== null) return `back ${old}`;
        const arrived = { at: checkout.path, index: `${index}.lock`, from, to };
        await writeMissing(context, arrived, wereOthers);
        return 'go';
      },
    },
  });
  const end = output.stdout.toString('utf8').trimEnd().split('\n').at(-1);
  const kind = ends.find((one) => one === end);
  if (kind === 'in use' && hadNone) await endMergeOfBefore(context, checkout);
  if (kind !== undefined) return { kind };
  return hasEndedMerge ? { kind: 'in use' } : { kind: 'refused', said: output.stderr };
}

/** The lock's content becomes the index, and stays locked, where the file system can do that. */
function placeIndex(index: string): void {
  const placed = placedIndex(index);
  try {
    rmSync(placed, { force: true });
    linkSync(`${index}.lock`, placed);
    renameSync(placed, index);
  } catch {
    rmSync(placed, { force: true });
  }
}

/** One that has started since the index is locked has merged nothing. */
async function endMerge(context: RepositoryContext, checkout: Checkout): Promise<boolean> {
  if (unfinishedOperation(checkout.gitDir)?.kind !== 'merge') return false;
  const ended = await context.git(['merge', '--quit'], { at: checkout.path });
  return ended.code === 0;
}

/** One that was about to lock the index itself; any that could has put something in it. */
async function endMergeOfBefore(context: RepositoryContext, checkout: Checkout): Promise<void> {
  await commandsEnd(context, [checkout.path], letGo);
  if (unfinishedOperation(checkout.gitDir)?.kind !== 'merge') return;
  const { path: at } = checkout;
  const merged = await context.git(['diff-index', '--cached', '--quiet', 'HEAD'], { at });
  if (merged.code === 0) await endMerge(context, checkout);
}

const ends = ['moved', 'locked', 'in use', 'overtaken'] as const;

/** Of git's own move of a checkout, in whatever way. */
export const moveSettings: readonly string[] = settings({
  'merge.autoStash': 'false',
  'merge.verifySignatures': 'false',
  'core.fsync': 'reference',
});

/**
 * A command that finds the index locked ends soon, on a busy machine within seconds; one that asks
 * a person may not end.
 */
const letGo = { maxMs: 10_000, except: starters };
