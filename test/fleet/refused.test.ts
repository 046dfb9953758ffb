// The git server has a rule for branches that finished work violates: each agent runs once, and its
// work lands once the rule is removed.

import assert from 'node:assert/strict';
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { tail } from '../e2e/support/run-program.ts';
import { assertFleetDone } from './support/checks.ts';
import {
  completedRuns,
  countedAgent,
  fleetSettings,
  importEpic,
  layeredPlan,
} from './support/epic.ts';
import { useFleets } from './support/suite-fleets.ts';

suite('a git server that refuses finished work', function () {
  this.timeout(240_000);
  const fleet = useFleets();

  test("the tasks wait with the server's message, nothing more starts, and no agent runs twice", async () => {
    const here = await fleet({
      machines: ['solo'],
      agent: countedAgent,
      settings: fleetSettings,
      isPlain: true,
    });
    const solo = here.machine('solo');
    const rule = join(here.gitServer.bare, 'hooks', 'update');
    writeFileSync(
      rule,
      '#!/bin/sh\ncase "$1" in refs/heads/drover/F-*) echo "branches are named feature/*" >&2; exit 1;; esac\n',
    );
    chmodSync(rule, 0o755);
    const tasks = layeredPlan(new SeededChance(3), 1, 6);
    await importEpic(solo, tasks);
    const first = await solo.start(['run', '--workers', '2']).ended;
    assert.equal(first.code, 2, `${tail(first.stdout)}\n${tail(first.stderr)}\n${solo.log()}`);
    const rows = await here.query<{ id: string; status: string; attempts: number; why: string }>(
      `SELECT id, status, attempts::int AS attempts, blocked_reason AS why FROM tasks ORDER BY id`,
    );
    const blocked = rows.filter(({ status }) => status === 'blocked');
    assert.ok(blocked.length >= 2 && blocked.length <= 3, JSON.stringify(rows));
    for (const { why, attempts } of blocked) {
      assert.match(why, /branches are named feature\/\*.*kept: commit [0-9a-f]{12}/);
      assert.equal(attempts, 0);
    }
    assert.equal(completedRuns(here).length, blocked.length);
    const waiting = rows.find(({ status }) => status === 'ready')?.id ?? '';
    assert.match(await solo.expect(0, ['why', waiting]), /drover run/);

    rmSync(rule);
    for (const { id } of blocked)
      await solo.expect(0, ['resolve', id, '--note', 'the rule is gone']);
    const second = await solo.start(['run', '--workers', '2']).ended;
    assert.equal(second.code, 0, `${tail(second.stdout)}\n${tail(second.stderr)}\n${solo.log()}`);
    const { doubledRuns } = await assertFleetDone(here, tasks);
    assert.equal(doubledRuns, 0);
  });
});
