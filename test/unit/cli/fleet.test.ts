// worker and machines: the requests, the output, and the end.

import assert from 'node:assert/strict';
import type { WorkerNote, WorkerOptions } from '../../../server/protocol/worker-notes.ts';
import { Refusal } from '../../../server/core/failure.ts';
import { drover } from '../../doubles/drover.ts';
import { checkGolden } from '../../doubles/golden.ts';
import { machineView as machine } from '../../doubles/machine-view.ts';
import { memoryBackend } from '../../doubles/memory-backend.ts';

const atMs = 1_700_000_000_000;

suite('a fleet on the command line', () => {
  const fleet = [
    machine({
      labels: ['gpu', 'os=linux'],
      agents: 3,
      note: 'This machine is low on resources: 100 MB.',
      landing: [{ branch: 'main', since: 1_700_000_000, since_ago_ms: 95_000 }],
    }),
    machine({ id: 'ba9876543210', name: 'hera\u001b[2J', state: 'draining', agents: 1 }),
    machine({ id: 'ffff', name: 'zeus', state: 'dead', lands: false, heard_ago_ms: 3_700_000 }),
    machine({
      id: 'eeee',
      name: 'nyx',
      state: 'left',
      lands: false,
      agents_max: 64,
      heard_ago_ms: 400_000_000,
    }),
  ];

  test('machines are printed as a table and as JSON', async () => {
    const backend = memoryBackend({ 'machines.list': () => fleet });
    const { code, out } = await drover(['machines'], backend);
    assert.equal(code, 0);
    checkGolden('machines', out);
    const json = await drover(['machines', '--json'], backend);
    assert.deepEqual(JSON.parse(json.out), fleet);
  });

  test('without a machine, the remedy is printed', async () => {
    const backend = memoryBackend({ 'machines.list': () => [] });
    assert.match((await drover(['machines'], backend)).out, /one machine.*"drover worker"/u);
    assert.equal((await drover(['machines', '--json'], backend)).out, '[]\n');
  });

  const notes: readonly WorkerNote[] = [
    {
      type: 'ready',
      at_ms: atMs,
      machine: 'atlas',
      id: '0123456789ab',
      labels: ['gpu'],
      agents: 1,
      database: 'postgresql://drover@db/drover',
      remote: 'origin',
      version: '2.0.0',
    },
    {
      type: 'begun',
      at_ms: atMs,
      task_id: 'task-a',
      title: 'Say\u001b[2J hello',
      attempt: 2,
      agent: 'claude',
      model: 'opus',
    },
    {
      type: 'ended',
      at_ms: atMs,
      task_id: 'task-a',
      attempt: 2,
      outcome: 'landing',
      worked_ms: 65_000,
      error: null,
    },
    { type: 'warning', at_ms: atMs, message: 'unknown key `x`' },
    { type: 'trouble', at_ms: atMs, where: 'beating', message: 'No PostgreSQL\nanswers.' },
    { type: 'draining', at_ms: atMs, tasks: ['task-b'] },
    {
      type: 'ended',
      at_ms: atMs,
      task_id: 'task-b',
      attempt: 1,
      outcome: 'needs_review',
      worked_ms: 1_000,
      error: 'changed\nnothing',
    },
    { type: 'draining', at_ms: atMs, tasks: [] },
    { type: 'giving_back', at_ms: atMs, tasks: [] },
    { type: 'over', at_ms: atMs, given_back: [] },
  ];

  function told(list: readonly WorkerNote[], wishes: WorkerOptions[] = []) {
    const runWorker = async (request: WorkerOptions): Promise<void> => {
      wishes.push(request);
      for (const note of list) request.tell(note);
    };
    return memoryBackend({}, { runWorker });
  }

  test('worker prints a line for each note, and NDJSON', async () => {
    const { code, out, err } = await drover(['worker'], told(notes));
    assert.equal(code, 0);
    assert.deepEqual(
      err.split('\n').map((line) => line.slice(9)),
      ['warning: unknown key `x`', 'trouble: beating: No PostgreSQL answers.', ''],
    );
    checkGolden('worker', out.replaceAll(/^\d\d:\d\d:\d\d/gmu, '00:00:00'));
    const json = await drover(['worker', '--json'], told(notes));
    const lines = json.out.trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line) as unknown),
      notes,
    );
  });

  test('worker treats values of the command line as settings', async () => {
    const wishes: WorkerOptions[] = [];
    await drover(['worker'], told([], wishes));
    const given = ['--agents', '0', '--label', 'gpu', '--label', 'os=linux', '--name', 'atlas'];
    await drover(['worker', ...given, '--drain-timeout', '1m30s'], told([], wishes));
    assert.deepEqual(
      wishes.map(({ flags, drainMaxMs }) => [flags, drainMaxMs]),
      [
        [{}, null],
        [{ 'fleet.agents': 0, 'fleet.labels': ['gpu', 'os=linux'], 'fleet.name': 'atlas' }, 90_000],
      ],
    );
  });

  test('worker has its exit codes', async () => {
    const back: WorkerNote = { type: 'over', at_ms: atMs, given_back: ['task-a'] };
    assert.equal((await drover(['worker'], told([back]))).code, 2);
    assert.equal((await drover(['worker', '--agents', 'x'], told([]))).code, 64);
    assert.equal((await drover(['worker', '--drain-timeout', '5'], told([]))).code, 64);
    const runWorker = async (): Promise<void> => {
      throw new Refusal('no_fleet', 'DBOS_SYSTEM_DATABASE_URL is not set.');
    };
    const refused = await drover(['worker', '--json'], memoryBackend({}, { runWorker }));
    assert.equal(refused.code, 3);
    assert.deepEqual(JSON.parse(refused.out), {
      error: { kind: 'no_fleet', message: 'DBOS_SYSTEM_DATABASE_URL is not set.' },
    });
  });
});
