// The embedded adapter's own guarantees: leases, fences, disk problems, and the cost of its
// statements.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql, type Transaction } from 'kysely';
import {
  createEmbeddedDurable,
  type EmbeddedDurable,
} from '../../server/durable/embedded/embedded.ts';
import { LostLease, type Clock } from '../../server/durable/port.ts';
import type { OpenedDatabase } from '../../server/store/sqlite/open.ts';
import { removeFolder } from '../remove-folder.ts';
import { openTestDatabase, type TestTables } from './embedded-harness.ts';
import { ManualClock } from './manual-clock.ts';

const leaseMs = 9_000;

interface Bench {
  readonly database: OpenedDatabase<TestTables>;
  readonly clock: ManualClock;
  readonly troubles: unknown[];
  /** From the adapter's point of view, a separate process, on a shared connection. */
  readonly process: (name: string, clock?: Clock) => EmbeddedDurable<Transaction<TestTables>>;
}

function onBench(body: (bench: Bench) => Promise<void>): () => Promise<void> {
  return async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-embedded-'));
    const database = await openTestDatabase(join(folder, 'durable.db'));
    const adapters: EmbeddedDurable<Transaction<TestTables>>[] = [];
    const clock = new ManualClock();
    const troubles: unknown[] = [];
    const startProcess = (processId: string, ownClock: Clock = clock) => {
      const adapter = createEmbeddedDurable({
        db: database.db,
        clock: ownClock,
        processId,
        isProcessAlive: (id) => !id.startsWith('dead'),
        leaseMs,
        onTrouble: (error) => troubles.push(error),
      });
      adapters.push(adapter);
      return adapter;
    };
    try {
      await body({ database, clock, troubles, process: startProcess });
    } finally {
      await Promise.all(adapters.map((adapter) => adapter.close()));
      await database.close();
      removeFolder(folder);
    }
  };
}

interface Gate {
  readonly opened: Promise<void>;
  open(): void;
}

function gate(): Gate {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}

