// A person at a desk with VS Code, and a worker on another machine of their fleet: the window shows
// the machine of each task; the worker is killed in mid-work, the desk takes its tasks, and all
// land.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StatusSnapshot, TaskView } from '../../../server/protocol/views.ts';
import { killAll, processesOf } from '../../e2e/support/processes.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { type Fleet, makeFleet } from '../../fleet/support/fleet.ts';
import type { Machine } from '../../fleet/support/machine.ts';
import type { Frame, Locator } from '../host/browser.ts';
import {
  activeTab,
  answerInputBox,
  clickUntil,
  openDrover,
  openStream,
  runCommand,
  webview,
} from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const plan = [
  { id: 'R-1', title: 'Survey the river', blocked_by: [] },
  { id: 'R-2', title: 'Draw the piers', blocked_by: [] },
  { id: 'R-3', title: 'Order the steel', blocked_by: [] },
  { id: 'R-4', title: 'Open the bridge', blocked_by: ['R-1', 'R-2', 'R-3'] },
] as const;

/** On the machine that is killed, it works until then. */
const agent = `
cat > /dev/null
echo "I work on $machine."
if [ "$machine" = atlas ]; then sleep 600; fi
echo "work of $id" > "$id.txt"
echo "$id $attempt $machine" >> "$ledger"
`;
const settings = `
max_workers = 1
[fleet]
take_over_after = "5s"
[gate]
command = "test -f README.md"
`;
const waitMaxMs = 90_000;

suite('a fleet in VS Code', function () {
  this.timeout(300_000);
  let fleet: Fleet;
  let desk: Machine;
  let bench: Workbench;
  let tree: Frame;
  /** A task that was running on the worker when that was killed. */
  let lost: TaskView | undefined;

  suiteSetup(async function () {
    this.timeout(180_000);
    fleet = await makeFleet({ machines: ['desk', 'atlas'], agent, settings, isPlain: true });
    desk = fleet.machine('desk');
    const file = join(desk.folder, 'plan.jsonl');
    const epic = { id: 'R', type: 'epic', title: 'A bridge over the river' };
    const tasks = plan.map((task) => ({ ...task, type: 'story', epic_id: 'R' }));
    writeFileSync(file, [epic, ...tasks].map((line) => `${JSON.stringify(line)}\n`).join(''));
    await desk.expect(0, ['init']);
    await desk.expect(0, ['import', file]);
    // VS Code has its URL from the person alone.
    const { DBOS_SYSTEM_DATABASE_URL: _, ...env } = desk.env;
    bench = await openWorkbench({
      env,
      folder: desk.root,
      settings: { 'drover.showPreflight': false },
    });
    await openDrover(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await fleet?.end(false);
  });

  const machines = (): Locator => bench.page.locator('.pane', { hasText: 'Machines' });
  const machineRow = (text: string | RegExp): Locator =>
    machines().locator('.monaco-list-row', { hasText: text }).first();
  const board = (): Promise<StatusSnapshot> => desk.json<StatusSnapshot>(['status']);
  const onAtlas = async (): Promise<readonly TaskView[]> =>
    (await board()).tasks.filter(({ machine, phase }) => machine === 'atlas' && phase === 'agent');

  test('it joins by the URL of its database, and lists its machines', async () => {
    await runCommand(bench.page, 'Drover: Set Fleet Database');
    await answerInputBox(bench.page, fleet.databaseUrl);
    await machineRow(/desk.*0\/1 agent/).waitFor({ timeout: waitMaxMs });
    const atlas = fleet.machine('atlas');
    await atlas.expect(0, ['init']);
    await atlas.startWorker(['--agents', '2']);
    await machineRow(/atlas.*0\/2 agents.*lands/).waitFor({ timeout: waitMaxMs });
    await picture(bench.page, 'fleet-machines');
  });

  test("it shows the machine of each task, and its agent's output", async () => {
    tree = await treeOf(bench.page);
    await runCommand(bench.page, 'Drover: Run All Open Tasks');
    await eventually(
      'two run on the worker',
      async () => (await onAtlas()).length === 2,
      waitMaxMs,
    );
    await machineRow(/atlas.*2\/2 agents/).waitFor({ timeout: waitMaxMs });
    [lost] = await onAtlas();
    assert.ok(lost !== undefined);
    const label = new RegExp(`^${lost.title} agent · on atlas · command`);
    await tree.getByRole('treeitem', { name: label }).waitFor({ timeout: waitMaxMs });
    await row(tree, lost.title).getByText('on atlas').waitFor();
    await picture(bench.page, 'fleet-run');
    await clickUntil(machineRow(lost.title), activeTab(bench.page, lost.title));
    const stream = await webview(bench.page, 'stream');
    await stream.getByText('I work on atlas.').waitFor({ timeout: waitMaxMs });
    await picture(bench.page, 'fleet-watch');
  });

  test('it reports that a machine stopped, and lands its tasks from another one', async () => {
    const atlas = fleet.machine('atlas');
    await atlas.kill();
    // Nothing of a machine that is gone runs on, its agents included.
    killAll(processesOf(atlas.folder));
    await machineRow(/atlas.*dead/).waitFor({ timeout: waitMaxMs });
    await picture(bench.page, 'fleet-dead');
    await eventually(
      'all have landed',
      async () => (await board()).tasks.every(({ status }) => status === 'completed'),
      waitMaxMs,
    );
    assert.ok(lost !== undefined);
    await runCommand(bench.page, 'View: Close All Editors');
    await openStream(bench.page, lost.title);
    const stream = await webview(bench.page, 'stream');
    await stream.getByRole('tab', { name: 'Task' }).click();
    await stream.getByText('History').click();
    await stream.getByText('its machine atlas stopped').first().waitFor({ timeout: waitMaxMs });
    await picture(bench.page, 'fleet-history');
    const files = fleet.gitServer.git('ls-tree', '--name-only', 'main').split('\n');
    for (const { id } of plan) assert.ok(files.includes(`${id}.txt`), id);
    assert.deepEqual(bench.violations, []);
  });
});
