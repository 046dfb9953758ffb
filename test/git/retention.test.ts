// Retention outside the database: refs of snapshots and logs of closed epics are removed, with
// their disk space.

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keepAttachment } from '../../server/project/attachments.ts';
import { prune } from '../../server/upkeep/retention.ts';
import type { PruneReport } from '../../server/protocol/prune-report.ts';
import { addEpic, closeEpic } from '../../server/store/plan/epics.ts';
import { addTask } from '../../server/store/plan/tasks.ts';
import { removeFolder } from '../remove-folder.ts';
import { memoryStore, moveTask, testSources } from '../unit/store/memory-store.ts';
import { makeFixture } from './fixture.ts';
import { makeFleet } from './remote-fixture.ts';
import { tablesOf } from '../tables.ts';

const dayMs = 24 * 3_600_000;

suite('retention of refs and logs', () => {
  test('refs and logs of a closed epic are removed; open and unknown ones stay', async () => {
    const fixture = makeFixture();
    const project = await memoryStore(testSources(Date.now()));
    try {
      const { store, sources } = project;
      const opened = await fixture.adapter().open(fixture.root);
      assert.ok(opened.ok);
      const ids: Record<string, string> = {};
      const epics: Record<string, string> = {};
      for (const name of ['closed', 'open']) {
        const epic = await store.transaction((tx) => addEpic(tx, sources, { title: name }));
        const task = await store.transaction((tx) =>
          addTask(tx, sources, { title: name, epic: epic.id }),
        );
        await moveTask(project, task.id, ['claimed', 'in_progress', 'completed']);
        ids[name] = task.id;
        epics[name] = epic.id;
      }
      const [closed = '', open = ''] = [ids['closed'], ids['open']];
      await store.transaction((tx) => closeEpic(tx, sources, epics['closed'] ?? ''));
      const logs = join(fixture.home, 'logs');
      for (const name of [closed, open, 'gate']) {
        mkdirSync(join(logs, name), { recursive: true });
        writeFileSync(join(logs, name, '1.ndjson'), '{"a":1}\n');
      }
      const commit = fixture.git('commit-tree', 'HEAD^{tree}', '-m', 'a snapshot of its own');
      const gone = [
        `refs/drover/work/${closed}/1`,
        `refs/drover/approved/${epics['closed']}/a`,
        `refs/drover/approved/${closed}/a`,
      ];
      const stays = [
        `refs/drover/work/${open}/1`,
        `refs/drover/work/slots/one`,
        `refs/drover/approved/${epics['open']}/a`,
        `refs/drover/approved/${open}/a`,
      ];
      for (const ref of [...gone, ...stays]) fixture.git('update-ref', ref, commit);
      await store.transaction((tx) =>
        tablesOf(tx)
          .updateTable('tasks')
          .set({ rescue_refs: JSON.stringify([gone[0], 'refs/drover/rescue/x']) })
          .where('id', '=', closed)
          .execute(),
      );
      const ageMs = 30 * dayMs;
      const ages = ['events', 'past', 'logs', 'snapshots', 'verdicts', 'webhooks', 'steps'];
      const retention = Object.fromEntries(ages.map((name) => [`${name}Ms`, ageMs]));
      const run = (isDry: boolean): Promise<PruneReport> =>
        prune(
          {
            store,
            live: { settings: { retention } } as never,
            places: { logs, attachments: join(fixture.home, 'attachments') } as never,
            local: opened.value,
            fleet: null,
          },
          { forget: async () => 0 } as never,
          { isDry, signal: new AbortController().signal, scope: 'all' },
        );
      const of = (report: PruneReport, kind: string): readonly number[] =>
        report.removed.filter((one) => one.kind === kind).map(({ count }) => count);

      assert.deepEqual((await run(false)).bytes, 0, 'nothing is old yet');
      sources.nowMs += 40 * dayMs;
      const refs = (): string => fixture.git('for-each-ref', '--format=%(refname)', 'refs/drover');
      const before = refs();
      const planned = await run(true);
      assert.equal(refs(), before);
      assert.ok(existsSync(join(logs, closed)));
      const done = await run(false);
      assert.deepEqual({ ...done, dry_run: true }, planned);
      assert.deepEqual([of(done, 'logs'), of(done, 'snapshots')], [[1], [3]]);
      assert.ok(done.bytes > 8, String(done.bytes));
      assert.deepEqual(refs().split('\n').toSorted(), [...stays].toSorted());
      assert.deepEqual(
        [closed, open, 'gate'].map((name) => existsSync(join(logs, name))),
        [false, true, true],
      );
      const row = await tablesOf(store.db)
        .selectFrom('tasks')
        .select('rescue_refs')
        .where('id', '=', closed)
        .executeTakeFirstOrThrow();
      assert.equal(row.rescue_refs, '["refs/drover/rescue/x"]');
    } finally {
      await project.close();
      fixture.remove();
    }
  });

  test('images that no description names are removed after a week; links and other files stay', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'drover-attachments-'));
    const project = await memoryStore(testSources(Date.now()));
    try {
      const { store, sources } = project;
      const attachments = join(folder, 'attachments');
      const [task, epic, unnamed] = ['task', 'epic', 'unnamed'].map((words) =>
        keepAttachment({ attachments }, Buffer.from(`GIF89a${words}`)),
      );
      const names = { task: await task, epic: await epic, unnamed: await unnamed };
      const link = `${'a'.repeat(64)}.gif`;
      symlinkSync(join(attachments, names.unnamed ?? ''), join(attachments, link));
      writeFileSync(join(attachments, 'notes.txt'), 'mine');
      await store.transaction((tx) =>
        addTask(tx, sources, { title: 't', description: `![a](attachment:${names.task})` }),
      );
      await store.transaction((tx) =>
        addEpic(tx, sources, { title: 'e', description: `![a](attachment:${names.epic})` }),
      );
      const forever = new Proxy({}, { get: () => Number.POSITIVE_INFINITY });
      const run = (isDry: boolean): Promise<PruneReport> =>
        prune(
          {
            store,
            live: { settings: { retention: forever } } as never,
            places: { logs: join(folder, 'logs'), attachments } as never,
            local: null as never,
            fleet: null,
          },
          { forget: async () => 0 } as never,
          { isDry, signal: new AbortController().signal, scope: 'own' },
        );
      const counts = (report: PruneReport): readonly (readonly [string, number])[] =>
        report.removed.filter(({ count }) => count > 0).map(({ kind, count }) => [kind, count]);
      assert.deepEqual(counts(await run(false)), []);
      sources.nowMs += 8 * dayMs;
      assert.deepEqual(counts(await run(true)), [['attachments', 1]]);
      assert.deepEqual(counts(await run(false)), [['attachments', 1]]);
      assert.deepEqual(
        new Set(readdirSync(attachments)),
        new Set([names.task, names.epic, link, 'notes.txt']),
      );
    } finally {
      await project.close();
      removeFolder(folder);
    }
  });

  test('in a fleet, refs on the remote are removed too, with branches and kept work, even of a lost machine, and every copy', async () => {
    const fleet = await makeFleet('file');
    const project = await memoryStore(testSources(Date.now()));
    try {
      const { store, sources } = project;
      const ids: string[] = [];
      for (const statuses of [['claimed', 'in_progress', 'completed'], ['claimed']] as const) {
        const task = await store.transaction((tx) => addTask(tx, sources, { title: 'a task' }));
        await moveTask(project, task.id, statuses);
        ids.push(task.id);
      }
      const [over = '', open = ''] = ids;
      const commit = fleet.remote('rev-parse', 'main');
      const gone = `refs/drover/work/${over}/1`;
      const stays = [`refs/drover/work/${open}/1`, 'refs/drover/work/slots/one'];
      for (const ref of [gone, ...stays]) fleet.remote('update-ref', ref, commit);
      const left = (task: string): readonly string[] => [
        `refs/heads/drover/${task}/1`,
        `refs/drover/rescue/${task}/1/${commit.slice(0, 12)}`,
      ];
      const lasting = [
        ...left(open),
        'refs/heads/drover/results/1',
        'refs/drover/rescue/lines/1/a',
      ];
      for (const ref of [...left(over), ...lasting]) fleet.remote('update-ref', ref, commit);
      const machine = await fleet.machine('one');
      const copyOf = (ref: string): string => ref.replace('refs/drover/', 'refs/drover/shared/');
      for (const ref of [gone, ...stays]) machine.git('update-ref', copyOf(ref), commit);
      const refs = (): readonly string[] => [
        ...fleet
          .remote('for-each-ref', '--format=%(refname)', 'refs/drover', 'refs/heads/drover')
          .split('\n'),
        ...machine.git('for-each-ref', '--format=%(refname)', 'refs/drover').split('\n'),
      ];
      const run = async (isDry: boolean): Promise<number> => {
        const ages = ['events', 'past', 'logs', 'snapshots', 'verdicts', 'webhooks', 'steps'];
        const retention = Object.fromEntries(ages.map((name) => [`${name}Ms`, 30 * dayMs]));
        const report = await prune(
          {
            store,
            live: { settings: { retention } } as never,
            places: {
              logs: join(fleet.fixture.home, 'no logs'),
              attachments: join(fleet.fixture.home, 'no attachments'),
            } as never,
            local: machine.local,
            fleet: machine.shared,
          },
          { forget: async () => 0 } as never,
          { isDry, signal: new AbortController().signal, scope: 'all' },
        );
        return report.removed.find(({ kind }) => kind === 'snapshots')?.count ?? 0;
      };
      assert.equal(await run(false), 0, 'nothing is old yet');
      sources.nowMs += 40 * dayMs;
      const before = refs();
      assert.deepEqual([await run(true), refs()], [4, before]);
      assert.equal(await run(false), 4);
      assert.deepEqual(refs().toSorted(), [...stays, ...lasting, ...stays.map(copyOf)].toSorted());
    } finally {
      await project.close();
      await fleet.remove();
    }
  });
});
