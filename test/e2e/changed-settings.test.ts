// Settings that a pull changes after a person accepted others: no command but a run's word uses them.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './support/eventually.ts';
import { panelClient } from './support/panel-client.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

/** A gate and a setup that say who asked for them. */
const programs = (name: string): string =>
  `[gate]\ncommand = "echo ${name} >> $HOME/ran.log"\n[setup]\ncommand = "echo ${name} >> $HOME/ran.log"\n`;

const agent = `
cat > /dev/null
echo "$id" > "$id.txt"
mkdir -p .github/workflows
echo "on: push" > ".github/workflows/$id.yml"
`;

suite('settings that a pull has changed', function () {
  this.timeout(120_000);
  const project = useProjects();

  const ran = (here: Project): readonly string[] =>
    existsSync(join(here.folder, 'home', 'ran.log'))
      ? [...new Set(here.read('home/ran.log').trim().split('\n'))]
      : [];

  for (const isStopped of [false, true]) {
    const where = isStopped ? 'a new backend' : 'the running backend';
    test(`approve, undo and retry leave them alone in ${where}`, async () => {
      const here = project({ agent, settings: programs('TRUSTED') });
      await beginPlan(here, ['t1', 't2']);
      await here.expect(2, ['run']);
      assert.deepEqual(ran(here), ['TRUSTED']);
      if (isStopped) await here.drover(['server', 'stop', '--force']);
      here.write('repo/.drover.toml', programs('CANARY'));
      here.sh(here.root, 'git add .drover.toml && git commit -qm "Pulled"');
      // Reads the files again, as every look does.
      await here.status();
      await here.expect(0, ['approve', 't1']);
      await eventually('t1 has landed', async () => (await here.task('t1')).landed_sha);
      assert.deepEqual(ran(here), ['TRUSTED'], 'approve');
      for (const words of [
        ['undo', 't1'],
        ['retry', 't2'],
      ]) {
        await here.expect(0, words);
        assert.deepEqual(ran(here), ['TRUSTED'], words.join(' '));
      }
      assert.match(await here.expect(2, ['trust']), /new +gate\.command = .*CANARY/);
    });
  }

  for (const [look, isRefused] of [
    ['a look before a run', false],
    ['a run that the sandbox refuses', true],
  ] as const) {
    test(`${look} puts nothing of them in force`, async () => {
      const here = project({ agent, settings: programs('TRUSTED') });
      await beginPlan(here, ['t1', 't2']);
      await here.expect(2, ['run']);
      const sandbox = isRefused ? '[sandbox]\nmode = "srt"\nrequired = true\n' : '';
      here.write('repo/.drover.toml', programs('CANARY') + sandbox);
      here.sh(here.root, 'git add .drover.toml && git commit -qm "Pulled"');
      const client = await panelClient(here);
      try {
        if (isRefused) await assert.rejects(client.call('run.start', {}), /sandbox does not hold/);
        else {
          const { checks } = await client.call('preflight', {});
          assert.ok(
            checks.some(({ message }) => message.includes('CANARY')),
            'what the run would use is shown',
          );
        }
        await client.call('approve', { id: 't1' });
        await eventually('t1 has landed', async () => (await here.task('t1')).landed_sha);
        await client.call('undo', { id: 't1' });
        assert.deepEqual(ran(here), ['TRUSTED']);
      } finally {
        client.close();
      }
    });
  }
});
