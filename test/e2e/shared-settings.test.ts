// Git settings that change while agents without a sandbox run: Drover reports them, but writes
// none.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { makeBarrier, type Barrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { landedTasks } from './support/history.ts';
import { beginPlan } from './support/plan.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

const waitsAtItsEnd = `
cat > /dev/null
[ "$id" != t1 ] || git config core.bare true
read -r line < "../../go-$id"
echo "work of $id" > "$id.txt"
`;

suite('git settings of the user while agents run', function () {
  this.timeout(180_000);
  const project = useProjects();

  const isRunning = (
    run: { line(test: (line: string) => boolean): Promise<unknown> },
    id: string,
  ) => run.line((line) => line.includes('"worktree.ready"') && line.includes(`"${id}"`));

  test('an identity that the user sets is kept, and the landing has it', async () => {
    const here = project({ agent: waitsAtItsEnd.replace('core.bare true', 'my.key agent') });
    const barrier = makeBarrier(here.folder, 'go-t1');
    await beginPlan(here, ['t1']);
    const run = here.start(['run', '--json']);
    await isRunning(run, 't1');
    here.git('config', 'user.email', 'new@example.org');
    barrier.open();
    assert.equal((await run.ended).code, 0);
    barrier.close();
    assert.deepEqual(landedTasks(here), ['t1']);
    assert.equal(here.git('config', 'user.email'), 'new@example.org');
    assert.equal(here.git('log', '-1', '--format=%ce', 'main'), 'new@example.org');
    const told = (await here.events()).filter(({ type }) => type === 'repository.changed');
    assert.deepEqual(
      told.map(({ task_id, data }) => [task_id, data['kind'], data['restore']]),
      [
        ['t1', 'setting', 'git config --unset-all user.email'],
        ['t1', 'setting', 'git config --unset-all my.key'],
      ],
    );
    const printed = await here.expect(0, ['events']);
    assert.match(printed, /user\.email .*git config --unset-all user\.email/);
  });

  test("a backend that a git hook starts inherits nothing from the hook's command", async () => {
    const here = project({
      agent: `cat > /dev/null; env | grep ^GIT_ > "$id.txt" || echo none > "$id.txt"`,
      settings: 'env_allow = ["GIT_DIR", "GIT_INDEX_FILE", "GIT_AUTHOR_NAME"]\n',
      isEachProcess: true,
    });
    await beginPlan(here, ['t1']);
    const env = {
      GIT_DIR: '/nowhere',
      GIT_INDEX_FILE: '/nowhere/index',
      GIT_AUTHOR_NAME: 'A Colleague',
      GIT_AUTHOR_EMAIL: 'colleague@example.org',
      GIT_AUTHOR_DATE: '@1 +0000',
      GIT_COMMITTER_NAME: 'A Colleague',
      GIT_COMMITTER_EMAIL: 'colleague@example.org',
      GIT_COMMITTER_DATE: '@1 +0000',
      GIT_CONFIG_PARAMETERS: "'user.name=A Colleague'",
    };
    await here.expect(0, ['run'], { env });
    assert.deepEqual(landedTasks(here), ['t1']);
    const authors = here.git('log', '-3', '--format=%an %ae %cn %ce', 'main').split('\n');
    assert.deepEqual(
      [...new Set(authors)],
      ['A Person person@example.org A Person person@example.org'],
    );
    assert.notEqual(here.git('log', '-1', '--format=%at', 'main'), '1');
    assert.doesNotMatch(here.git('show', 'main:t1.txt'), /Colleague|nowhere/);
  });

  soakTest(
    'an identity that is only in the environment is used, unless a git hook set it',
    async () => {
      const env = {
        GIT_AUTHOR_NAME: 'In Container',
        GIT_AUTHOR_EMAIL: 'container@example.org',
        GIT_COMMITTER_NAME: 'In Container',
        GIT_COMMITTER_EMAIL: 'container@example.org',
      };
      for (const [more, author] of [
        [{}, 'In Container <container@example.org>'],
        [{ GIT_INDEX_FILE: '/nowhere/index' }, 'Drover <drover@localhost>'],
      ] as const) {
        const here = project({
          agent: 'cat > /dev/null; echo "work" > "$id.txt"',
          isEachProcess: true,
        });
        await beginPlan(here, ['t1']);
        here.git('config', '--global', '--unset', 'user.name');
        here.git('config', '--global', '--unset', 'user.email');
        await here.expect(0, ['run'], { env: { ...env, ...more } });
        assert.equal(here.git('log', '-1', '--format=%an <%ae>', 'main'), author);
        assert.equal(here.git('log', '-1', '--format=%cn <%ce>', 'main'), author);
      }
    },
  );

  test('Drover never sets core.bare again after an agent changed it, and refuses with the remedy', async () => {
    const here = project({ agent: waitsAtItsEnd });
    const barriers = ['t1', 't2'].map((id): Barrier => makeBarrier(here.folder, `go-${id}`));
    await beginPlan(here, ['t1', 't2']);
    const run = here.start(['run', '--json', '--workers', '2']);
    await isRunning(run, 't1');
    await isRunning(run, 't2');
    const bare = (): string => here.git('config', '--default', 'unset', '--get', 'core.bare');
    await eventually('the agent has set it', () => bare() === 'true');
    here.git('config', 'core.bare', 'false');
    for (const barrier of barriers) barrier.open();
    await eventually('both agents have ended', async () => {
      const ended = (await here.events()).filter(({ type }) => type === 'agent.ended');
      return ended.length === 2;
    });
    assert.equal((await run.ended).code, 0);
    assert.equal(bare(), 'false');
    for (const barrier of barriers) barrier.close();
    assert.deepEqual(landedTasks(here).toSorted(), ['t1', 't2']);

    here.git('config', 'core.bare', 'true');
    await here.killBackend();
    const refused = await here.drover(['run']);
    assert.notEqual(refused.code, 0);
    assert.equal(bare(), 'true');
    const command = /"(git config --unset core\.bare)"/.exec(refused.stderr)?.[1];
    assert.ok(command !== undefined, refused.stderr);
    execFileSync('sh', ['-c', command], { cwd: here.root });
    await here.expect(0, ['status']);
  });
});
