// A person's actions during a run, in their checkout, in slots and elsewhere.

import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SeededChance } from '../doubles/seeded-chance.ts';
import type { Stage } from './stage.ts';
import { stagedTokens, tokensIn, tokensOf } from './tokens.ts';

/** The weight of each in the draw. */
export const personActs = {
  commit: 8,
  'commit-shared': 3,
  amend: 5,
  'amend-a-secret-away': 5,
  reset: 3,
  'soft-reset': 2,
  rebase: 3,
  push: 3,
  'pull-rebase': 5,
  'pull-merge': 2,
  'push-from-elsewhere': 5,
  'merge-a-branch': 3,
  'cherry-pick': 3,
  'rebase-in-progress': 3,
  'pick-in-progress': 2,
  'bisect-in-progress': 2,
  finish: 6,
  switch: 3,
  'switch-back': 5,
  'rename-a-branch': 2,
  'delete-a-branch': 2,
  stash: 3,
  pop: 2,
  gc: 3,
  stage: 4,
  'stage-and-edit': 2,
  edit: 4,
  untracked: 3,
  'edit-a-slot': 8,
  'commit-in-a-slot': 4,
  'worktree-add': 2,
  'worktree-remove': 1,
  clean: 2,
  'tag-and-configure': 2,
  'prune-worktrees': 1,
  'move-a-slot': 1,
  'break-the-gate': 2,
} as const;

export type PersonAct = keyof typeof personActs;

type Act = (stage: Stage, chance: SeededChance) => void;

function commitFile(stage: Stage, path: string, message: string): void {
  stage.say(join(stage.root, path));
  stage.git(['add', path]);
  stage.git(['commit', '-qm', message, '--', path]);
}

const own = (chance: SeededChance): string => `mine-${chance.between(1, 3)}.txt`;

