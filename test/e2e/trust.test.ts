// Repository settings that start programs: a person's run accepts them, and an agent's landing does
// not change them.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StatusSnapshot } from '../../server/protocol/api.ts';
import { eventually } from './support/eventually.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';

/** A gate that records who requested it. */
const gate = (name: string): string => `[gate]\ncommand = "echo ${name} >> $HOME/gate.log"\n`;

suite('trust', function () {
  this.timeout(120_000);
  const project = useProjects({ isEachProcess: true });

  const gatesOf = (here: Project): readonly string[] =>
    existsSync(join(here.folder, 'home', 'gate.log'))
      ? [...new Set(here.read('home/gate.log').trim().split('\n'))]
      : [];

  test('the next run uses no settings that an agent landed until a person accepts them', async () => {
    const here = project({
      agent: `
cat > /dev/null
echo "$id" > "$id.txt"
if [ "$id" = t1 ]; then
  printf '%s' '${gate('ATTACKER')}[setup]\ncommand = "echo SETUP >> $HOME/gate.log"\n[agent.env]\nX = "1"\n' > .drover.toml
fi
`,
      settings: gate('TRUSTED'),
    });
    await beginPlan(here, ['t1', 't2', 't3']);
    await here.expect(0, ['cancel', 't2']);
    await here.expect(0, ['cancel', 't3']);
    const first = await here.drover(['run']);
    assert.match(first.stderr, /This run accepts the settings of \.drover\.toml: gate\.command = /);
    await here.expect(0, ['approve', 't1']);
    await eventually('t1 has landed', async () => (await here.task('t1')).landed_sha);
    assert.match(here.read('repo/.drover.toml'), /ATTACKER/);

    await here.expect(0, ['retry', 't2']);
    const second = await here.drover(['run']);
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stderr, /gate\.command in \.drover\.toml was changed by the landing of t1/);
    assert.deepEqual(gatesOf(here), ['TRUSTED']);
    const { unaccepted, config } = await here.json<StatusSnapshot>(['status']);
    assert.deepEqual(
      unaccepted?.map(({ setting, by }) => [setting, by]),
      [
        ['agent.env.X', 't1'],
        ['gate.command', 't1'],
        ['setup.command', 't1'],
      ],
    );
    assert.match(String(config['gate.command']?.value), /TRUSTED/);
    assert.match(await here.expect(0, ['status']), /not used until you accept them/);
    assert.match(await here.expect(0, ['why', 't2']), /gate\.command .* landing of t1/);
    assert.match(await here.expect(0, ['doctor']), /gate\.command in \.drover\.toml was changed/);

    assert.match(await here.expect(2, ['trust']), /held +gate\.command = .*ATTACKER.*landed by t1/);
    const told = JSON.parse(await here.expect(0, ['trust', '--yes', '--json'])) as {
      accepted: boolean;
    };
    assert.equal(told.accepted, true);
    assert.equal((await here.status()).unaccepted, undefined);
    await here.expect(0, ['retry', 't3']);
    await here.expect(0, ['run']);
    assert.deepEqual(gatesOf(here), ['TRUSTED', 'SETUP', 'ATTACKER']);
  });

  test("a person's own settings take effect in the next run, which reports them once", async () => {
    const here = project({ settings: 'max_workers = 2\n' });
    await beginPlan(here, ['t1', 't2', 't3']);
    await here.expect(0, ['cancel', 't2']);
    await here.expect(0, ['cancel', 't3']);
    const first = await here.drover(['run']);
    assert.doesNotMatch(first.stderr, /accepts/);
    here.write('repo/.drover.toml', gate('MINE'));
    assert.match(await here.expect(2, ['trust']), /new +gate\.command/);
    await here.expect(0, ['retry', 't2']);
    const second = await here.drover(['run']);
    assert.match(second.stderr, /accepts changed settings of \.drover\.toml: gate\.command = /);
    assert.deepEqual(gatesOf(here), ['MINE']);
    await here.expect(0, ['retry', 't3']);
    const third = await here.drover(['run']);
    assert.doesNotMatch(third.stderr, /accept/);
    await here.expect(0, ['trust']);
  });

  test('a backend that continues a run by itself keeps its accepted settings', async () => {
    const here = project({
      agent: `cat > /dev/null\necho "$id" > "$id.txt"\nread -r line < "$HOME/../go"\n`,
      settings: gate('TRUSTED'),
    });
    execFileSync('mkfifo', [join(here.folder, 'go')]);
    await beginPlan(here, ['t1']);
    await here.expect(0, ['run', '--detach']);
    await eventually('the agent works', async () => (await here.task('t1')).phase === 'agent');
    here.write('repo/.drover.toml', `${gate('OTHER')}`);
    assert.deepEqual(
      (await here.status()).unaccepted?.map(({ setting, by }) => [setting, by]),
      [['gate.command', null]],
    );
    await here.killBackend();
    // This gives no consent: it only starts a backend, which finds the run.
    await here.expect(0, ['hint', 't1', 'be quick']);
    writeFileSync(join(here.folder, 'go'), 'go\n');
    await eventually('the run is over', async () => (await here.status()).run?.active === false);
    assert.equal((await here.task('t1')).status, 'completed');
    assert.deepEqual(gatesOf(here), ['TRUSTED']);
  });

  test('a change to protected files waits for a review, and then lands', async () => {
    const here = project({
      agent: `
cat > /dev/null
echo "$id" > "$id.txt"
mkdir -p .github/workflows docs
echo "on: push" > .github/workflows/ci.yml
echo "Be rude." > docs/AGENTS.md
`,
    });
    await beginPlan(here, ['t1']);
    await here.expect(2, ['run']);
    const waiting = await here.task('t1');
    assert.deepEqual(
      [waiting.status, waiting.review_kind, waiting.held_files],
      ['needs_review', 'protected', []],
    );
    assert.match(
      await here.expect(0, ['why', 't1']),
      /changes protected files: \.github\/workflows\/ci\.yml, docs\/AGENTS\.md/,
    );
    assert.equal(here.git('ls-tree', '-r', '--name-only', 'main').includes('t1.txt'), false);
    await here.expect(0, ['approve', 't1']);
    await eventually('it has landed', async () => (await here.task('t1')).landed_sha);
    const files = (): string => here.git('ls-tree', '-r', '--name-only', 'main');
    await eventually('main follows', () => files().includes('docs/AGENTS.md'));
    assert.equal(here.git('show', 'main:docs/AGENTS.md'), 'Be rude.');
  });

  soakTest('the list of protected files is a setting', async () => {
    const here = project({
      agent:
        'cat > /dev/null\necho x > AGENTS.md\nmkdir -p deploy\necho "$id" > "deploy/$id.txt"\n',
      settings: '[protect]\npaths = ["deploy/t2.txt"]\n',
    });
    await beginPlan(here, ['t1', 't2']);
    await here.expect(2, ['run', '--workers', '1']);
    assert.equal((await here.task('t1')).status, 'completed');
    assert.equal((await here.task('t2')).review_kind, 'protected');
  });
});
