// Ten random days of edits in Drover and in Beads, with a sync at the end of each: both sides are
// equal, and no edit is lost. The other side rewrites lines as each version of bd does.

import assert from 'node:assert/strict';
import fc from 'fast-check';
import { priorityFromBd } from '../../../server/core/exchange/beads-format.ts';
import { exportPlan } from '../../../server/store/exchange/exports.ts';
import { importFile } from '../../../server/store/exchange/imports.ts';
import { editTask } from '../../../server/store/plan/task-edit.ts';
import { tablesOf } from '../../tables.ts';
import { memoryStore, testStartMs, type TestStore } from './memory-store.ts';

type Issue = Record<string, unknown>;

const ids = ['bd-1', 'bd-2', 'bd-3'] as const;

/** What `bd` does with its issues and its file. */
class Tracker {
  readonly issues = new Map<string, Issue>();
  readonly #version: '0.49.6' | '1.0.3';
  #clock = 0;

  constructor(version: '0.49.6' | '1.0.3') {
    this.#version = version;
    for (const id of ids)
      this.set(id, { id, title: id, status: 'open', priority: 2, issue_type: 'task' });
  }

  set(id: string, change: Issue): void {
    this.#clock += 1_000;
    const updated_at = new Date(testStartMs + this.#clock).toISOString();
    const { closed_at: _, close_reason: __, ...before } = this.issues.get(id) ?? {};
    this.issues.set(id, { ...before, ...change, updated_at });
  }

  /** Empty texts and lists have no key; the newer version counts edges. */
  text(): string {
    const lines = [...this.issues.values()].map((issue) => {
      const kept = Object.entries(issue).filter(
        ([, value]) => value !== '' && !(Array.isArray(value) && value.length === 0),
      );
      const counts =
        this.#version === '1.0.3'
          ? { dependency_count: 0, dependent_count: 0, comment_count: 0 }
          : {};
      return JSON.stringify({ ...Object.fromEntries(kept), ...counts });
    });
    return lines.map((line) => `${line}\n`).join('');
  }

  /** Each line that differs is taken over, with the time of the import. */
  take(text: string): void {
    for (const line of text.split('\n').filter((one) => one !== '')) {
      const issue = JSON.parse(line) as Issue;
      if (!this.text().includes(`${line}\n`)) this.set(String(issue['id']), issue);
    }
  }
}

const edit = fc.record({
  side: fc.constantFrom('ours', 'theirs'),
  id: fc.constantFrom(...ids),
  field: fc.constantFrom('title', 'priority', 'labels', 'state'),
  value: fc.integer({ min: 0, max: 4 }),
});
/** A field is changed once a day on each side, and to another value: else it is no edit. */
const day = fc.uniqueArray(edit, {
  maxLength: 6,
  selector: ({ side, id, field }) => `${side} ${id} ${field}`,
});
const days = fc.array(day, { minLength: 10, maxLength: 10 });
const states = ['open', 'closed', 'deferred', 'open', 'open'] as const;
const statuses = { open: 'ready', closed: 'completed', deferred: 'paused' } as const;

suite('ten days of edits on both sides of Beads', () => {
  for (const version of ['0.49.6', '1.0.3'] as const) {
    test(`end equal, as bd ${version} writes its file`, async () => {
      await fc.assert(
        fc.asyncProperty(days, async (given) => {
          const project = await memoryStore();
          try {
            await live(project, new Tracker(version), given);
          } finally {
            await project.close();
          }
        }),
        { numRuns: 15 },
      );
    }).timeout(60_000);
  }
});

type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

async function live(
  project: TestStore,
  tracker: Tracker,
  given: readonly (readonly Edit[])[],
): Promise<void> {
  const expected = new Map(
    ids.map((id) => [id, { title: id as string, priority: 5, labels: '', state: 'ready' }]),
  );
  let base = '';
  const sync = async (): Promise<void> => {
    const text = tracker.text();
    const request = {
      text,
      badUtf8Lines: [],
      file: '/r/.beads/issues.jsonl',
      format: 'beads',
      base,
      dryRun: false,
      update: true,
      rename: false,
      skipInvalid: false,
      maxAttempts: 3,
    } as const;
    assert.deepEqual((await importFile(project.store, request)).errors, []);
    const wanted = { format: 'beads', present: text, sync: { leave: [] } } as const;
    const facts = { nowMs: 0, repository: '/r' };
    base = (await exportPlan(project.store.db, { ...wanted, ...facts })).text;
    tracker.take(base);
  };
  await sync();
  for (const [day, edits] of given.entries()) {
    // Of one field of one issue, the file wins whatever the order of the day's edits was.
    const theirs = new Set(
      edits.filter(({ side }) => side === 'theirs').map(({ id, field }) => `${id} ${field}`),
    );
    for (const one of edits) {
      const wanted = expected.get(one.id) ?? assert.fail();
      if (one.side === 'theirs') editTheirs(tracker, one, day, wanted);
      else await editOurs(project, one, day, theirs.has(`${one.id} ${one.field}`) ? null : wanted);
    }
    await sync();
    await assertEqual(project, tracker, expected);
  }
  await sync();
  await assertEqual(project, tracker, expected);
}

interface Facts {
  title: string;
  priority: number;
  labels: string;
  state: string;
}

function editTheirs(tracker: Tracker, { id, field, value }: Edit, day: number, facts: Facts): void {
  const status = states[value] ?? 'open';
  const now = tracker.issues.get(id)?.['status'];
  switch (field) {
    case 'title':
      facts.title = `theirs ${day}.${value}`;
      return tracker.set(id, { title: facts.title });
    case 'priority':
      return editPriority(tracker, id, value, facts);
    case 'labels':
      facts.labels = `theirs-${day}.${value}`;
      return tracker.set(id, { labels: [facts.labels] });
    case 'state':
      facts.state = statuses[status];
      if (now === status) return;
      return tracker.set(id, {
        status,
        ...(status === 'closed' && { closed_at: new Date(testStartMs).toISOString() }),
      });
  }
}

function editPriority(tracker: Tracker, id: string, value: number, facts: Facts): void {
  const before = Number(tracker.issues.get(id)?.['priority']);
  const priority = (before + 1 + (value % 4)) % 5;
  facts.priority = priorityFromBd(priority);
  tracker.set(id, { priority });
}

/** `facts`: null if the file changes the same field on the same day. States are the tracker's. */
async function editOurs(
  project: TestStore,
  { id, field, value }: Edit,
  day: number,
  facts: Facts | null,
): Promise<void> {
  const change = (fields: Parameters<typeof editTask>[3]) =>
    project.store.transaction((tx) => editTask(tx, project.sources, id, fields));
  const row = await tablesOf(project.store.db)
    .selectFrom('tasks')
    .select('status')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  // What is completed is not edited here.
  if (row.status === 'completed') return;
  const priority = priorityFromBd(value);
  const next = { title: `ours ${day}.${value}`, priority, labels: `ours-${value}` };
  if (field === 'title') await change({ title: next.title });
  if (field === 'priority') await change({ priority });
  if (field === 'labels') await change({ labels: [next.labels] });
  if (facts !== null && field !== 'state') Object.assign(facts, { [field]: next[field] });
}

async function assertEqual(
  project: TestStore,
  tracker: Tracker,
  expected: ReadonlyMap<string, Facts>,
): Promise<void> {
  const rows = await tablesOf(project.store.db)
    .selectFrom('tasks')
    .select(['id', 'title', 'priority', 'labels', 'status'])
    .execute();
  for (const [id, facts] of expected) {
    const row = rows.find((one) => one.id === id) ?? assert.fail(id);
    const labels = (JSON.parse(row.labels) as readonly string[]).join(' ');
    assert.deepEqual(
      { title: row.title, priority: row.priority, labels, state: row.status },
      facts,
      `${id} in Drover`,
    );
    const issue = tracker.issues.get(id) ?? assert.fail(id);
    const list = (issue['labels'] ?? []) as readonly string[];
    const state = statuses[issue['status'] as keyof typeof statuses];
    assert.deepEqual(
      {
        title: issue['title'],
        priority: priorityFromBd(issue['priority']),
        labels: list.join(' '),
        state,
      },
      facts,
      `${id} in Beads`,
    );
  }
}
