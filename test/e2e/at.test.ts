// The past of a real run: snapshots that were read during the run, compared with the same moments
// requested later.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openStore, type OpenedStore } from '../../server/store/open.ts';
import { openPast } from '../../server/store/history/past.ts';
import { type Db, readAtOneMoment } from '../../server/store/rows/one-moment.ts';
import { readSnapshot } from '../../server/store/board/snapshot.ts';
import { why } from '../../server/store/why/why.ts';
import type { StatusSnapshot } from '../../server/protocol/api.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';
import { sized } from '../tier.ts';
import { noFallback } from '../doubles/neutral-settings.ts';
import { tablesOf } from '../tables.ts';

/** A shell script that waits here until the test has seen the state in which it runs. */
const holdIn = (folder: string, name: string): string =>
  `held="${folder}/held/${name}"; : > "$held"; while [ -e "$held" ]; do sleep 0.02; done`;

/** Attempts that exit with 1 fail. */
const agent = `
cat > /dev/null
${holdIn('$(dirname "$0")', '$id.$attempt')}
if [ "$attempt" = 1 ] && [ $(( $(printf %s "$id" | cksum | cut -c1-4) % 3 )) = 0 ]; then exit 1; fi
echo "work of $id" > "$id.txt"
`;

const killsMax = 2;
const tasksMax = sized(8, 48);
const momentsMin = sized(40, 200);
/** The times at which the command itself is called, in all three views. */
const askedMax = sized(1, 12);

const lookEveryMs = 6;

interface Seen {
  readonly change: number;
  readonly seq: number;
  readonly nowMs: number;
  readonly state: unknown;
}

type Reasons = Record<string, readonly string[]>;

const extras = { config: () => ({}), targetBranch: 'main', shaOf: async () => null };

async function stateOf(db: Db, nowMs: number): Promise<{ seq: number; state: unknown }> {
  const snapshot = await readSnapshot(db, {}, extras);
  const facts = {
    nowMs,
    agentKind: 'command',
    agents: noFallback,
    hasBackend: true,
    gateNeeds: [],
  };
  const reasons: Reasons = {};
  // The past does not include which merge a gate was testing.
  for (const { id } of snapshot.tasks)
    reasons[id] = (await why(db, id, facts)).filter((reason) => !reason.startsWith('Gate runs '));
  const tasks = snapshot.tasks.map((task) => ({ ...task, running_gate: undefined }));
  // An event that changes no row leaves the state unchanged.
  const { seq, ...rest } = snapshot;
  return { seq, state: JSON.parse(JSON.stringify({ snapshot: { ...rest, tasks }, reasons })) };
}

async function look({ store }: OpenedStore): Promise<Seen> {
  // In one transaction, so that the state and the number of its last change belong together, but
  // without a writer's lock, which would starve the backend.
  return readAtOneMoment(store.db, async (db) => {
    const nowMs = Date.now();
    const row = await tablesOf(db)
      .selectFrom('past')
      .select((eb) => eb.fn.max('n').as('n'))
      .executeTakeFirst();
    return { change: row?.n ?? 0, nowMs, ...(await stateOf(db, nowMs)) };
  });
}

/** Compares `drover at` for a time with the views that were read at that time. */
async function compareViews(here: Project, { seq, state }: Seen): Promise<void> {
  const { snapshot, reasons } = state as { snapshot: StatusSnapshot; reasons: Reasons };
  for (const view of ['status', 'board']) {
    const shown = await here.json<StatusSnapshot>(['at', String(seq), view]);
    assert.equal(shown.seq, seq);
    assert.deepEqual(
      shown.tasks.map((task) => [task.id, task.status, task.attempts]),
      snapshot.tasks.map((task) => [task.id, task.status, task.attempts]),
      `${view} at ${seq}`,
    );
  }
  const { id } = snapshot.tasks[seq % snapshot.tasks.length] as { id: string };
  const told = await here.json<{ reasons: readonly string[] }>(['at', String(seq), 'why', id]);
  // The command's time is the event's own, slightly before the check.
  const timeless = (list: readonly string[] = []): string[] =>
    list.map((words) => words.replaceAll(/\b(for|in) \d[\d. a-z]*/gu, '$1 a while'));
  assert.deepEqual(timeless(told.reasons), timeless(reasons[id]), `why ${id} at ${seq}`);
}

suite('drover at', function () {
  this.timeout(sized(240_000, 900_000));
  const project = useProjects();
  let opened: OpenedStore | null = null;
  teardown(async () => {
    await opened?.close();
    opened = null;
  });

  test('the command shows the states of a run whose backend is killed, as they were at the time', async function () {
    const here = project({ agent });
    const held = join(here.folder, 'held');
    mkdirSync(held);
    await here.expect(0, ['init']);
    const epic = await here.json<{ id: string }>(['epic', 'add', 'An epic']);
    const ids: string[] = [];
    for (let at = 0; at < tasksMax; at += 1) {
      const blockers = at > 2 ? ['--blocked-by', ids[at - 3] ?? ''] : [];
      ids.push(await here.add(`Task ${at}`, '-e', epic.id, ...blockers));
    }
    const path = join(here.root, '.drover', 'drover.db');
    opened = await openStore(path, {
      clock: { now: () => Date.now(), timer: () => () => undefined },
      uuid: randomUUID,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    });
    const store = opened;
    const gate = holdIn(here.folder, 'gate.$$');
    const run = here.drover(['run', '-e', epic.id, '--workers', '3', '--gate', gate]);
    let isOver = false;
    void run.finally(() => (isOver = true));
    const moments: Seen[] = [];
    let kills = 0;
    while (!isOver) {
      const waiting = readdirSync(held);
      const seen = await look(store);
      const isNew = seen.change !== moments.at(-1)?.change;
      if (isNew) moments.push(seen);
      // The test has seen the state in which it waits.
      const [next] = isNew ? [] : waiting;
      if (next !== undefined) rmSync(join(held, next));
      if (
        moments.length > (kills + 1) * (momentsMin / 3) &&
        kills < killsMax &&
        (await here.killBackend())
      ) {
        kills += 1;
      }
      await new Promise((resolve) => setTimeout(resolve, lookEveryMs));
    }
    const ended = await run;
    assert.equal(ended.code, 0, ended.stderr);

    assert.equal(kills, killsMax);
    assert.ok(moments.length >= momentsMin, `${moments.length} states`);
    for (const { change, nowMs, state } of moments) {
      const past = await openPast(store.store.db, { change });
      const found = await stateOf(past.db, nowMs);
      await past.close();
      assert.deepEqual(found.state, state, `after change ${change}`);
    }

    const lastOf = new Map(moments.map((seen) => [seen.seq, seen]));
    lastOf.delete(moments.at(-1)?.seq ?? 0);
    const settled = [...lastOf.values()];
    const step = Math.max(1, Math.floor(settled.length / askedMax));
    const asked = settled.filter((_, at) => (settled.length - 1 - at) % step === 0);
    for (const seen of asked) await compareViews(here, seen);
    console.log(`        ${moments.length} moments, ${asked.length} of them asked of the command`);
    const first = await here.expect(0, ['at', '9', 'why', ids[3] ?? '']);
    assert.match(first, new RegExp(`waits for ${ids[0]}|${ids[3]}`));
    assert.match(await here.expect(0, ['at', '9', 'board']), /Task 7/);
    await here.expect(3, ['at', '999999', 'status']);
    await here.expect(64, ['at', 'yesterday', 'status']);
    await here.expect(64, ['at', '3', 'why']);
    await here.expect(64, ['at', '3', 'report']);
  });
});
