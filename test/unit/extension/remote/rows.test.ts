// The view of remote workers: its rows, their texts, and when its list is out of date.

import assert from 'node:assert/strict';
import type { TreeRow } from '../../../../extension/trees/tree-row.ts';
import { uploadRows } from '../../../../extension/remote/upload-rows.ts';
import { isSettled, wordsOfFailure, workerRows } from '../../../../extension/remote/worker-rows.ts';
import type { RemotePreview, WorkerView } from '../../../../server/protocol/remote-views.ts';
import { taskView } from '../../../doubles/views.ts';

const worker = (change: Partial<WorkerView> = {}): WorkerView => ({
  name: 'drv-0123abcd-1',
  provisioner: 'ssh',
  run: 't-1/2/t-1',
  state: 'running',
  created_at: 1_000,
  ...change,
});
const nowMs = 1_000_000 + 12 * 60_000;
const tasks = new Map([['t-1', taskView({ id: 't-1', title: 'Far away' })]]);
const costs = new Map([['2 t-1', 0.25]]);
const rowsOf = (...workers: readonly WorkerView[]): readonly TreeRow[] =>
  workerRows({
    list: { provisioner: 'ssh', workers, problems: ['No list.'] },
    tasks,
    costs,
    nowMs,
  });

suite('rows of remote workers', () => {
  test('they show the task, the attempt, the age and the cost so far', () => {
    const [row, problem] = rowsOf(worker());
    assert.equal(row?.label, 'Far away');
    assert.equal(row?.description, '12 min · $0.25 · attempt 2');
    assert.match(
      row?.tooltip ?? '',
      /drv-0123abcd-1 \(ssh\)\nFar away\n.*runs on it.*\n.*12 min.*\n.*so far: \$0\.25/s,
    );
    assert.equal(row?.context, 'worker.running');
    assert.deepEqual(row?.worker, {
      name: 'drv-0123abcd-1',
      isRunning: true,
      task: 't-1',
      title: 'Far away',
      attempt: 2,
    });
    assert.deepEqual([problem?.label, problem?.worker], ['No list.', null]);
  });

  test('they name orphans, with or without a lease', () => {
    const [left, unknown, test] = rowsOf(
      worker({ state: 'left' }),
      worker({ name: 'drv-1', run: null, state: 'unknown', created_at: null }),
      worker({ run: 'remote test' }),
    );
    assert.equal(left?.label, 'drv-0123abcd-1');
    assert.equal(left?.description, 'orphan · 12 min · $0.25 · attempt 2');
    assert.match(left?.tooltip ?? '', /has ended/);
    assert.equal(unknown?.description, 'orphan');
    assert.match(unknown?.tooltip ?? '', /never destroys it automatically/);
    assert.deepEqual([left?.icon, unknown?.icon], ['warning', 'warning']);
    assert.match(test?.description ?? '', /^connection test · 12 min/);
  });

  test('if settings are not accepted, the possible actions in VS Code replace them', () => {
    const message = 'remote.host is not accepted yet. Review and accept it with "drover trust".';
    assert.match(wordsOfFailure({ kind: 'unaccepted', message }), /Test Connection shows them/);
    assert.equal(wordsOfFailure({ kind: 'git_failed', message: 'No git.' }), 'No git.');
  });

  test('they are out of date if the board and the leases differ', () => {
    const list = (...workers: readonly WorkerView[]) => ({
      provisioner: 'ssh',
      workers,
      problems: [],
    });
    const busy = taskView({ id: 't-1', status: 'in_progress', phase: 'agent', runs_on: 'remote' });
    assert.ok(isSettled(list(worker()), [busy]));
    assert.ok(isSettled(list(worker({ state: 'left' })), []));
    assert.ok(!isSettled(list(), [busy]), 'its worker is not there yet');
    assert.ok(
      !isSettled(list(worker()), [{ ...busy, phase: 'land' }]),
      'its worker is still there',
    );
    assert.ok(isSettled(list(), [{ ...busy, runs_on: 'local' }]));
  });
});

const preview: RemotePreview = {
  provisioner: 'ssh',
  files: 4,
  bytes: 4_100,
  largest: [{ path: 'b/c/x', bytes: 4_096 }],
  secrets: ['.env'],
  notices: [],
  folders: [
    { path: '', files: 1, bytes: 1 },
    { path: 'b', files: 1, bytes: 2 },
    { path: 'b/c', files: 2, bytes: 4_097 },
  ],
  folders_more: 0,
  left_out: [
    { path: '.env', reason: 'secret' },
    { path: 'node_modules/', reason: 'dependency' },
  ],
  left_out_more: 7,
  env: ['NPM_MIRROR'],
  refused: null,
};

/** Label and description of every row, with its depth. */
function told(rows: readonly TreeRow[], depth = 0): readonly string[] {
  return rows.flatMap(({ label, description, children }) => [
    `${'  '.repeat(depth)}${label} ${description}`.trimEnd(),
    ...told(children, depth + 1),
  ]);
}

suite('rows of an upload', () => {
  test('they show a tree of folders, the largest files, and the omitted files with the reason', () => {
    assert.deepEqual(told(uploadRows(preview)), [
      'Uploaded 4 files, 4 KB',
      '  b 3 files, 4 KB',
      '    c 2 files, 4 KB',
      '    1 file',
      '  1 file',
      'Left out 9',
      '  Names that look like secrets 1',
      '    .env',
      '  Dependencies and build output that git does not track 1',
      '    node_modules/',
      '  and 7 more',
      'Largest files 1',
      '  b/c/x 4 KB',
      'Variables for the agent 1',
      '  NPM_MIRROR',
    ]);
  });

  test('they have their own ids, and explain why nothing would be uploaded', () => {
    const ids = (rows: readonly TreeRow[]): readonly string[] =>
      rows.flatMap(({ id, children }) => [id, ...ids(children)]);
    const all = ids(uploadRows(preview));
    assert.equal(new Set(all).size, all.length);
    assert.deepEqual(told(uploadRows({ ...preview, refused: 'Too large.' })), ['Too large.']);
  });
});
