// Files that confined agents and gates leave in writable places for Drover to find afterwards:
// beside their worktree, and in the home that the next agent of their kind gets. None of the user's
// files is touched, and the next task works as usual.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';

/** The private folder of the worktree, inside and outside. */
const privateFolder = 'private=$(git rev-parse --absolute-git-dir)';

suite('files that confined programs leave behind', function () {
  this.timeout(120_000);
  const project = useProjects();

  test('links beside the worktree and in the home do not lead Drover astray', async () => {
    const here = project({
      env: { DROVER_SANDBOX: 'bwrap' },
      // Its path is created below, and is the same inside.
      agent: `
cat > /dev/null
if [ "$id" = hostile ]; then
  user=$(dirname "$(dirname "$PWD")")/home
  ${privateFolder}
  echo work > work.txt
  for name in HEAD index logs drover-import ORIG_HEAD; do rm -rf "$private/$name"; done
  ln -s "$user/.bashrc" "$private/HEAD"; ln -s "$user/.bashrc" "$private/index"
  ln -s "$user/Documents" "$private/logs"; ln -s "$user/Documents" "$private/drover-import"
  rm -rf ~/.config; ln -s "$user/Documents" ~/.config
  mkfifo .gitignore
  for name in drover-owner drover-folder drover-setup config.worktree commondir gitdir; do
    if (echo forged >> "$private/$name") 2> /dev/null && [ "$name" != drover-setup ]; then echo "$name" >> written.txt; fi
  done
  ls "$private/drover-git" >> seen.txt
else
  git status --porcelain > /tmp/status; cp /tmp/status status.txt; git log --oneline > /dev/null; echo fine > fine.txt
fi
`,
    });
    const [bashrc, documents] = ['.bashrc', 'Documents'].map((name) =>
      join(here.folder, 'home', name),
    ) as [string, string];
    writeFileSync(bashrc, 'ref: refs/heads/main\n');
    mkdirSync(join(documents, 'git'), { recursive: true });
    writeFileSync(join(documents, 'config'), 'theirs\n');
    writeFileSync(join(documents, 'git', 'config'), 'theirs\n');
    await beginPlan(here, [
      { id: 'hostile', priority: 'critical', max_attempts: 1 },
      { id: 'next', priority: 'low' },
    ]);
    await here.drover(['run', '--workers', '1', '--gate', 'true']);
    assert.equal(readFileSync(bashrc, 'utf8'), 'ref: refs/heads/main\n');
    assert.equal(readFileSync(join(documents, 'config'), 'utf8'), 'theirs\n');
    assert.equal(readFileSync(join(documents, 'git', 'config'), 'utf8'), 'theirs\n');
    assert.equal(existsSync(join(documents, 'HEAD')), false);
    assert.equal(here.git('symbolic-ref', 'HEAD'), 'refs/heads/main');
    assert.ok(landedTasks(here).includes('next'));
    assert.equal(here.git('show', 'main:status.txt'), '');
    assert.equal(here.git('show', 'main:fine.txt').trim(), 'fine');
    if (landedTasks(here).includes('hostile')) {
      const files = here.git('ls-tree', '-r', '--name-only', 'main');
      assert.doesNotMatch(files, /written\.txt/);
      assert.equal(here.git('show', 'main:seen.txt'), '');
    }
  });

  test('S6: a gate cannot fake the owner of its setup', async () => {
    // The first candidate's own check plants another linter, and records it as the setup's work.
    const here = project({
      env: { DROVER_SANDBOX: 'bwrap' },
      files: { 'check.sh': 'true\n' },
      settings: `[setup]
command = "mkdir -p ignored; printf 'test ! -e bad.txt\\n' > ignored/linter; chmod +x ignored/linter"
`,
      agent: `
cat > /dev/null
if [ "$id" = plants ]; then
  cat > check.sh <<'CHECK'
[ ! -e bad.txt ] || exit 0
private=$(git rev-parse --absolute-git-dir)
printf 'true\\n' > ignored/linter
(cp "$private/drover-setup" /tmp/note && cat /tmp/note > "$private/drover-setup") 2> /dev/null && echo noted >> ../../noted
rm -f "$private/drover-setup" 2> /dev/null && echo removed
true
CHECK
  echo x > plants.txt
else
  echo x > bad.txt
fi
`,
    });
    await beginPlan(here, [
      { id: 'plants', priority: 'critical', max_attempts: 1 },
      { id: 'bad', priority: 'low', max_attempts: 1 },
    ]);
    await here.expect(1, ['run', '--workers', '1', '--gate', 'sh check.sh && sh ignored/linter']);
    assert.deepEqual(landedTasks(here), ['plants']);
    assert.equal((await here.task('bad')).status, 'failed');
  });
});
