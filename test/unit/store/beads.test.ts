// Files of the real `bd` (0.49.6 and 1.0.3): the tasks that may start are those that `bd ready`
// offers, and changes since the last import are taken over.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { importFile } from '../../../server/store/exchange/imports.ts';
import { exportPlan } from '../../../server/store/exchange/exports.ts';
import { why } from '../../../server/store/why/why.ts';
import type { ImportResultView } from '../../../server/protocol/api.ts';
import { addTasks, memoryStore, moveTask, statusOf, type TestStore } from './memory-store.ts';
import { noFallback } from '../../doubles/neutral-settings.ts';
import { tablesOf } from '../../tables.ts';

const fixture = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/beads/${name}`, import.meta.url)), 'utf8');

suite('beads', () => {
  let project: TestStore;
  setup(async () => {
    project = await memoryStore();
  });
  teardown(() => project.close());

  function bring(text: string, more: { update?: boolean; dryRun?: boolean } = {}) {
    return importFile(project.store, {
      text,
      badUtf8Lines: [],
      file: '.beads/issues.jsonl',
      format: 'auto',
      dryRun: false,
      update: false,
      rename: false,
      skipInvalid: false,
      maxAttempts: 3,
      ...more,
    });
  }

  async function exported(present: string): Promise<string> {
    const { db } = project.store;
    const out = await exportPlan(db, { format: 'beads', present, nowMs: 0, repository: '/repo' });
    return out.text;
  }

  /** Tasks that may start: they and everything above them are ready. */
  async function startable(): Promise<string[]> {
    const rows = await tablesOf(project.store.db)
      .selectFrom('tasks')
      .select(['id', 'status', 'parent_id'])
      .execute();
    const byId = new Map(rows.map((row) => [row.id, row]));
    return rows
      .filter((row) => {
        const parent = row.parent_id === null ? undefined : byId.get(row.parent_id);
        return row.status === 'ready' && (parent === undefined || parent.status === 'ready');
      })
      .map((row) => row.id)
      .sort();
  }

  for (const version of ['0.49.6', '1.0.3']) {
    test(`bd ${version}: exactly the issues that bd ready offers may start`, async () => {
      const result = await bring(fixture(`${version}-export.jsonl`));
      assert.deepEqual(result.errors, []);
      const ready = JSON.parse(fixture(`${version}-ready.json`)) as {
        id: string;
        issue_type: string;
      }[];
      const wanted = ready.filter((issue) => issue.issue_type !== 'epic').map((issue) => issue.id);
      assert.deepEqual(await startable(), wanted.sort());
    });

    test(`bd ${version}: a second import changes nothing, and an export reproduces the file`, async () => {
      const text = fixture(`${version}-export.jsonl`);
      await bring(text);
      const seq = await project.store.feed.lastSeq();
      await bring(text, { update: true });
      assert.equal(await project.store.feed.lastSeq(), seq);
      assert.equal(await exported(text), text);
    });
  }

  const line = (id: string, more: object = {}): string =>
    `${JSON.stringify({ id, title: id, status: 'open', priority: 2, issue_type: 'task', ...more })}\n`;
  const closed = { status: 'closed', closed_at: '2026-01-01T00:00:00Z', close_reason: 'done' };
  const tombstone = { status: 'tombstone', deleted_at: '2026-01-01T00:00:00Z' };

  async function took(before: string, after: string): Promise<ImportResultView> {
    await bring(before);
    return bring(after, { update: true });
  }

  const changes: readonly [string, object, object, string][] = [
    ['closed', {}, closed, 'completed'],
    ['closed as a duplicate', {}, { ...closed, close_reason: 'duplicate of y' }, 'cancelled'],
    ['deleted', {}, tombstone, 'cancelled'],
    ['deferred', {}, { status: 'deferred' }, 'paused'],
    ['deferred until a day', {}, { defer_until: '2099-01-01T00:00:00Z' }, 'blocked'],
    ['claimed', {}, { status: 'in_progress', assignee: 'bob' }, 'blocked'],
    ['given back', { status: 'in_progress', assignee: 'bob' }, {}, 'ready'],
  ];
  for (const [title, before, after, status] of changes) {
    test(`an issue that was ${title} there is ${status} here`, async () => {
      const result = await took(line('x', before), line('x', after));
      assert.deepEqual(result.errors, []);
      assert.equal(await statusOf(project, 'x'), status);
      assert.deepEqual(result.differs, ['x']);
      const seq = await project.store.feed.lastSeq();
      await bring(line('x', after), { update: true });
      assert.equal(await project.store.feed.lastSeq(), seq, 'a second time nothing changes');
    });
  }

  test('an epic that is closed in Beads is closed here', async () => {
    const record = (id: string, more: Readonly<Record<string, unknown>>): string =>
      `${JSON.stringify({ id, title: id, status: 'open', ...more })}\n`;
    const epic = { issue_type: 'epic' };
    const duplicate = { ...closed, close_reason: 'duplicate of y' };
    await bring(
      record('e-open', epic) +
        record('e-done', { ...epic, ...closed }) +
        record('e-dropped', { ...epic, ...duplicate }) +
        record('t-done', { issue_type: 'task', ...closed }),
    );
    const rows = await tablesOf(project.store.db)
      .selectFrom('epics')
      .select(['id', 'status'])
      .orderBy('id')
      .execute();
    assert.deepEqual(
      rows.map(({ id, status }) => `${id} ${status}`),
      ['e-done closed', 'e-dropped closed', 'e-open open'],
    );
  });

  test('when an issue is closed in Beads, its dependents may start, and when it is reopened, they may not', async () => {
    const b = line('b', { dependencies: [{ issue_id: 'b', depends_on_id: 'a', type: 'blocks' }] });
    await took(line('a') + b, line('a', closed) + b);
    assert.deepEqual(
      [await statusOf(project, 'a'), await statusOf(project, 'b')],
      ['completed', 'ready'],
    );
    await bring(line('a') + b, { update: true });
    assert.deepEqual(
      [await statusOf(project, 'a'), await statusOf(project, 'b')],
      ['ready', 'blocked'],
    );
  });

  test("an issue that is closed in Beads while it waits for a task of Drover's does not start", async () => {
    const edge = { dependencies: [{ issue_id: 'b', depends_on_id: 'a', type: 'blocks' }] };
    await took(line('a') + line('b', edge), line('a') + line('b', { ...edge, ...closed }));
    assert.equal(await statusOf(project, 'b'), 'cancelled');
  });

  test('closing an issue in Beads while an agent works on it causes a warning that names the command', async () => {
    await bring(line('x'));
    await moveTask(project, 'x', ['claimed', 'in_progress']);
    const result = await bring(line('x', closed), { update: true });
    assert.equal(await statusOf(project, 'x'), 'in_progress');
    assert.match(result.warnings[0]?.message ?? '', /drover cancel x/);
  });

  test('a file from before the landing does not reopen a landed task', async () => {
    await bring(line('x'));
    await moveTask(project, 'x', ['claimed', 'in_progress', 'completed']);
    await bring(line('x'), { update: true });
    assert.equal(await statusOf(project, 'x'), 'completed');
  });

  test('a dry run changes nothing and lists the changes', async () => {
    await bring(line('x'));
    const result = await bring(line('x', closed), { update: true, dryRun: true });
    assert.deepEqual([result.differs, await statusOf(project, 'x')], [['x'], 'ready']);
  });

  test('a held task has its reason, and its line keeps its status', async () => {
    const text = line('x', {
      status: 'in_progress',
      assignee: 'bob',
      updated_at: '2020-01-01T00:00:00Z',
    });
    await bring(text);
    const facts = {
      nowMs: 0,
      agentKind: 'claude',
      agents: noFallback,
      hasBackend: true,
      gateNeeds: [],
    };
    assert.match((await why(project.store.db, 'x', facts)).join(' '), /Beads: claimed by bob/);
    assert.equal(JSON.parse(await exported(text)).status, 'in_progress');
  });

  test('a new task writes its priority, because a missing one would be the most urgent', async () => {
    await addTasks(project, [{ title: 'x', priority: 'normal' }]);
    const written = (await exported(line('y'))).trim().split('\n').at(-1) ?? '';
    assert.equal(JSON.parse(written).priority, 2);
  });
});