export const personScripts: { readonly [act in PersonAct]: Act } = {
  commit: (stage, chance) => commitFile(stage, own(chance), 'mine'),
  'commit-shared': (stage) => commitFile(stage, 'shared.txt', 'in the shared file'),
  amend: (stage, chance) => {
    const path = own(chance);
    stage.say(join(stage.root, path));
    stage.git(['add', path]);
    stage.taking(() => stage.git(['commit', '-q', '--amend', '--no-edit']));
  },
  'amend-a-secret-away': (stage) => {
    commitFile(stage, 'secret.txt', 'with a secret');
    stage.taking(() => {
      stage.git(['rm', '-q', '-f', 'secret.txt']);
      stage.say(join(stage.root, 'plain.txt'));
      stage.git(['add', 'plain.txt']);
      stage.git(['commit', '-q', '--amend', '-m', 'without']);
    });
  },
  reset: (stage) => stage.taking(() => stage.git(['reset', '-q', '--hard', 'HEAD~1'])),
  'soft-reset': (stage) =>
    stage.taking(() => {
      if (stage.git(['reset', '-q', '--soft', 'HEAD~1']) !== null)
        stage.git(['commit', '-qm', 'again']);
    }),
  rebase: (stage) =>
    stage.taking(() =>
      stage.git(['rebase', '-q', '-i', '--autostash', 'HEAD~2'], stage.root, {
        GIT_SEQUENCE_EDITOR: `sed -i '1{h;d};2{G}'`,
      }),
    ),
  push: (stage) => void stage.git(['push', '-q', 'origin', 'main']),
  'pull-rebase': (stage) =>
    stage.bringing(() =>
      stage.taking(
        () => void stage.git(['pull', '-q', '--rebase', '--autostash', 'origin', 'main']),
      ),
    ),
  'pull-merge': (stage) =>
    stage.bringing(() => stage.git(['pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main'])),
  'push-from-elsewhere': (stage) => {
    stage.git(['pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main'], stage.far);
    stage.say(join(stage.far, 'far.txt'), 'far');
    stage.git(['add', 'far.txt'], stage.far);
    stage.git(['commit', '-qm', 'from elsewhere'], stage.far);
    stage.git(['push', '-q', 'origin', 'HEAD:main'], stage.far);
  },
  'merge-a-branch': (stage) => {
    if (stage.git(['switch', '-q', '-c', 'side']) === null) return;
    commitFile(stage, 'side.txt', 'beside');
    stage.git(['switch', '-q', '-']);
    stage.git(['merge', '-q', '--no-ff', '--no-edit', 'side']);
  },
  'cherry-pick': (stage) => {
    if (stage.git(['switch', '-q', '-c', 'picked']) === null) return;
    commitFile(stage, 'picked.txt', 'to be picked');
    stage.git(['switch', '-q', '-']);
    stage.git(['cherry-pick', 'picked']);
  },
  'rebase-in-progress': (stage) =>
    void stage.git(['rebase', '-q', '-i', 'HEAD~1'], stage.root, {
      GIT_SEQUENCE_EDITOR: 'sed -i s/^pick/edit/',
    }),
  'pick-in-progress': (stage) => {
    if (stage.git(['switch', '-q', '-c', 'clash']) === null) return;
    // At the end of the current content, which may have been popped from the stash.
    for (const path of ['poem.txt', 'clash.txt']) stage.say(join(stage.root, path));
    stage.git(['add', 'poem.txt', 'clash.txt']);
    stage.git(['commit', '-qm', 'one way']);
    stage.git(['switch', '-q', '-']);
    commitFile(stage, 'poem.txt', 'the other way');
    stage.git(['cherry-pick', 'clash']);
  },
  'bisect-in-progress': (stage) => {
    const first = stage.git(['rev-list', '--max-parents=0', 'HEAD']);
    if (first !== null) stage.git(['bisect', 'start', 'HEAD', first]);
  },
  finish: (stage) => finish(stage),
  switch: (stage) => {
    if (stage.git(['switch', '-q', '-c', 'own']) === null) stage.git(['switch', '-q', 'own']);
    commitFile(stage, 'own.txt', 'on my own branch');
  },
  'switch-back': (stage) => void stage.git(['switch', '-q', 'main']),
  'rename-a-branch': (stage) => {
    stage.git(['branch', 'named', 'HEAD']);
    stage.git(['branch', '-m', 'named', 'renamed']);
  },
  'delete-a-branch': (stage) => {
    // Work that was not merged anywhere is removed with it; a merge that failed at its end has left
    // it staged.
    const merged = new Set(
      [tokensIn(stage, 'HEAD'), tokensIn(stage, 'main'), stagedTokens(stage)].flat(),
    );
    const gone = tokensIn(stage, 'side').filter((token) => !merged.has(token));
    if (stage.git(['branch', '-D', 'side']) !== null)
      for (const token of gone) stage.takenOut.add(token);
    stage.git(['branch', '-d', 'renamed']);
  },
  stash: (stage) => {
    stage.say(join(stage.root, 'poem.txt'));
    stage.git(['stash', 'push', '-q', '-m', 'put away']);
  },
  pop: (stage) => void stage.git(['stash', 'pop', '-q']),
  gc: (stage) => {
    // Git itself loses a rebase's autostash, if it is pruned before the rebase ends.
    if (existsSync(join(stage.root, '.git', 'rebase-merge', 'autostash'))) return;
    stage.git(['reflog', 'expire', '--expire=now', '--expire-unreachable=now', 'HEAD', 'main']);
    stage.git(['gc', '-q', '--prune=now']);
  },
  stage: (stage) => {
    stage.say(join(stage.root, 'staged.txt'));
    stage.git(['add', 'staged.txt']);
  },
  'stage-and-edit': (stage) => {
    stage.say(join(stage.root, 'both.txt'));
    stage.git(['add', 'both.txt']);
    stage.say(join(stage.root, 'both.txt'));
  },
  edit: (stage) => void stage.say(join(stage.root, 'README.md')),
  untracked: (stage) => void stage.say(join(stage.root, `loose-${stage.starts()}.txt`)),
  'edit-a-slot': (stage, chance) => inSlot(stage, chance, () => undefined),
  'commit-in-a-slot': (stage, chance) =>
    inSlot(stage, chance, (slot, path) => {
      stage.git(['add', path], slot);
      stage.git(['commit', '-qm', 'mine, in a slot', '--', path], slot);
    }),
  'worktree-add': (stage) => {
    const path = join(stage.folder, 'mine-wt');
    if (stage.git(['worktree', 'add', '-q', '-b', 'wt', path]) === null) return;
    stage.say(join(path, 'wt.txt'));
    stage.git(['add', '-A'], path);
    stage.git(['commit', '-qm', 'in my worktree'], path);
    stage.say(join(path, 'wt.txt'));
    stage.git(['worktree', 'move', path, join(stage.folder, 'my-moved-wt')]);
  },
  'worktree-remove': (stage) => {
    const path = ['my-moved-wt', 'mine-wt']
      .map((name) => join(stage.folder, name))
      .find(existsSync);
    if (path !== undefined) stage.git(['worktree', 'remove', path]);
  },
  clean: (stage) => stage.taking(() => stage.git(['clean', '-q', '-fdx'])),
  'tag-and-configure': (stage) => {
    stage.git(['tag', '-f', 'mark']);
    stage.git(['config', 'my.setting', String(stage.starts())]);
  },
  'prune-worktrees': (stage) => void stage.git(['worktree', 'prune']),
  'move-a-slot': (stage, chance) => {
    const free = stage.slotFolders().filter((slot) => stage.isFree(slot));
    if (free.length === 0) return;
    const slot = chance.pick(free);
    const aside = join(stage.folder, `moved-${readdirSync(stage.folder).length}`);
    if (existsSync(slot)) renameSync(slot, aside);
  },
  'break-the-gate': (stage) => {
    stage.write('bad-mine.txt', 'BAD\n');
    stage.git(['add', 'bad-mine.txt']);
    stage.git(['commit', '-qm', 'red', '--', 'bad-mine.txt']);
  },
};

