// A clone that was copied with its machine number, like a disk image: the copy is refused even
// under the same name while the original runs, and the original can restart at once.

import assert from 'node:assert/strict';
import { cpSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineView } from '../../server/protocol/api.ts';
import { type PostgresServer, startPostgres } from '../postgres/server.ts';
import { useProjects } from './support/suite-projects.ts';

suite('a copied machine', function () {
  this.timeout(120_000);
  const makeOne = useProjects({ isEachProcess: true });
  let server: PostgresServer;
  suiteSetup(async () => {
    server = await startPostgres();
  });
  suiteTeardown(() => server.close());

  test('a copied machine is refused while the original runs, and may continue in its place', async () => {
    const here = makeOne({
      settings: '[fleet]\ntake_over_after = "6s"\n',
      env: {
        DBOS_SYSTEM_DATABASE_URL: await server.createDatabase('plan'),
        DROVER_MACHINE_NAME: 'atlas',
      },
    });
    const copy = join(here.folder, 'home', 'copy');
    await here.expect(0, ['init']);
    const original = here.start(['worker', '--json']);
    await original.line((line) => line.includes('"ready"'));
    cpSync(here.root, copy, { recursive: true });
    const refused = await here.drover(['worker', '--json'], { cwd: copy });
    assert.equal(refused.code, 3, `${refused.stdout}${refused.stderr}`);
    assert.match(
      `${refused.stdout}${refused.stderr}`,
      /"atlas.*works in this fleet under the same number.*Remove \.drover\/machine here/s,
    );
    const [machine] = await here.json<readonly MachineView[]>(['machines']);
    assert.equal(machine?.state, 'working');

    // After a kill, the original is not mistaken for a copy of itself.
    original.signal('SIGKILL');
    await original.ended;
    const again = here.start(['worker', '--json']);
    await again.line((line) => line.includes('"ready"'));
    again.signal('SIGKILL');
    await again.ended;

    // The copy replaces a silent original: the number alone is not a reason to refuse.
    rmSync(join(here.root, '.drover', 'machine'));
    const moved = here.start(['worker', '--json'], { cwd: copy });
    await moved.line((line) => line.includes('"ready"'));
    moved.signal('SIGTERM');
    assert.equal((await moved.ended).code, 0);
  });
});
