// The data requests as they arrive: parameters are checked before use, and answers have the form of
// the views.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dataRequests } from '../../../server/protocol/api.ts';
import { noOutput } from '../../../server/output/agent-output.ts';
import { readParams } from '../../../server/protocol/requests/read.ts';
import { unwrapOrRefuse } from '../../../server/rpc/transport/errors.ts';
import { createDataHandlers } from '../../../server/rpc/handlers/data.ts';
import { removeFolder } from '../../remove-folder.ts';
import {
  addAttempt,
  memoryStore,
  moveTask,
  refusalOf,
  type TestStore,
} from '../store/memory-store.ts';
import type { DataGit } from '../../../server/rpc/handlers/data-deps.ts';
import { tablesOf } from '../../tables.ts';
import { type AttemptRow } from '../../../server/store/port.ts';
import { addSpending } from '../../../server/store/work/spending.ts';

const textOf = (line: object | undefined): unknown =>
  line !== undefined && 'text' in line ? line.text : undefined;
const sha = (digit: string): string => digit.repeat(40);

suite('data requests', () => {
  let project: TestStore;
  let logs: string;
  let known: Set<string>;
  let handlers: ReturnType<typeof createDataHandlers>;
  setup(async () => {
    project = await memoryStore();
    logs = mkdtempSync(join(tmpdir(), 'drover-logs-'));
    known = new Set();
    const git: DataGit = {
      sharedRemote: null,
      facts: { root: '/repo', headBranch: 'main' },
      isAncestor: async () => true,
      readRef: async (ref) => (ref === 'refs/heads/main' ? sha('a') : null),
      resolve: async (revision) =>
        known.has(revision)
          ? { ok: true, value: revision }
          : { ok: false, error: { message: `no commit ${revision}` } },
      diff: async (from, to) => ({ ok: true, value: `${from}..${to}` }),
      changedFiles: () => assert.fail('not asked'),
      listSnapshots: () => assert.fail('not asked'),
      sizeOfChange: () => assert.fail('not asked'),
      fileAt: () => assert.fail('not asked'),
      merge: () => assert.fail('not asked'),
    };
    handlers = createDataHandlers({
      keepAttachment: async (content) => `kept ${content.length}`,
      store: project.store,
      machineId: '',
      settings: () => ({
        maxAttempts: 2,
        agent: {
          kind: 'claude',
          model: null,
          fallback: [],
          fallbackAfter: 1,
          fallbackWaitMs: null,
        },
        agents: {},
        defaultLabels: ['team'],
        runsOn: 'local',
        remote: { max: 4, labels: [] },
        fleet: { takeOverAfterMs: 15_000 },
        gate: { needs: [] },
        templates: { weekly: { title: 'Update the dependencies' } },
        retention: { notesMs: Infinity },
        land: { target: null },
        otel: { project: null },
      }),
      config: () => ({ max_workers: { value: 3, source: 'default' } }),
      logs,
      output: noOutput,
      log: {
        read: (path, { fromOffset, limit }) => ({
          events: [{ type: 'text', at: 1, text: `${path} ${fromOffset} ${limit}` }],
          offset: fromOffset,
          nextOffset: fromOffset + 10,
          size: fromOffset + 10,
          atEnd: true,
        }),
        readBefore: () => assert.fail('not asked'),
        find: () => assert.fail('not asked'),
        onGrowth: () => assert.fail('not asked'),
      },
      git,
      worktrees: async () => ({
        worktrees: [],
        others: [],
        total_bytes: 0,
        frees_bytes: 0,
        limit_bytes: null,
      }),
    });
  });
  teardown(async () => {
    await project.close();
    removeFolder(logs);
  });

  /** Requests as they arrive: nothing about them has been checked. */
  const call = async (name: (typeof dataRequests)[number], params: unknown): Promise<unknown> =>
    (handlers[name] as (params: unknown) => Promise<unknown>)(
      unwrapOrRefuse(readParams(name, params)),
    );

  test('every data request has a handler', () => {
    assert.deepEqual(Object.keys(handlers).toSorted(), [...dataRequests].toSorted());
  });

  const wrong: readonly [(typeof dataRequests)[number], unknown, RegExp][] = [
    ['task.add', null, /task.add needs the parameter title/],
    ['task.add', 7, /must be an object/],
    ['task.add', [], /must be an object/],
    ['task.add', {}, /task.add needs the parameter title/],
    ['task.add', { title: 7 }, /"title" must be a string/],
    ['task.add', { title: 'x', blocked_by: 'y' }, /"blocked_by" must be a list/],
    ['task.add', { title: 'x', blocked_by: [1] }, /"blocked_by" must be a string/],
    ['task.add', { title: 'x', priority: {} }, /"priority" must be a number or a string/],
    ['task.add', { title: 'x', max_attempts: 'many' }, /"max_attempts" must be a whole number/],
    ['task.add', { title: 'x', labels: Array(3_000).fill('a') }, /at most 2000 strings/],
    ['task.edit', { title: 'x' }, /task.edit needs the parameter id/],
    ['task.show', { id: ['a'] }, /"id" must be a string/],
    ['task.show', { id: 'x'.repeat(300) }, /at most 200/],
    ['epic.add', { title: null }, /"title"/],
    ['epic.edit', { id: 'x', title: 1 }, /"title"/],
    ['status', { epic: 1 }, /"epic"/],
    ['events.read', { after: -1 }, /"after" must be a whole number from 0/],
    ['events.read', { limit: 0 }, /"limit" must be a whole number from 1/],
    ['log.read', { id: 'x', offset: 1.5 }, /"offset"/],
    ['log.read', { id: 'x', attempt: 'last' }, /"attempt"/],
    ['transcripts.search', {}, /transcripts.search needs the parameter words/],
    ['transcripts.search', { words: 'x', limit: 501 }, /"limit" .* from 1 to 500\./],
    ['import', { text: 'x', file: 'f', format: 'xml' }, /"format" must be one of auto, session/],
    [
      'import',
      { text: 'x', file: 'f', format: 'auto', bad_utf8_lines: [], update: 1 },
      /"update" must be true or/,
    ],
    ['import', { text: 'x', file: 'f', format: 'auto', bad_utf8_lines: ['a'] }, /bad_utf8_lines/],
    ['attachment.add', { content: 1 }, /"content" must be a string/],
    ['attachment.add', { content: 'a b' }, /"content" must be base64/],
    ['export', { format: 'xml' }, /"format" must be one of session/],
  ];
  for (const [name, params, message] of wrong) {
    test(`data requests refuse ${name} ${JSON.stringify(params).slice(0, 50)}`, async () => {
      const refusal = await refusalOf(call(name, params));
      assert.equal(refusal.kind, 'bad_request');
      assert.match(refusal.message, message);
      assert.equal(await project.store.feed.lastSeq(), 0);
    });
  }

  test('an image is stored, and the answer is its name', async () => {
    assert.deepEqual(await call('attachment.add', { content: 'R0lGODlh' }), { name: 'kept 6' });
  });

  test('a template with its own title needs none', async () => {
    const task = await handlers['task.add']({ title: '', template: 'weekly' });
    assert.equal(task.title, 'Update the dependencies');
    await refusalOf(call('task.add', { title: '' }));
  });

  test("a task is added with the project's settings", async () => {
    const task = await handlers['task.add']({ title: 'Write it', labels: ['mine'] });
    assert.deepEqual([task.labels, task.max_attempts, task.status], [['team', 'mine'], 2, 'ready']);
    assert.equal(task.warnings.length, 2);
    const good = await handlers['task.add']({
      title: 'Write the whole parser',
      description: 'In src/parse.ts.',
      accept: ['It parses.'],
    });
    assert.deepEqual(good.warnings, []);
    const numbered = await call('task.add', { title: 'Part', parent: task.id, sequence: 3 });
    assert.equal((numbered as { id: string }).id, `${task.id}.3`);
  });

  test('an edit warns that a running agent has the old text', async () => {
    const task = await handlers['task.add']({ title: 'Write it' });
    await moveTask(project, task.id, ['claimed', 'in_progress']);
    const edited = await handlers['task.edit']({ id: task.id, title: 'Write it well' });
    assert.match(edited.warnings.at(-1) ?? '', /is running, and its agent has the earlier text/);
  });

  test('epics are shown with their counts', async () => {
    const epic = await handlers['epic.add']({ title: 'Money', description: 'All.' });
    assert.deepEqual(Object.keys(epic), [
      'id',
      'title',
      'description',
      'status',
      'counts',
      'progress',
      'branch',
      'landed_sha',
      'landing_state',
      'landing_note',
      'created_at',
    ]);
    await handlers['task.add']({ title: 'A', epic: epic.id });
    const [listed] = await handlers['epic.list']({});
    assert.equal(listed?.counts.total, 1);
    const shown = await handlers['epic.show']({ id: epic.id });
    assert.equal(shown.tasks.length, 1);
    assert.equal((await handlers['epic.edit']({ id: epic.id, title: 'Cash' })).title, 'Cash');
    assert.equal((await refusalOf(handlers['epic.close']({ id: epic.id }))).kind, 'epic_open');
    const snapshot = await handlers.status({ epic: epic.id });
    assert.deepEqual(snapshot.target, { branch: 'main', sha: sha('a'), pending: 0 });
    assert.equal(snapshot.config['max_workers']?.value, 3);
  });

  test("only today's spending is added up", async () => {
    const { id } = await handlers['task.add']({ title: 'A' });
    const spent = { tokens: 10, usd: 0.25, turns: 1, workedMs: 5 };
    const { day } = await handlers.spending({});
    const key = { taskId: id, attempt: 1, part: id };
    await project.store.transaction(async (tx) => {
      await addSpending(tx, { ...key, day }, spent);
      await addSpending(tx, { ...key, day: '2001-01-01' }, spent);
    });
    assert.deepEqual(await handlers.spending({}), { day, usd: 0.25 });
  });

  test('the feed is read in pages', async () => {
    for (const title of ['A', 'B', 'C']) await handlers['task.add']({ title });
    const page = await handlers['events.read']({ after: 1, limit: 1 });
    assert.deepEqual([page.events.map((event) => event.seq), page.seq], [[2], 3]);
    const none = await handlers['events.read']({ type: 'task.failed' });
    assert.deepEqual(none, { events: [], seq: 3 });
  });

  async function attempt(id: string, number: number, state: AttemptRow['state']): Promise<void> {
    await addAttempt(project, id, { number, epoch: number, state });
  }

  test('the log of the last attempt or a given one is read', async () => {
    const { id } = await handlers['task.add']({ title: 'A' });
    const sub = await handlers['task.add']({ title: 'S', parent: id });
    const empty = await handlers['log.read']({ id });
    assert.deepEqual(empty, {
      task_id: id,
      attempt: 0,
      events: [],
      offset: 0,
      next_offset: 0,
      size: 0,
      ended: false,
    });
    await attempt(id, 1, 'failed');
    await attempt(id, 2, 'running');
    const last = await handlers['log.read']({ id, attempt: 0, offset: 5, limit: 1_000_000 });
    assert.deepEqual([last.attempt, last.next_offset, last.ended], [2, 15, false]);
    assert.equal(textOf(last.events[0]), `${join(logs, id, '2.ndjson')} 5 5000`);
    const first = await handlers['log.read']({ id, attempt: 1 });
    assert.deepEqual([first.attempt, first.ended], [1, true]);
    const part = await handlers['log.read']({ id: sub.id });
    assert.equal(textOf(part.events[0]), `${join(logs, id, `2.${sub.id}.ndjson`)} 0 5000`);
    const refusal = await refusalOf(handlers['log.read']({ id, attempt: 3 }));
    assert.match(refusal.message, /has no attempt 3; it has attempts 1 to 2/);
  });

  test('the prompt is read', async () => {
    const { id } = await handlers['task.add']({ title: 'A' });
    assert.equal((await refusalOf(handlers['log.prompt']({ id }))).kind, 'no_prompt');
    await attempt(id, 1, 'running');
    assert.match((await refusalOf(handlers['log.prompt']({ id }))).message, /in attempt 1/);
    mkdirSync(join(logs, id));
    writeFileSync(join(logs, id, '1.ndjson.prompt'), 'Do it.\n');
    const told = await handlers['log.prompt']({ id });
    assert.deepEqual(told, { task_id: id, attempt: 1, prompt: 'Do it.\n' });
  });

  test('the changes of a task and of an epic are shown', async () => {
    const epic = await handlers['epic.add']({ title: 'E' });
    const { id } = await handlers['task.add']({ title: 'A', epic: epic.id });
    assert.equal((await refusalOf(handlers.diff({ id }))).kind, 'no_change');
    assert.equal((await refusalOf(handlers.diff({ id: 'none' }))).kind, 'unknown_id');
    await moveTask(project, id, ['claimed', 'in_progress', 'completed'], {
      base_sha: sha('b'),
      commit_sha: sha('c'),
      landed_sha: sha('d'),
    });
    known = new Set([sha('b'), sha('c'), sha('d'), `${sha('d')}^1`]);
    assert.deepEqual(await handlers.diff({ id }), {
      id,
      base: sha('b'),
      head: sha('c'),
      text: `${sha('b')}..${sha('c')}`,
    });
    known.delete(sha('c'));
    assert.equal((await handlers.diff({ id })).base, `${sha('d')}^1`);
    assert.equal((await refusalOf(handlers.diff({ id: epic.id }))).kind, 'no_change');
    await tablesOf(project.store.db)
      .updateTable('epics')
      .set({ landed_sha: sha('d') })
      .execute();
    assert.equal((await handlers.diff({ id: epic.id })).head, sha('d'));
  });

  test('plans are imported and exported', async () => {
    const text = '{"id":"A","type":"story","title":"One"}\n{"id":"B","type":"story"}\n';
    const params = { text, bad_utf8_lines: [], file: 'plan.jsonl', format: 'auto' as const };
    const refused = await handlers.import(params);
    assert.deepEqual([refused.imported.tasks, refused.errors.length], [0, 1]);
    const done = await handlers.import({ ...params, skip_invalid: true });
    assert.equal(done.imported.tasks, 1);
    const out = await handlers.export({ format: 'jsonl' });
    assert.equal(JSON.parse(out.text).id, 'A');
    const session = JSON.parse((await handlers.export({ format: 'json' })).text);
    assert.deepEqual([session.version, session.repository], ['1.0', '/repo']);
  });

  test('why explains the reasons', async () => {
    const { id } = await handlers['task.add']({ title: 'A' });
    assert.match((await handlers.why({ id })).reasons.join(' '), /"drover run" starts it/);
    assert.deepEqual(await handlers.questions({}), []);
    assert.deepEqual(await handlers['worktree.list']({}), []);
    assert.equal((await handlers['worktree.sizes']({})).total_bytes, 0);
  });
});
