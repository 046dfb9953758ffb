// Settings that a pull changes after a person accepted others: only a run, which a person starts,
// uses them.

import { makeBarrier } from './support/agent-scripts.ts';
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './support/eventually.ts';
import type { Client, Params } from '../../server/protocol/api.ts';
import { panelClient } from './support/panel-client.ts';
import { beginPlan } from './support/plan.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { soakTest } from '../tier.ts';
import { sized } from '../tier.ts';

/** A gate and a setup that record who requested them. */
const programs = (name: string): string =>
  `[gate]\ncommand = "echo ${name} >> $HOME/ran.log"\n[setup]\ncommand = "echo ${name} >> $HOME/ran.log"\n`;

const agent = `
cat > /dev/null
echo "$id" > "$id.txt"
mkdir -p .github/workflows
echo "on: push" > ".github/workflows/$id.yml"
`;

suite('settings that a pull changed', function () {
  this.timeout(120_000);
  const project = useProjects();

  const ran = (here: Project): readonly string[] =>
    existsSync(join(here.folder, 'home', 'ran.log'))
      ? [...new Set(here.read('home/ran.log').trim().split('\n'))]
      : [];

  for (const isStopped of sized([true], [false, true])) {
    const where = isStopped ? 'a new backend' : 'the running backend';
    test(`approve, undo and retry do not use them in ${where}`, async () => {
      const here = project({ agent, settings: programs('TRUSTED') });
      await beginPlan(here, ['t1', 't2']);
      await here.expect(2, ['run']);
      assert.deepEqual(ran(here), ['TRUSTED']);
      if (isStopped) await here.drover(['server', 'stop', '--force']);
      here.write('repo/.drover.toml', programs('CANARY'));
      here.sh(here.root, 'git add .drover.toml && git commit -qm "Pulled"');
      // Reads the files again, like every check.
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

  const accepted = (here: Project): string => here.read('repo/.git/drover/accepted-settings.json');

  type Asked = (client: Client, here: Project) => Promise<unknown>;
  const refused =
    (params: Params<'run.start'>, sentence: RegExp): Asked =>
    (client) =>
      assert.rejects(client.call('run.start', params), sentence);
  const looks: readonly (readonly [string, string, Asked])[] = [
    [
      'a look before a run',
      '',
      async (client) => {
        const { checks } = await client.call('preflight', {});
        const isShown = checks.some(({ message }) => message.includes('CANARY'));
        assert.ok(isShown, 'what the run would use is shown');
      },
    ],
    [
      'a run that the sandbox refuses',
      '[sandbox]\nmode = "srt"\nrequired = true\n',
      refused({}, /sandbox does not work/),
    ],
    ['a run with a target that is not there', '', refused({ target: 'nowhere' }, /does not exist/)],
    [
      'a run of an agent that is not there',
      '',
      refused({ agent: 'amp' }, /does not report its version/),
    ],
    ['a run that lands no epic', '', refused({ land: 'epic' }, /is for one epic/)],
    [
      'a resume of nothing',
      '',
      async (client) => assert.equal((await client.call('run.resume', {})).run, null),
    ],
  ];
  for (const [look, more, ask] of sized(looks.slice(0, 2), looks)) {
    test(`${look} neither applies nor accepts any of them`, async () => {
      const here = project({ agent, settings: programs('TRUSTED') });
      await beginPlan(here, ['t1', 't2']);
      await here.expect(2, ['run']);
      const before = accepted(here);
      here.write('repo/.drover.toml', programs('CANARY') + more);
      here.sh(here.root, 'git add .drover.toml && git commit -qm "Pulled"');
      const client = await panelClient(here);
      try {
        await ask(client, here);
        assert.equal(accepted(here), before);
        await client.call('approve', { id: 't1' });
        await eventually('t1 has landed', async () => (await here.task('t1')).landed_sha);
        await client.call('undo', { id: 't1' });
        assert.deepEqual(ran(here), ['TRUSTED']);
      } finally {
        client.close();
      }
    });
  }

  test('the checks before a run probe the agent that the run would start', async () => {
    const here = project({ agent });
    await beginPlan(here, ['t1']);
    const client = await panelClient(here);
    const agents = async (env?: Readonly<Record<string, string>>): Promise<readonly string[]> => {
      const { checks } = await client.call('preflight', env === undefined ? {} : { env });
      const found = checks.filter(({ name }) => name === 'agent');
      return found.map(({ outcome, message }) => `${outcome} ${message}`);
    };
    try {
      assert.match((await agents()).join(), /^ok /);
      const missing = join(here.folder, 'missing.sh');
      const other = await agents({ ...here.env, DROVER_AGENT_PATH: missing });
      assert.match(other.join(), /^error .*missing\.sh/);
      assert.match((await agents()).join(), /^ok /, 'it was a look');
    } finally {
      client.close();
    }
  });

  soakTest('a run keeps its gate when another run starts with a changed gate', async () => {
    const gate = (name: string): string =>
      `[gate]\ncommand = "echo ${name} >> ../../gates; test -e README.md"\n`;
    const here = project({
      agent: 'cat > /dev/null; read -r line < "../../go-$id"; echo "$id" > "$id.txt"',
      settings: gate('first'),
    });
    const barriers = ['a1', 'b1'].map((id) => makeBarrier(here.folder, `go-${id}`));
    await beginPlan(here, [
      ...['A', 'B'].map((id) => ({ id, type: 'epic' as const })),
      { id: 'a1', epic_id: 'A' },
      { id: 'b1', epic_id: 'B' },
    ]);
    const [first, second] = ['A', 'B'].map((epic) => ['run', '--epic', epic, '--land', 'task']);
    const run = here.start([...(first ?? []), '--json']);
    await run.line((line) => line.includes('"worktree.ready"'));
    here.write('repo/.drover.toml', gate('second'));
    const other = here.start([...(second ?? []), '--json']);
    await other.line((line) => line.includes('"worktree.ready"') && line.includes('b1'));
    const before = here
      .read('gates')
      .split('\n')
      .filter((line) => line === 'first').length;
    barriers[0]?.open();
    assert.equal((await run.ended).code, 0);
    const gates = here.read('gates').trim().split('\n');
    assert.ok(gates.filter((line) => line === 'first').length > before, gates.join());
    barriers[1]?.open();
    assert.equal((await other.ended).code, 0);
    assert.equal(here.read('gates').trim().split('\n').at(-1), 'second');
    for (const barrier of barriers) barrier.close();
  });
});
