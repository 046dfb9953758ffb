// A fleet whose database has two servers: the writing server dies while agents work, the other one
// is promoted, and no agent's work is lost or done twice.

import assert from 'node:assert/strict';
import { usePostgresPair } from '../postgres/pair.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { eventually } from './support/eventually.ts';
import { useProjects } from './support/suite-projects.ts';

const waitsAtTheDoor = `
cat > /dev/null
echo "$id" >> ../../at-work.txt
read -r line < ../../door
echo "work of $id" > "$id.txt"
`;

suite('a database that fails over', function () {
  this.timeout(180_000);
  const makeOne = useProjects();
  const servers = usePostgresPair();

  test('agents that work during the fail-over end successfully, once each, and land', async () => {
    const { primary, standby } = servers();
    await primary.createDatabase('plan');
    const hosts = `127.0.0.1:${primary.port},127.0.0.1:${standby.port}`;
    const here = makeOne({
      agent: waitsAtTheDoor,
      env: { DBOS_SYSTEM_DATABASE_URL: `postgresql://drover@${hosts}/plan` },
    });
    const door = makeBarrier(here.folder, 'door');
    try {
      await here.expect(0, ['init']);
      const first = await here.add('first');
      const second = await here.add('second', '--blocked-by', first);
      const third = await here.add('third');
      const run = here.start(['run', '--workers', '2']);
      const begun = (): readonly string[] => here.read('at-work.txt').trim().split('\n');
      await eventually('two agents work', () => begun().length === 2);
      await primary.stop('SIGKILL');
      await standby.promote();
      door.open(3);
      const { code, stdout, stderr } = await run.ended;
      assert.equal(code, 0, `${stdout}${stderr}`);
      assert.deepEqual([...begun()].sort(), [first, second, third].sort());
      for (const id of [first, second, third])
        assert.equal(here.git('show', `main:${id}.txt`).trim(), `work of ${id}`);
    } finally {
      door.close();
    }
  });
});
