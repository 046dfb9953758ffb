// A person's day during a run, as a script: whatever they do with git, the target is right and all
// of their work exists.

import assert from 'node:assert/strict';
import { appendFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeBarrier } from '../e2e/support/agent-scripts.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { landedTasks } from '../e2e/support/history.ts';
import { beginPlan } from '../e2e/support/plan.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';

const agent = `
cat > /dev/null
touch "../../begun-$id"
case "$id" in t*) read -r line < "../../go-$id";; esac
echo "work of $id" > "$id.txt"
`;

function commit(here: Project, path: string, folder = here.root): void {
  appendFileSync(join(folder, path), `${path}\n`);
  here.gitIn(folder, 'add', path);
  here.gitIn(folder, 'commit', '-qm', `by hand: ${path}`);
}

suite("a person's day during a run", function () {
  this.timeout(240_000);
  const project = useProjects();

  test("the target is right, the secret stays out, and all of the person's work exists", async () => {
    const here = project({
      agent,
      settings: '[gate]\ncommand = "test -e README.md"\n',
      files: { 'notes.txt': 'notes\n' },
    });
    const [remote, far] = [join(here.folder, 'remote.git'), join(here.folder, 'far')];
    here.git('init', '-q', '--bare', remote);
    here.git('remote', 'add', 'origin', remote);
    here.git('push', '-q', '-u', 'origin', 'main');
    here.git('clone', '-q', remote, far);
    const ids = ['t1', 't2', 't3', 't4'];
    const gates = new Map(ids.map((id) => [id, makeBarrier(here.folder, `go-${id}`)]));
    const letGo = (id: string): void => gates.get(id)?.open();
    const begun = (id: string): Promise<true> =>
      eventually(`${id} has begun`, () => existsSync(join(here.folder, `begun-${id}`)));
    const landed = (id: string): Promise<true> =>
      eventually(`${id} has landed`, async () => (await here.task(id)).status === 'completed');
    await beginPlan(here, [
      ...ids,
      { id: 'E', type: 'epic' },
      { id: 'e1', epic_id: 'E' },
      { id: 'e2', epic_id: 'E', blocked_by: ['e1'] },
    ]);
    await here.expect(0, ['pause', 'e1']);

    commit(here, 'secret.txt');
    const secret = here.git('rev-parse', 'HEAD');
    const run = here.start(['run', '--target', 'main', '--workers', '4']);
    for (const id of ids) await begun(id);
    here.git('rm', '-q', 'secret.txt');
    here.git('commit', '-q', '--amend', '--allow-empty', '-m', 'without the secret');
    commit(here, 'morning.txt');
    letGo('t1');
    await landed('t1');
    commit(here, 'elsewhere.txt', far);
    here.gitIn(far, 'push', '-q', 'origin', 'HEAD:main');
    await eventually('main is free', () => here.sh(here.root, 'git pull -q --rebase') === 0);

    const slot = (await here.task('t2')).worktree_path ?? '';
    appendFileSync(join(slot, 'notes.txt'), 'mine, in the slot\n');
    letGo('t2');
    await landed('t2');
    // A command that encounters a landing's lock is refused.
    await eventually(
      'it has arrived',
      () => landedTasks(here).includes('t2') && !existsSync(join(here.root, '.git', 'index.lock')),
    );
    here.write('repo/notes.txt', 'notes\nput away\n');
    here.git('stash', '-q');
    const stash = here.git('rev-parse', 'stash@{0}');
    here.git('switch', '-q', '-c', 'dev');
    commit(here, 'dev-1.txt');
    commit(here, 'dev-2.txt');
    assert.equal(
      here.sh(here.root, "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~2"),
      0,
    );
    letGo('t3');
    await landed('t3');
    here.git('reflog', 'expire', '--expire=now', '--expire-unreachable=now', 'HEAD', 'main', 'dev');
    here.git('gc', '-q', '--prune=now');
    here.git('-c', 'core.editor=true', 'rebase', '--continue');
    here.sh(here.root, 'git -c core.editor=true rebase --continue');
    here.git('switch', '-q', 'main');
    letGo('t4');
    await run.ended;
    for (const gate of gates.values()) gate.close();

    await here.expect(0, ['resume-task', 'e1']);
    const review = ['run', '--target', 'main', '--epic', 'E', '--land', 'review'];
    await here.expect(2, review);
    assert.equal(here.read('repo/e1.txt'), '', 'not before it is approved');
    await here.expect(0, ['approve', 'E']);
    await here.expect(0, review);

    assert.deepEqual((await here.status()).counts.completed, 6);
    assert.equal((await here.status()).progress, 100);
    for (const id of [...ids, 'e1', 'e2'])
      assert.equal(here.read(`repo/${id}.txt`), `work of ${id}\n`);
    for (const id of ['t2', 't3', 't4']) assert.ok(landedTasks(here).includes(id), id);
    assert.match(here.read('repo/notes.txt'), /mine, in the slot/);
    assert.equal(here.read('repo/secret.txt'), '');
    assert.equal(here.sh(here.root, `git merge-base --is-ancestor ${secret} main`) === 0, false);
    for (const path of ['morning.txt', 'elsewhere.txt'])
      assert.equal(here.read(`repo/${path}`), `${path}\n`);
    assert.equal(here.git('show', 'dev:dev-2.txt'), 'dev-2.txt');
    assert.equal(here.git('rev-parse', 'stash@{0}'), stash);
    assert.equal(here.git('status', '--porcelain'), '');
  });
});
