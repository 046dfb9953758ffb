// A machine that comes back without the label that its work needs: its task, the waiting tasks and
// the gate report this, and move to a machine that has it.

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../e2e/support/eventually.ts';
import { assertFleetDone } from './support/checks.ts';
import { completedRuns, gateMachines } from './support/epic.ts';
import type { Machine } from './support/machine.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

/**
 * Two run at the same time. The first run of F-1 leaves half of the work behind, and keeps running.
 */
const agent = `
cat > /dev/null
if [ "$id" = F-1 ] && [ ! -e half.txt ]; then
  echo half > half.txt
  echo "$machine" >> "$ledger.begun"
  sleep 600
fi
rm -f half.txt
echo "work of $id" > "$id.txt"
echo "$id $attempt $machine" >> "$ledger"
`;

/** Keeps running until the test lets it end. */
const settings = `
[fleet]
take_over_after = "5s"
[gate]
command = '''
test -f README.md && echo "$HOME" >> "$HOME/../../gates"
until [ -e "$HOME/../../gate.go" ]; do sleep 0.1; done'''
needs = ["gpu"]
`;

const plan = [
  { id: 'F-0', labels: [], blockedBy: [] },
  { id: 'F-1', labels: ['needs:gpu'], blockedBy: [] },
  { id: 'F-2', labels: ['needs:gpu'], blockedBy: [] },
  { id: 'F-3', labels: ['needs:gpu'], blockedBy: ['F-1'] },
];

suite('a fleet whose only machine with a label returns without it', function () {
  this.timeout(300_000);
  const fleet = useFleets();

  test('its tasks and its gate wait, report why, and continue on a machine with the label', async () => {
    const here = await fleet({
      machines: ['north', 'south', 'east', 'desk'],
      agent,
      settings,
    });
    const [north, east, desk] = ['north', 'east', 'desk'].map((name) => here.machine(name)) as [
      Machine,
      Machine,
      Machine,
    ];
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await desk.expect(0, ['init']);
    const path = join(here.folder, 'plan.jsonl');
    const lines = plan.map(({ id, labels, blockedBy }) =>
      JSON.stringify({ id, type: 'task', title: `Do ${id}`, labels, blocked_by: blockedBy }),
    );
    writeFileSync(path, `${lines.join('\n')}\n`);
    await desk.expect(0, ['import', path]);
    await north.expect(0, ['init']);
    await north.startWorker(['--agents', '1', '--label', 'gpu']);
    await startWorkers(here, ['south'], 1);
    const run = desk.start(['run', '--workers', '4']);
    const isThere = (name: string): boolean => existsSync(join(here.folder, name));
    await eventually('F-1 is at work on north', () => isThere('ledger.begun'));
    await eventually('F-0 is at the gate on north', () => isThere('gates'));
    assert.deepEqual([...gateMachines(here)], ['north']);
    await north.kill();
    await north.startWorker(['--agents', '1']);
    writeFileSync(join(here.folder, 'gate.go'), '');
    const why = async (id: string): Promise<string> =>
      (await desk.expect(0, ['why', id])).replace(/\s+/gu, ' ');
    const words = {
      'F-0': /No machine with label "gpu" is running, and the gate needs one/u,
      'F-1': /label "?gpu/u,
      'F-2': /label "?gpu/u,
    };
    for (const [id, said] of Object.entries(words)) {
      let last = '';
      await eventually(`why ${id} names the label`, async () =>
        said.test((last = await why(id))),
      ).catch((error: unknown) => {
        throw new Error(last, { cause: error });
      });
    }
    assert.deepEqual(completedRuns(here), [{ task: 'F-0', attempt: 1, machine: 'south' }]);
    assert.equal(readFileSync(join(here.folder, 'ledger.begun'), 'utf8'), 'north\n');
    await east.expect(0, ['init']);
    await east.startWorker(['--agents', '1', '--label', 'gpu']);
    const ended = await run.ended;
    assert.equal(ended.code, 0, ended.stderr);
    await assertFleetDone(here, plan);
    const machines = completedRuns(here).map(({ task, machine }) => `${task} ${machine}`);
    assert.deepEqual(machines.toSorted(), ['F-0 south', 'F-1 east', 'F-2 east', 'F-3 east']);
    assert.deepEqual([...gateMachines(here)], ['north', 'east']);
  });
});
