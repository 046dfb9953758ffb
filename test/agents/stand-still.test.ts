// Suspending an agent suspends all of its processes, for as long as necessary.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { processStartTime, runMarker } from '../../server/agents/kit/process/process-list.ts';
import { createProcessTable, freeze, thaw } from '../../server/agents/kit/process/process-table.ts';
import type { AgentProcess } from '../../server/agents/port.ts';
import { eventually } from '../e2e/support/eventually.ts';
import { removeFolder } from '../remove-folder.ts';

/** One process has its own session, and one handles SIGTERM. Both print while they run. */
const program = `
trap 'echo asked to end >> "$0/asked"' TERM
setsid sh -c 'while :; do echo x >> "$0/apart"; sleep 0.02; done' "$0" &
while :; do echo x >> "$0/own"; sleep 0.02; done`;
const stillMs = 300;

suite('a suspended agent', function () {
  this.timeout(60_000);
  const table = createProcessTable();
  let folder = '';
  let runId = '';
  let agent: AgentProcess;
  setup(async () => {
    folder = mkdtempSync(join(tmpdir(), 'drover-still-'));
    runId = `still/${process.pid}/${Date.now()}`;
    const env = { PATH: process.env['PATH'] ?? '', [runMarker]: runId };
    const child = spawn('sh', ['-c', program, folder], { detached: true, stdio: 'ignore', env });
    const pid = child.pid ?? 0;
    agent = { pid, startTime: processStartTime(pid) ?? '' };
    await eventually('both move', () => moved('own') > 0 && moved('apart') > 0);
  });
  teardown(async () => {
    await table.endTree(runId, agent, 0);
    removeFolder(folder);
  });

  const moved = (name: string): number => {
    const path = join(folder, name);
    return existsSync(path) ? readFileSync(path, 'utf8').length : 0;
  };
  const movedBoth = (): readonly number[] => [moved('own'), moved('apart')];
  const isMoving = async (): Promise<boolean> => {
    const before = movedBoth();
    await delay(stillMs);
    return movedBoth().some((length, at) => length > (before[at] ?? 0));
  };

  test('it continues when it is allowed to, not when its output has been emptied', async () => {
    assert.equal(await table.standStill(runId, agent), true);
    assert.equal(await isMoving(), false);
    const frozen = await freeze(runId, agent);
    thaw(runId, frozen ?? []);
    assert.equal(await isMoving(), false);
    // Its output is being emptied when it may continue.
    const again = await freeze(runId, agent);
    await table.goOn(runId, agent);
    assert.equal(await isMoving(), false);
    thaw(runId, again ?? []);
    const before = movedBoth();
    await eventually('both move', () => movedBoth().every((n, at) => n > (before[at] ?? 0)));
  });

  test('it is killed without continuing', async () => {
    assert.equal(await table.standStill(runId, agent), true);
    const before = movedBoth();
    // Nor if it is ended for another reason, with time to exit by itself.
    const { ended } = await table.endTree(runId, agent, 2_000);
    assert.ok(ended >= 2, `${ended} were ended`);
    assert.deepEqual(movedBoth(), before);
    assert.equal(moved('asked'), 0);
    assert.equal(await table.isAlive(agent), false);
  });
});