suite('embedded: leases', () => {
  test(
    'a lease is renewed as long as its process lives',
    onBench(async ({ clock, process }) => {
      const [first, second] = [process('a'), process('b')];
      const end = gate();
      const runs: string[] = [];
      for (const [name, adapter] of Object.entries({ first, second })) {
        adapter.workflow('long', async (run) => {
          await run.step('work', async () => {
            runs.push(name);
            await end.opened;
          });
        });
      }
      await first.launch();
      await first.start('long', 'w1', null, { queue: 'q' });
      await second.launch();
      await clock.advance(leaseMs * 10);
      const ended = second.wait('w1');
      end.open();
      await clock.advance(1_000);
      assert.equal((await ended).state, 'succeeded');
      assert.deepEqual(runs, ['first']);
    }),
  );

  test(
    'a process whose clock was stopped has its step refused and its signal aborted',
    onBench(async ({ clock, database, process }) => {
      const stoppedClock = new ManualClock(clock.now());
      const [stopped, other] = [process('a', stoppedClock), process('b')];
      const [reached, goOn] = [gate(), gate()];
      let refusal: unknown;
      let reason: unknown;
      stopped.workflow('work', async (run) => {
        try {
          await run.step('one', async () => {
            reached.open();
            await goOn.opened;
            return 'from the stopped';
          });
        } catch (error) {
          refusal = error;
          reason = run.signal.reason;
          throw error;
        }
      });
      other.workflow('work', async (run) => run.step('one', async () => 'from the other'));
      await stopped.launch();
      await stopped.start('work', 'w1', null, { queue: 'q' });
      await reached.opened;
      await other.launch();
      await clock.advance(leaseMs - 1_000);
      assert.equal((await other.get('w1'))?.state, 'running');
      await clock.advance(2_000);
      assert.equal((await other.wait('w1')).result, 'from the other');
      goOn.open();
      await stopped.close();
      assert.ok(refusal instanceof LostLease);
      assert.ok(reason instanceof LostLease);
      const steps = await database.db.selectFrom('workflow_steps').select('output').execute();
      assert.deepEqual(steps, [{ output: '"from the other"' }]);
    }),
  );

  test(
    'a commit of a process that lost its lease writes nothing',
    onBench(async ({ clock, database, process }) => {
      const stopped = process('a', new ManualClock(clock.now()));
      const other = process('b');
      const [reached, goOn] = [gate(), gate()];
      const ended = gate();
      stopped.workflow('work', async (run) => {
        reached.open();
        await goOn.opened;
        const committing = run.commit('note', async (tx) => {
          await tx.insertInto('notes').values({ text: 'from the stopped' }).execute();
        });
        await committing.finally(() => ended.open());
      });
      other.workflow('work', async (run) =>
        run.commit('note', async (tx) => {
          await tx.insertInto('notes').values({ text: 'from the other' }).execute();
        }),
      );
      await stopped.launch();
      await stopped.start('work', 'w1', null, { queue: 'q' });
      await reached.opened;
      await other.launch();
      await clock.advance(leaseMs + 1_000);
      await other.wait('w1');
      goOn.open();
      await ended.opened;
      await stopped.close();
      const notes = await database.db.selectFrom('notes').selectAll().execute();
      assert.deepEqual(notes, [{ text: 'from the other' }]);
      assert.equal((await other.get('w1'))?.state, 'succeeded');
    }),
  );

  test(
    'a process that learns that its lease is lost aborts its bodies',
    onBench(async ({ clock, process }) => {
      const slowClock = new ManualClock(clock.now());
      const [slow, other] = [process('a', slowClock), process('b')];
      const reached = gate();
      let aborted = false;
      slow.workflow('work', async (run) => {
        reached.open();
        await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()));
        aborted = true;
      });
      other.workflow('work', async () => 'from the other');
      await slow.launch();
      await slow.start('work', 'w1', null, { queue: 'q' });
      await reached.opened;
      await other.launch();
      await clock.advance(leaseMs + 1_000);
      await other.wait('w1');
      assert.equal(aborted, false);
      await slowClock.advance(1_000);
      assert.equal(aborted, true);
      assert.equal((await other.get('w1'))?.result, 'from the other');
    }),
  );

  test(
    'a process that cannot renew its lease aborts its bodies when the lease expires',
    onBench(async ({ clock, database, process, troubles }) => {
      const durable = process('a');
      const reached = gate();
      let aborted = false;
      durable.workflow('work', async (run) => {
        reached.open();
        await new Promise<void>((resolve) => run.signal.addEventListener('abort', () => resolve()));
        aborted = true;
      });
      await durable.launch();
      await durable.start('work', 'w1', null, { queue: 'q' });
      await reached.opened;
      database.raw.exec('alter table workflows rename to hidden');
      await clock.advance(leaseMs - 1_000);
      assert.equal(aborted, false);
      await clock.advance(1_000);
      assert.equal(aborted, true);
      assert.ok(troubles.length > 0);
      database.raw.exec('alter table hidden rename to workflows');
    }),
  );

  test(
    'work with a name that this process does not know waits, and delays no other work',
    onBench(async ({ process }) => {
      const durable = process('a');
      durable.queue('q', { perProcess: 1 });
      durable.workflow('known', async () => 'done');
      await durable.start('from the future', 'w1', null, { queue: 'q', priority: 9 });
      await durable.start('known', 'w2', null, { queue: 'q' });
      await durable.launch();
      assert.equal((await durable.wait('w2')).result, 'done');
      assert.equal((await durable.get('w1'))?.state, 'pending');
    }),
  );

  test(
    'a full disk fails no workflow, which continues once the disk has space and the lease has expired',
    onBench(async ({ clock, database, process, troubles }) => {
      const durable = process('a');
      let runs = 0;
      durable.workflow('big', async (run) => {
        await run.step('small', async () => 1);
        await run.step('big', async () => {
          runs += 1;
          return 'x'.repeat(400_000);
        });
        return 'done';
      });
      const pages = database.raw.prepare('pragma page_count').get()?.['page_count'] as number;
      database.raw.exec(`pragma max_page_count = ${pages + 20}`);
      await durable.launch();
      await durable.start('big', 'w1', null, { queue: 'q' });
      await clock.advance(leaseMs - 1_000);
      assert.deepEqual([(await durable.get('w1'))?.state, runs], ['running', 1]);
      database.raw.exec('pragma max_page_count = 100000');
      await clock.advance(2_000);
      assert.equal((await durable.wait('w1')).result, 'done');
      assert.deepEqual([runs, troubles], [2, []]);
    }),
  );

  test(
    'an idle engine writes nothing',
    onBench(async ({ clock, database, process }) => {
      const durable = process('a');
      durable.workflow('quick', async () => 1);
      await durable.launch();
      await durable.start('quick', 'w1', null, { queue: 'q' });
      await durable.wait('w1');
      await clock.advance(5_000);
      const changes = (): unknown =>
        database.raw.prepare('select total_changes() as changes').get()?.['changes'];
      const before = changes();
      await clock.advance(100_000);
      assert.equal(changes(), before);
    }),
  );

  test(
    'the engine deletes only the steps of workflows that succeeded long ago',
    onBench(async ({ clock, database, process }) => {
      const durable = process('a');
      durable.workflow('work', async (run, input: string) => {
        await run.step('one', async () => 1);
        await run.step('two', async () => 2);
        if (input === 'fail') throw new Error('as told');
      });
      await durable.launch();
      await durable.start('work', 'old', 'end', { queue: 'q' });
      await durable.start('work', 'failed', 'fail', { queue: 'q' });
      await Promise.all([durable.wait('old'), durable.wait('failed')]);
      await clock.advance(60_000);
      await durable.start('work', 'young', 'end', { queue: 'q' });
      await durable.wait('young');
      assert.equal(await durable.forget(30_000), 2);
      assert.equal(await durable.forget(30_000), 0);
      const left = await database.db
        .selectFrom('workflow_steps')
        .select('workflow_id')
        .distinct()
        .orderBy('workflow_id')
        .execute();
      assert.deepEqual(left, [{ workflow_id: 'failed' }, { workflow_id: 'young' }]);
      await durable.start('work', 'old', 'end', { queue: 'q' });
      assert.equal((await durable.get('old'))?.state, 'succeeded');
    }),
  );
});

