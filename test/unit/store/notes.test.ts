// Notes in the store: which of them count, and how they end.

import assert from 'node:assert/strict';
import { Refusal } from '../../../server/core/failure.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import {
  addNote,
  addTask,
  claimTask,
  dropNote,
  failAttempt,
  keepNote,
  type NewNote,
  type NoteRow,
  noteUses,
  readNotes,
} from '../../../server/store/port.ts';
import { memoryStore, type TestStore } from './memory-store.ts';

const dayMs = 86_400_000;

suite('notes in the store', () => {
  let here: TestStore;
  let epic: string;
  setup(async () => {
    here = await memoryStore();
    const { store, sources } = here;
    epic = (await store.transaction((tx) => addEpic(tx, sources, { title: 'Shop' }))).id;
  });
  teardown(() => here.close());

  async function add(text: string, given: Partial<NewNote> = {}): Promise<NoteRow> {
    const note = {
      text,
      epic_id: epic,
      task_id: null,
      attempt: null,
      isKept: false,
      citation: null,
    };
    return here.store.transaction((tx) => addNote(tx, here.sources, { ...note, ...given }));
  }

  async function texts(epicId?: string | null): Promise<readonly string[]> {
    const usedSinceMs = here.sources.nowMs - 30 * dayMs;
    const of = epicId === undefined ? {} : { epicId };
    return (await readNotes(here.store.db, { usedSinceMs, ...of })).map(({ text }) => text);
  }

  async function attemptOfTask(): Promise<{ task: string; fail: () => Promise<unknown> }> {
    const { store, sources } = here;
    const task = (await store.transaction((tx) => addTask(tx, sources, { title: 'T' }))).id;
    const claim = await store.transaction((tx) =>
      claimTask(tx, sources, {
        machine: '',
        taskId: task,
        runId: 'run-1',
        owner: '1',
        agent: 'command',
        model: null,
        step: 0,
        agentResumes: false,
        sessionId: 's',
        plansFirst: false,
      }),
    );
    const { epoch } = claim ?? assert.fail('not claimed');
    const failure = { kind: 'gate_failed', message: 'red', retryable: true } as const;
    const end = { taskId: task, epoch, attempt: 1, runId: 'run-1', failure, retryAtMs: 0 };
    const fail = (): Promise<unknown> =>
      store.transaction((tx) => failAttempt(tx, sources, { ...end, atEnd: 'failed' }));
    return { task, fail };
  }

  test("an epic gets its own notes and the project's, newest first", async () => {
    await add('of the epic');
    here.sources.nowMs += 1;
    await add('of another', { epic_id: 'other' });
    await add('of none', { epic_id: null });
    here.sources.nowMs += 1;
    await add('of the project', { epic_id: null, isKept: true });
    assert.deepEqual(await texts(epic), ['of the project', 'of the epic']);
    assert.deepEqual(await texts(null), ['of the project']);
    assert.equal((await texts()).length, 4);
  });

  test('a failed attempt removes its notes, except the ones that a person kept', async () => {
    const { task, fail } = await attemptOfTask();
    await add('wrong', { task_id: task, attempt: 1 });
    const good = await add('right', { task_id: task, attempt: 1 });
    await here.store.transaction((tx) => keepNote(tx, here.sources, good.id));
    assert.deepEqual([...(await texts(epic))].sort(), ['right', 'wrong']);
    await fail();
    assert.deepEqual(await texts(epic), ['right']);
  });

  test('a note that no prompt has contained for thirty days no longer counts', async () => {
    const used = await add('used');
    await add('unused');
    here.sources.nowMs += 20 * dayMs;
    await here.store.transaction((tx) => noteUses(tx, here.sources, [used.id]));
    here.sources.nowMs += 11 * dayMs;
    assert.deepEqual(await texts(epic), ['used']);
  });

  test('the same text again is the same note', async () => {
    const first = await add('once');
    assert.equal((await add('once')).id, first.id);
    assert.notEqual((await add('once', { epic_id: null })).id, first.id);
  });

  test('a dropped note is removed, and the feed records why', async () => {
    const { id } = await add('old');
    await here.store.transaction((tx) => dropNote(tx, here.sources, id, 'lines_changed'));
    await here.store.transaction((tx) => dropNote(tx, here.sources, id, 'person'));
    assert.deepEqual(await texts(epic), []);
    const told = (await here.store.feed.read({ type: 'note.dropped' })).map(({ data }) => data);
    assert.deepEqual(told, [{ note: id, reason: 'lines_changed', text: 'old' }]);
    const keeping = here.store.transaction((tx) => keepNote(tx, here.sources, id));
    await assert.rejects(
      keeping,
      (error) => error instanceof Refusal && /drover notes/.test(error.message),
    );
  });
});
