// Joining and resuming runs: whose settings count, and which end a caller waits for.

import assert from 'node:assert/strict';
import { appendEvent } from '../../../server/store/feed/feed.ts';
import { createEngineHandlers } from '../../../server/rpc/handlers/engine.ts';
import { gateOfRun } from '../../../server/workflows/attempt/submission.ts';
import { memoryStore, type TestStore, testStartMs } from '../store/memory-store.ts';
import { tablesOf } from '../../tables.ts';
import type { Engine, WorkSettings } from '../../../server/workflows/kit/engine-ports.ts';

interface Host {
  readonly project: TestStore;
  readonly engine: Engine;
  readonly handlers: ReturnType<typeof createEngineHandlers>;
  readonly configured: Readonly<Record<string, unknown>>[];
}

/** Only the parts that these requests use exist: the store, the clock and the settings. */
async function host(): Promise<Host> {
  const project = await memoryStore();
  const engine = {
    store: project.store,
    clock: project.sources.clock,
    launchedAtMs: testStartMs,
    settings: () => ({ workers: 4, target: null, land: null, gateCommand: 'make check' }),
  } as unknown as Engine;
  const configured: Readonly<Record<string, unknown>>[] = [];
  const handlers = createEngineHandlers({
    engine,
    taskView: () => Promise.reject(new Error('not asked')),
    epicView: () => Promise.reject(new Error('not asked')),
    configure: async (_env, flags) => {
      configured.push(flags);
      return {
        warnings: [],
        engine,
        use: async () => [],
      };
    },
    pruneWorktrees: async () => [],
    refuseByPolicy: async () => {},
    freeBytes: () => null,
    shutdown: async () => ({ leaving: false, reason: '' }),
  });
  return { project, engine, handlers, configured };
}

interface GivenRun {
  readonly state: 'active' | 'stopped' | 'finished';
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly startedMs?: number;
  readonly endedMs?: number;
  readonly events: readonly string[];
}

async function addRun({ project }: Host, given: GivenRun): Promise<void> {
  const run = {
    id: 'run-1',
    state: given.state,
    started_at_ms: given.startedMs ?? testStartMs,
    ended_at_ms: given.endedMs ?? null,
    workers: 4,
    land: 'task' as const,
    target_branch: 'main',
    line: 'main',
    base_sha: 'b'.repeat(40),
    flags: JSON.stringify(given.flags ?? {}),
  };
  await project.store.transaction(async (tx) => {
    await tablesOf(tx).insertInto('runs').values(run).execute();
    for (const type of given.events)
      await appendEvent(tx, project.sources, { type, runId: run.id });
  });
}

suite('run.start joins a run', () => {
  async function check(given: GivenRun, expected: { readonly after: number }): Promise<void> {
    const here = await host();
    await addRun(here, given);
    const answer = await here.handlers['run.start']({});
    assert.deepEqual([answer.joined, answer.after], [true, expected.after]);
    assert.deepEqual(here.configured, [], 'the settings of the run at work stay');
    await here.project.close();
  }

  test('a first run is reported from its start', async () => {
    await check({ state: 'active', events: ['run.started', 'task.claimed'] }, { after: 0 });
  });

  test('a run that continues after a stop does not report that stop as its end', async () => {
    const events = ['run.started', 'run.stopped', 'run.resumed', 'task.claimed'];
    await check({ state: 'active', events }, { after: 2 });
  });

  test('options that do not apply to the active run are named, and identical ones are not', async () => {
    const here = await host();
    const flags = { 'gate.command': 'make test', max_workers: 2 };
    await addRun(here, { state: 'active', flags, events: ['run.started'] });
    const same = await here.handlers['run.start']({ gate: 'make test', workers: 2 });
    assert.deepEqual(same.warnings, []);
    const other = await here.handlers['run.start']({ gate: 'make test', workers: 3 });
    assert.match(other.warnings.join('\n'), /Not used: max_workers\.$/);
    await here.project.close();
  });
});

suite('run.resume', () => {
  const events = ['run.started', 'task.completed', 'run.finished'];

  async function check(given: GivenRun, expected: readonly (string | null)[]): Promise<void> {
    const here = await host();
    await addRun(here, given);
    const answers = [await here.handlers['run.resume']({}), await here.handlers['run.resume']({})];
    assert.deepEqual(
      answers.map((answer) => answer.run?.id ?? null),
      expected,
    );
    const [first] = answers;
    if (first?.run) assert.equal(first.after, 2);
    await here.project.close();
  }

  test('it returns a run that ended before the request exactly once', async () => {
    const startedMs = testStartMs - 1_000;
    await check({ state: 'finished', startedMs, endedMs: testStartMs, events }, ['run-1', null]);
  });

  test('it reports nothing about a run that had ended before, or that started here', async () => {
    const startedMs = testStartMs - 1_000;
    await check({ state: 'finished', startedMs, endedMs: testStartMs - 1, events }, [null, null]);
    await check({ state: 'finished', endedMs: testStartMs, events }, [null, null]);
  });
});

suite('gateOfRun', () => {
  function check(
    flags: Readonly<Record<string, unknown>> | undefined,
    expected: string,
    own: string | null = null,
  ): void {
    const settings = { gateCommand: 'make check' } as WorkSettings;
    const engine = { settings: () => settings } as unknown as Engine;
    const run = flags === undefined ? undefined : { flags: JSON.stringify(flags), settings: own };
    assert.equal(gateOfRun(engine, run), expected);
  }

  test('the gate given with the command counts, whatever the settings say now', () => {
    check({ 'gate.command': 'make test' }, 'make test');
    check({ 'gate.command': ' ' }, 'make check');
    check({ max_workers: 2 }, 'make check');
    check(undefined, 'make check');
  });

  test('the gate that the run was started with counts, too', () => {
    check({}, 'make first', JSON.stringify({ gateCommand: 'make first' }));
  });
});