suite('embedded: statements use an index for any number of rows', () => {
  const statements: readonly (readonly [string, RegExp])[] = [
    [
      `select seq from workflows where state = 'pending' and queue = 'q'
         and name in (select value from json_each('[]'))
         and id not in (select value from json_each('[]'))
       order by priority desc, seq limit 1`,
      /SEARCH workflows USING INDEX workflows_pending/,
    ],
    [
      `select min(queue) from workflows where state = 'pending' and queue > 'q'`,
      /SEARCH workflows USING COVERING INDEX workflows_pending/,
    ],
    [
      `select count(*) from workflows where state = 'running' and queue = 'q'`,
      /SEARCH workflows USING COVERING INDEX workflows_running/,
    ],
    [
      `select owner, min(lease_expires_at) from workflows where state = 'running' group by owner`,
      /USING COVERING INDEX workflows_running/,
    ],
    [
      `update workflows set state = 'pending' where state = 'running'
         and (lease_expires_at <= 1 or owner in (select value from json_each('[]')))`,
      /USING (?:COVERING )?INDEX workflows_running/,
    ],
    [
      `update workflows set lease_expires_at = 1
       where id in (select value from json_each('[]')) and state = 'running' and owner = 'a'`,
      /SEARCH workflows USING INDEX sqlite_autoindex_workflows_1/,
    ],
    [
      `select name from workflow_steps
       where workflow_id in (select value from json_each('[]'))`,
      /SEARCH workflow_steps USING PRIMARY KEY/,
    ],
  ];
  for (const [statement, expected] of statements) {
    test(
      statement.replaceAll(/\s+/g, ' ').slice(0, 90),
      onBench(async ({ database: { db } }) => {
        const { rows } = await sql<{
          detail: string;
        }>`explain query plan ${sql.raw(statement)}`.execute(db);
        const plan = rows.map(({ detail }) => detail).join('\n');
        assert.match(plan, expected);
        if (statement.includes('order by')) assert.doesNotMatch(plan, /TEMP B-TREE/);
        assert.doesNotMatch(plan, /SCAN workflow(?:s|_steps)(?! USING)/);
      }),
    );
  }
});
