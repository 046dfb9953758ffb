// The view of a fleet's machines: its rows, and their texts.

import assert from 'node:assert/strict';
import { machineRows, formatPlaces } from '../../../../extension/fleet/machine-rows.ts';
import type { TreeRow } from '../../../../extension/trees/tree-row.ts';
import { machineView } from '../../../doubles/machine-view.ts';
import { taskView } from '../../../doubles/views.ts';

const startedAt = 1_700_000_000;
const nowMs = (startedAt + 75) * 1000;
const running = taskView({
  id: 't-1',
  title: 'Far away',
  status: 'in_progress',
  phase: 'agent',
  agent: 'claude',
  machine: 'atlas',
  started_at: startedAt,
});
const facts = ({ label, description, icon }: TreeRow) => [label, description, icon];

suite('rows of machines', () => {
  test('they name the branch on which a machine is landing, and for how long', () => {
    const landing = [{ branch: 'main', since: 1, since_ago_ms: 130_000 }];
    const rows = machineRows([machineView({ landing })], [], nowMs);
    assert.equal(rows[0]?.description, '0/3 agents · landing on main for 2 min 10 s');
  });

  test('they show the state of each machine, whether it lands, and its running tasks', () => {
    const machines = [
      machineView({ name: 'atlas', agents: 1, agents_max: 2, room: 2, labels: ['gpu'] }),
      machineView({ id: 'd', name: 'desk', agents_max: 0, room: 0, lands: false }),
      machineView({ id: 'h', name: 'hera', state: 'draining', agents_max: 1, lands: false }),
    ];
    const [atlas, desk, hera] = machineRows(machines, [running], nowMs);
    assert.ok(atlas && desk && hera);
    assert.deepEqual(facts(atlas), ['atlas', '1/2 agents · lands', 'vm-running']);
    assert.deepEqual(atlas.children.map(facts), [['Far away', 'claude · 1 min 15 s', 'play']]);
    assert.deepEqual(atlas.children[0]?.stream, { task: 't-1', attempt: null });
    assert.match(
      atlas.tooltip,
      /^Machine atlas\n.*takes tasks.*\n.*room for 2.*\n.*lands work.*\nIt reaches the git remote.*\nLabels: gpu\n/,
    );
    assert.deepEqual(facts(desk), ['desk', 'no agents', 'vm-running']);
    assert.match(desk.tooltip, /does not land/);
    assert.deepEqual(facts(hera), ['hera', 'draining · 0/1 agent', 'vm-pending']);
  });

  test('they show a problem with git below the machine, in full', () => {
    const note = 'The git remote origin has not answered for 12 s; nothing new starts here.';
    const [atlas] = machineRows([machineView({ name: 'atlas', note, lands: false })], [], nowMs);
    assert.equal(atlas?.icon, 'warning');
    assert.deepEqual(
      atlas?.children.map(({ label }) => label),
      [note],
    );
    assert.ok(atlas?.tooltip.includes(note) && !atlas.tooltip.includes('It reaches'));
  });

  test('they show how long ago a stopped machine sent its last heartbeat', () => {
    const gone = { lands: false, note: 'Low on memory.', heard_ago_ms: 20_000 };
    const [dead, left] = machineRows(
      [
        machineView({ name: 'atlas', state: 'dead', ...gone }),
        machineView({ id: 'l', name: 'zeus', state: 'left', ...gone }),
      ],
      [running],
      nowMs,
    );
    assert.ok(dead && left);
    assert.deepEqual(facts(dead), ['atlas', 'dead · heard 20 s ago', 'error']);
    // Until others take it over; its own reports no longer count.
    assert.deepEqual(
      dead.children.map(({ label }) => label),
      ['Far away'],
    );
    assert.match(dead.tooltip, /no heartbeat for 20 s/);
    assert.deepEqual(facts(left), ['zeus', 'left · heard 20 s ago', 'vm-outline']);
    assert.doesNotMatch(left.tooltip, /memory/);
  });

  test('they list only tasks that run on the machine, and not their parts', () => {
    const tasks = [
      { ...running, id: 'gate', phase: 'gate' },
      { ...running, id: 'done', status: 'completed' as const },
      { ...running, id: 'part', parent_id: 't-1' },
      { ...running, id: 'here', machine: null },
    ];
    assert.deepEqual(machineRows([machineView({ name: 'atlas' })], tasks, nowMs)[0]?.children, []);
    assert.equal(formatPlaces(tasks), '');
    assert.equal(formatPlaces([running, ...tasks]), 't-1 atlas');
  });
});