function inSlot(
  stage: Stage,
  chance: SeededChance,
  then: (slot: string, path: string) => void,
): void {
  const slots = stage.slotFolders();
  if (slots.length === 0) return;
  const slot = chance.pick(slots);
  const before = stage.holdersOf(slot);
  const path = `me-${chance.between(1, 9)}.txt`;
  const token = stage.say(join(slot, path));
  then(slot, path);
  const holders = [...new Set([...before, ...stage.holdersOf(slot)])];
  stage.inSlots.set(token, holders);
  stage.tell(`    ${token} in ${slot.slice(stage.slots.length + 1)}, held by ${holders.join(' ')}`);
}

const stopsMax = 50;

/** Unfinished operations are completed; those that cannot be continued are abandoned. */
export function finish(stage: Stage): void {
  const has = (name: string): boolean => existsSync(join(stage.root, '.git', name));
  // Amendments of the commit under test are removed with it.
  if (has('BISECT_LOG')) stage.taking(() => void stage.git(['bisect', 'reset']));
  if (has('CHERRY_PICK_HEAD')) stage.taking(() => giveUp(stage, 'cherry-pick'));
  if (has('MERGE_HEAD')) stage.taking(() => giveUp(stage, 'merge'));
  if (has('rebase-merge')) {
    stage.bringing(() =>
      stage.taking(() => {
        // It stops again at each further commit to be edited.
        for (let stop = 0; stop < stopsMax && has('rebase-merge'); stop += 1) {
          if (stage.git(['rebase', '--continue']) === null) stage.git(['rebase', '--abort']);
        }
      }),
    );
    // An operation that started before the rebase could not end within it.
    if (has('BISECT_LOG')) stage.taking(() => void stage.git(['bisect', 'reset']));
  }
}

/**
 * Git does not abandon an operation over a file that was edited since; then both sides are kept,
 * without conflict markers.
 */
function giveUp(stage: Stage, operation: 'cherry-pick' | 'merge'): void {
  if (stage.git([operation, '--abort']) !== null) return;
  keepBothSides(stage, stage.root);
  stage.git([operation, '--quit']);
}

/** Commits that they removed before are in neither. */
export function keepBothSides(stage: Stage, folder: string): void {
  const files = (stage.git(['diff', '--name-only', '--diff-filter=U'], folder) ?? '').split('\n');
  for (const file of files.filter((name) => name !== '')) {
    const lines = readFileSync(join(folder, file), 'utf8')
      .replace(/^(<<<<<<<|=======|>>>>>>>|\|\|\|\|\|\|\|).*\n/gm, '')
      .split('\n')
      .filter((line) => !tokensOf(line).some((token) => stage.takenOut.has(token)));
    writeFileSync(join(folder, file), lines.join('\n'));
    stage.git(['add', file], folder);
  }
}

/** Repairs changes with which the person made the gate red. */
export function mend(stage: Stage): void {
  if (!existsSync(join(stage.root, 'bad-mine.txt'))) return;
  stage.git(['rm', '-q', '-f', 'bad-mine.txt']);
  rmSync(join(stage.root, 'bad-mine.txt'), { force: true });
  stage.git(['commit', '-qm', 'mended', '--', 'bad-mine.txt']);
}
