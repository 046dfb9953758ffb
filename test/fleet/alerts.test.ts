// A machine that loses git and a machine that dies trigger their alerts in a real Prometheus, and
// the feed names them.

import assert from 'node:assert/strict';
import { eventually } from '../e2e/support/eventually.ts';
import { usePrometheus } from '../e2e/support/prometheus.ts';
import { machineEvents } from './support/checks.ts';
import { countedAgent, fleetSettings, importEpic } from './support/epic.ts';
import { gitThroughProxy } from './support/git-proxy.ts';
import { useFleets } from './support/suite-fleets.ts';
import { startWorkers } from './support/workers.ts';

suite('the alerts of a fleet', function () {
  this.timeout(300_000);
  const prometheus = usePrometheus();
  const fleet = useFleets();

  test('alerts fire for the machine that cannot reach git, and for the machine that died', async () => {
    const here = await fleet({
      machines: ['north', 'south', 'desk'],
      agent: countedAgent,
      settings: fleetSettings,
      isPlain: true,
    });
    const desk = here.machine('desk');
    desk.writeUserSettings('[fleet]\nagents = 0\n');
    await importEpic(
      desk,
      [1, 2, 3, 4].map((n) => ({ id: `F-${n}`, blockedBy: [] })),
    );
    await startWorkers(here, ['north', 'south'], 1);
    const proxy = await gitThroughProxy(here, here.machine('north'));
    let text = '';
    const ask = await prometheus().scrapingWithAlerts(() => text);
    const fires = (alert: string): Promise<unknown> =>
      eventually(`${alert} fires`, async () => {
        text = await desk.expect(0, ['metrics', '--totals']);
        const answer = await ask(`ALERTS{alertname="${alert}",alertstate="firing"}`).catch(
          () => null,
        );
        return answer !== null && answer.data.result.length === 1;
      });
    try {
      proxy.stall();
      await desk.expect(0, ['run', '--detach']);
      await fires('DroverRemoteAway');
      await here.machine('south').kill();
      await fires('DroverMachineDead');
      const told = await machineEvents(here);
      assert.deepEqual(told.get('north')?.slice(0, 2), ['joined', 'cut_off']);
      assert.equal(told.get('south')?.at(-1), 'died');
    } finally {
      proxy.close();
    }
  });
});
