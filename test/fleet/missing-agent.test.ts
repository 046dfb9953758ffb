// A machine whose agent cannot start gets no more tasks for that agent: the others run them, and no
// attempt is used.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../e2e/support/eventually.ts';
import type { TaskView } from '../../server/protocol/api.ts';
import { assertFleetDone } from './support/checks.ts';
import { completedRuns } from './support/epic.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

/** North has it from the second run on, and south does not end before the test lets it. */
const agent = `
if [ "$machine" = north ] && [ ! -e "$ledger.installed" ]; then echo 'node: not found' >&2; exit 127; fi
cat > /dev/null
echo "$machine $id" >> "$ledger.begun"
until [ -e "$ledger.go" ]; do sleep 0.1; done
echo "work of $id" > "$id.txt"
echo "$id $attempt $machine" >> "$ledger"
`;

const plan = ['F-0', 'F-1', 'F-2', 'F-3'].map((id) => ({ id, blockedBy: [] }));

suite('a fleet with a machine whose agent cannot start', function () {
  this.timeout(300_000);
  const fleet = useFleets();

  test('the others run its tasks, the machine is named, and without another machine the run ends at once', async () => {
    const here = await fleet({ machines: ['north', 'south', 'desk'], agent, settings: '' });
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await desk.expect(0, ['init']);
    const path = join(here.folder, 'plan.jsonl');
    const lines = plan.map(({ id }) => JSON.stringify({ id, type: 'task', title: `Do ${id}` }));
    writeFileSync(path, `${lines.join('\n')}\n`);
    await desk.expect(0, ['import', path]);
    const tasks = async (): Promise<readonly TaskView[]> =>
      (JSON.parse(await desk.expect(0, ['status', '--json'])) as { tasks: TaskView[] }).tasks;

    await startWorkers(here, ['north'], 2);
    const alone = await desk.start(['run', '--workers', '4']).ended;
    assert.equal(alone.code, 2, alone.stdout);
    assert.match(alone.stderr, /north: .*node: not found.*No attempt was used/su);
    for (const { id, status, attempts } of await tasks())
      assert.deepEqual([id, status, attempts], [id, 'ready', 0]);

    await startWorkers(here, ['south'], 1);
    const run = desk.start(['run', '--workers', '4']);
    await eventually('the status names the machine', async () =>
      /north does not use command.*node: not found/su.test(await desk.expect(0, ['status'])),
    );
    writeFileSync(join(here.folder, 'ledger.go'), '');
    const ended = await run.ended;
    assert.equal(ended.code, 0, ended.stderr);
    for (const { status, attempts } of await tasks())
      assert.deepEqual([status, attempts], ['completed', 0]);
    assert.deepEqual(
      new Set(completedRuns(here).map(({ machine }) => machine)),
      new Set(['south']),
    );
    await assertFleetDone(here, plan);
  });
});
