// The limits of Drover's protection during the milliseconds of a move: nothing is lost, and the
// state is either intact again or reported with the commands that repair it.

import assert from 'node:assert/strict';
import { makeBarrier, writeAgent } from '../support/agent-scripts.ts';
import { eventually } from '../support/eventually.ts';
import { beginPlan } from '../support/plan.ts';
import type { Project } from '../support/project.ts';
import { isProcessAlive } from '../support/processes.ts';
import { useProjects } from '../support/suite-projects.ts';

const agent = `
cat > /dev/null
echo "first of $id" > a.txt
echo "second of $id" > z.late
`;

const landed = { 'a.txt': 'first of t1\n', 'z.late': 'second of t1\n' };

/**
 * Runs the command whenever git writes a file of the second kind into the user's checkout, through
 * a filter.
 */
function inTheMove(here: Project, words: string): void {
  const body = `if [ "$PWD" = "${here.root}" ]; then ${words}; fi; cat`;
  const filter = writeAgent(here.folder, `unset GIT_DIR GIT_INDEX_FILE; ${body}`, 'filter.sh');
  const inFilter = `DROVER_TASK_ID= DROVER_ATTEMPT= ${filter}`;
  here.git('config', '--global', 'filter.late.smudge', inFilter);
  here.git('config', '--global', 'filter.late.clean', 'cat');
  here.write('repo/.gitattributes', '*.late filter=late\n');
  here.git('add', '.gitattributes');
  here.git('commit', '-qm', 'a filter');
}

const isWhole = (here: Project): boolean =>
  Object.entries(landed).every(([path, text]) => here.read(`repo/${path}`) === text) &&
  here.git('status', '--porcelain') === '' &&
  here.sh(here.root, 'test "$(git show main:z.late)" = "second of t1"') === 0;

/** Drover repairs it itself, or both `status` and `why` name the command that does. */
async function isCuredOrTold(here: Project, expected: RegExp): Promise<void> {
  await here.drover(['run', '--target', 'main']);
  if (isWhole(here)) return;
  for (const words of [await here.drover(['status']), await here.drover(['why', 't1'])]) {
    const [, command] = expected.exec(words.stdout) ?? [];
    assert.ok(command !== undefined, `neither whole nor told: ${words.stdout}`);
    if (command.startsWith('drover ')) await here.drover(command.split(' ').slice(1));
    else here.sh(here.root, command);
    await here.drover(['run', '--target', 'main']);
    if (isWhole(here)) return;
  }
  await eventually('whole after the command', () => isWhole(here));
}

const follow = /"(drover follow main)"/u;

suite('promises: reported limits', function () {
  this.timeout(180_000);
  const project = useProjects();

  test("a user's command removes a file during a fast-forward", async () => {
    const here = project({ agent });
    inTheMove(here, 'rm -f a.txt; : > ../removed');
    await beginPlan(here, ['t1']);
    await here.drover(['run']);
    assert.equal(here.git('show', 'main:a.txt'), 'first of t1');
    assert.equal(here.sh(here.folder, 'test -e removed'), 0);
    here.git('config', '--global', 'filter.late.smudge', 'cat');
    await isCuredOrTold(here, follow);
  });

  test('all processes die during a fast-forward', async () => {
    const here = project({ agent });
    const once = 'if mkdir ../once 2> /dev/null; then';
    const backend = `$(sed 's/.*"pid": *\\([0-9]*\\).*/\\1/' .drover/backend.json | tr -dc 0-9)`;
    inTheMove(here, `${once} echo "${backend}" > ../once/pid; kill -9 "${backend}"; kill -9 0; fi`);
    await beginPlan(here, ['t1']);
    here.write('repo/mine.txt', 'mine\n');
    here.git('add', 'mine.txt');
    here.git('commit', '-qm', 'mine');
    await here.drover(['run']);
    const died = Number(here.read('once/pid'));
    assert.ok(died > 1 && !isProcessAlive(died), `${died} died in the move`);
    await isCuredOrTold(here, /"(rm '[^"\n]+')"/u);
    assert.equal(here.read('repo/mine.txt'), 'mine\n');
    here.git('fsck', '--strict');
  });

  test('a gc prunes everything while work is tested', async () => {
    const here = project({ agent, settings: '[gate]\ncommand = "sh ../../gate.sh"\n' });
    here.write('gate.sh', `git -C "${here.root}" gc -q --prune=now\n`);
    await beginPlan(here, ['t1']);
    await here.drover(['run']);
    await isCuredOrTold(here, follow);
    here.git('fsck', '--strict', '--connectivity-only');
  });

  test('a rebase that started before a landing is aborted after it', async () => {
    const here = project({ agent: `read -r line < ../../go; ${agent}` });
    const barrier = makeBarrier(here.folder, 'go');
    here.git('commit', '-q', '--allow-empty', '-m', 'mine');
    await beginPlan(here, ['t1']);
    const run = here.start(['run', '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    const edit = "GIT_SEQUENCE_EDITOR='sed -i s/^pick/edit/' git rebase -q -i HEAD~1";
    assert.equal(here.sh(here.root, edit), 0);
    const before = here.git('rev-parse', 'main');
    barrier.open();
    await run.ended;
    barrier.close();
    // The state that git leaves if the rebase read the branch just before it moved.
    here.git('update-ref', 'refs/heads/main', 'refs/drover/land/main');
    here.git('rebase', '--abort');
    here.git('update-ref', '-m', 'rebase (abort): updating HEAD', 'refs/heads/main', before);
    here.git('read-tree', '--reset', '-u', before);
    await isCuredOrTold(here, follow);
    assert.match(here.git('log', '--format=%s', 'main'), /^mine$/m);
  });
});
