// In a fleet, an agent's output on one machine is followed and read in a clone on another one, with
// no port between them.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { makeBarrier } from './support/agent-scripts.ts';
import { useProjects } from './support/suite-projects.ts';

const agent = `
cat > /dev/null
for n in 1 2 3; do echo "line $n of six"; done
. "$HOME/wait"
for n in 4 5 6; do echo "line $n of six"; done
echo "work of $id" > "$id.txt"
`;
suite("an agent's output in a fleet", function () {
  this.timeout(180_000);
  const project = useProjects();
  let server: PostgresServer;
  suiteSetup(async () => {
    server = await startPostgres();
  });
  suiteTeardown(() => server.close());

  test('output is followed from another clone, and read there when its backend has exited', async () => {
    const url = await server.createDatabase('followed');
    const here = project({ agent, env: { DBOS_SYSTEM_DATABASE_URL: url } });
    const barrier = makeBarrier(here.folder, 'barrier');
    here.write('home/wait', barrier.wait);
    const elsewhere = { cwd: join(here.folder, 'elsewhere') };
    here.gitIn(here.folder, 'clone', '-q', 'remote.git', 'elsewhere');
    await here.expect(0, ['init']);
    await here.expect(0, ['init'], elsewhere);
    const id = await here.add('Do it');
    const run = here.start(['run']);
    const follow = here.start(['log', id, '--follow'], elsewhere);
    await follow.line((line) => line.includes('line 3 of six'));
    assert.equal(existsSync(join(here.folder, 'elsewhere/.drover/backend.json')), false);
    barrier.open();
    const followed = await follow.ended;
    assert.equal(followed.code, 0);
    const said = (text: string): string[] => text.match(/line \d of six/g) ?? [];
    const lines = [1, 2, 3, 4, 5, 6].map((number) => `line ${number} of six`);
    assert.deepEqual(said(followed.stdout), lines);
    assert.equal((await run.ended).code, 0);
    await here.expect(0, ['server', 'stop', '--force']);
    const log = ['log', id, '--attempt', '1'];
    assert.deepEqual(said(await here.expect(0, log, elsewhere)), lines);
    const prompt = await here.expect(0, [...log, '--prompt'], elsewhere);
    assert.equal(prompt, await here.expect(0, [...log, '--prompt']));
    assert.match(prompt, /Do it/);
    barrier.close();
  });
});
