// The conditions that a fleet's finished epic must meet, read directly from PostgreSQL and the bare
// repository.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import type { PlannedTask } from '../../e2e/support/crash-epic.ts';
import { completedRuns } from './epic.ts';
import type { Fleet } from './fleet.ts';
import { storyOf } from './story.ts';

interface MergeCommit {
  readonly sha: string;
  readonly parents: readonly string[];
  readonly task: string | null;
  readonly attempt: number;
  readonly subject: string;
}

interface AttemptFact {
  readonly task_id: string;
  readonly number: number;
  readonly state: string;
  readonly machine: string;
  readonly base_sha: string | null;
  readonly commit_sha: string | null;
}

export interface FleetOutcome {
  /** Names of the machines on which the landed attempts ran, with their counts. */
  readonly landedFrom: ReadonlyMap<string, number>;
  /** Agent runs that were completed although another one completed the task as well. */
  readonly doubledRuns: number;
}

export async function assertFleetDone(
  fleet: Fleet,
  tasks: readonly PlannedTask[],
): Promise<FleetOutcome> {
  const ids = tasks.map(({ id }) => id).sort();
  const attempts = await fleet.query<AttemptFact>(
    'SELECT task_id, number::int, state, machine, base_sha, commit_sha FROM attempts ORDER BY task_id',
  );
  await assertCompletedOnce(fleet, ids);
  const merges = await assertHistory(fleet, ids);
  assertOrder(fleet, tasks, merges, attempts);
  assertTree(fleet, ids);
  await assertLandings(fleet, ids);
  assertNothingLost(fleet, attempts);
  await assertMachineEvents(fleet);
  return {
    landedFrom: await assertRunsCounted(fleet, merges, attempts),
    doubledRuns: completedRuns(fleet).length - ids.length,
  };
}

/** Keyed by machine: its events in the feed, in order. */
export async function machineEvents(fleet: Fleet): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = await fleet.query<{ name: string; type: string }>(
    `SELECT data::json->>'machine' AS name, substr(type, 9) AS type FROM events
     WHERE type LIKE 'machine.%' ORDER BY seq`,
  );
  const byName = new Map<string, string[]>();
  for (const { name, type } of rows) byName.set(name, [...(byName.get(name) ?? []), type]);
  return byName;
}

const followers: Readonly<Record<string, readonly string[]>> = {
  joined: ['cut_off', 'left', 'died'],
  reconnected: ['cut_off', 'left', 'died'],
  cut_off: ['reconnected', 'left', 'died'],
  left: ['joined'],
  died: ['joined'],
};

/** Each change of a machine's state is one event, whoever noticed it. */
async function assertMachineEvents(fleet: Fleet): Promise<void> {
  for (const [name, types] of await machineEvents(fleet)) {
    const states = types.filter((type) => type in followers);
    assert.equal(states[0], 'joined', name);
    for (const [n, type] of states.slice(1).entries())
      assert.ok(followers[states[n] ?? '']?.includes(type), `${name}: ${types.join(' ')}`);
  }
}

async function assertCompletedOnce(fleet: Fleet, ids: readonly string[]): Promise<void> {
  const tasks = await fleet.query<{ id: string; status: string; attempts: number; error: string }>(
    'SELECT id, status, attempts, last_error AS error FROM tasks ORDER BY id',
  );
  assert.deepEqual(
    tasks.filter(({ status }) => status !== 'completed'),
    [],
    'all are completed',
  );
  assert.deepEqual(tasks.map(({ id }) => id).sort(), ids);
  // No agent of these tests fails, so every used attempt was used by a crash or a disconnection.
  const used = tasks.filter((task) => Number(task.attempts) !== 0);
  const story = used.length === 0 ? '' : await storyOf(fleet);
  assert.deepEqual(used, [], `no attempt is used up\n${story}`);
  const completions = await fleet.query<{ task_id: string; n: number }>(
    "SELECT task_id, count(*)::int AS n FROM events WHERE type = 'task.completed' GROUP BY task_id",
  );
  const wrong = completions.filter(({ n }) => n !== 1);
  assert.deepEqual(wrong, [], 'each is completed exactly once');
  assert.equal(completions.length, ids.length);
}

/** The target: the first commit followed by one merge per task, which the database confirms. */
async function assertHistory(
  fleet: Fleet,
  ids: readonly string[],
): Promise<ReadonlyMap<string, MergeCommit>> {
  const history = firstParents(fleet, 'refs/heads/main');
  const [first, ...merges] = history;
  assert.equal(first?.parents.length, 0);
  assert.deepEqual(
    merges.map(({ task, sha, subject }) => task ?? `${sha} ${subject}`).sort(),
    ids,
    'one merge per task on the target, and nothing else',
  );
  let before = first.sha;
  for (const merge of merges) {
    assert.deepEqual([merge.parents.length, merge.parents[0]], [2, before], 'one straight line');
    before = merge.sha;
  }
  const byTask = new Map(merges.map((merge) => [merge.task ?? '', merge]));
  const rows = await fleet.query<{ id: string; landed_sha: string | null }>(
    'SELECT id, landed_sha FROM tasks ORDER BY id',
  );
  for (const row of rows) {
    assert.equal(row.landed_sha, byTask.get(row.id)?.sha, `${row.id}: landed where it says`);
  }
  const [line] = await fleet.query<{ landed_sha: string; pending: number }>(
    "SELECT landed_sha, pending FROM lines WHERE branch = 'main'",
  );
  assert.deepEqual([line?.landed_sha, Number(line?.pending)], [before, 0]);
  assert.equal(fleet.gitServer.git('rev-parse', 'refs/drover/land/main'), before);
  return byTask;
}

export function firstParents(fleet: Fleet, ref: string): readonly MergeCommit[] {
  const format =
    '--format=%H%x00%P%x00%(trailers:key=Drover-Task,valueonly,separator=%x2c)%x00%(trailers:key=Drover-Attempt,valueonly,separator=%x2c)%x00%s';
  return fleet.gitServer
    .git('log', '--first-parent', '--reverse', format, ref, '--')
    .split('\n')
    .map((line) => {
      const [sha = '', parents = '', task = '', attempt = '', subject = ''] = line.split('\0');
      return {
        sha,
        parents: parents.split(' ').filter((parent) => parent !== ''),
        task: task === '' ? null : task,
        attempt: Number(attempt),
        subject,
      };
    });
}

/** No task lands before its blockers, and none starts without them in its base. */
function assertOrder(
  fleet: Fleet,
  tasks: readonly PlannedTask[],
  merges: ReadonlyMap<string, MergeCommit>,
  attempts: readonly AttemptFact[],
): void {
  const place = new Map([...merges.keys()].map((id, n) => [id, n]));
  for (const { id, blockedBy } of tasks) {
    const merge = merges.get(id);
    const attempt = attempts.find((row) => row.task_id === id && row.number === merge?.attempt);
    assert.ok(attempt, `${id}: the attempt that landed is known`);
    assert.equal(attempt.commit_sha, merge?.parents[1], `${id}: what landed is what it committed`);
    const history = fleet.gitServer.git('rev-list', attempt.commit_sha ?? '').split('\n');
    assert.ok(history.includes(attempt.base_sha ?? ''), `${id}: its commit is on its base`);
    const base = new Set(fleet.gitServer.git('rev-list', attempt.base_sha ?? '').split('\n'));
    for (const blocker of blockedBy) {
      const [first, second] = [place.get(blocker) ?? Infinity, place.get(id) ?? -1];
      assert.ok(first < second, `${blocker} lands before ${id}`);
      assert.ok(base.has(merges.get(blocker)?.sha ?? ''), `the base of ${id} holds ${blocker}`);
    }
  }
}

function assertTree(fleet: Fleet, ids: readonly string[]): void {
  const listed = fleet.gitServer.git('ls-tree', '-r', 'refs/heads/main').split('\n');
  const files = new Map(listed.map((line) => [line.split('\t')[1], line.split(/[ \t]/)[2]]));
  for (const id of ids) {
    const blob = files.get(`${id}.txt`);
    assert.ok(blob, `the target holds the file of ${id}`);
    assert.equal(fleet.gitServer.git('cat-file', 'blob', blob), `work of ${id}`);
  }
}

async function assertLandings(fleet: Fleet, ids: readonly string[]): Promise<void> {
  const landings = await fleet.query<{ task_id: string; state: string; n: number }>(
    'SELECT task_id, state, count(*)::int AS n FROM landings GROUP BY task_id, state',
  );
  const open = landings.filter(({ state }) => state === 'queued' || state === 'taken');
  assert.deepEqual(open, [], 'no landing is left over');
  const landed = landings.filter(({ state }) => state === 'landed');
  assert.deepEqual(landed.map(({ task_id }) => task_id).sort(), ids);
  assert.deepEqual(
    landed.filter(({ n }) => n !== 1),
    [],
    'each lands once',
  );
}

/**
 * Every commit that an attempt made is reachable from a ref on the remote, and the repository is
 * intact.
 */
function assertNothingLost(fleet: Fleet, attempts: readonly AttemptFact[]): void {
  const held = new Set(fleet.gitServer.git('rev-list', '--all').split('\n'));
  const lost = attempts.filter(({ commit_sha: sha }) => sha !== null && !held.has(sha));
  assert.deepEqual(lost, [], 'what was committed is reachable');
  const complaints = fleet.gitServer
    .git('fsck', '--full', '--no-progress')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('dangling '));
  assert.deepEqual(complaints, []);
  // A machine that never comes back has no disk to search.
  for (const machine of fleet.machines.filter(({ root }) => existsSync(root))) {
    const unnamed = machine
      .git('fsck', '--unreachable', '--no-reflogs', '--no-progress')
      .split('\n')
      .flatMap((line) => /^unreachable commit (\w+)$/.exec(line)?.[1] ?? [])
      .filter((sha) => !held.has(sha) && isAttemptsCommit(machine.git('cat-file', '-p', sha)));
    assert.deepEqual(unnamed, [], `${machine.name}: commits of agents that nothing names`);
  }
}

/**
 * It has one parent, and was made for an attempt or by its agent; a merge that was only tested may
 * be lost.
 */
function isAttemptsCommit(text: string): boolean {
  const isWork = /^Drover-Attempt: /m.test(text) || text.includes("the agent's own commit");
  return text.match(/^parent /gm)?.length === 1 && isWork;
}

/**
 * How often each task's attempt was started: by the claim of the task, and again by a machine that
 * had lost it briefly, for example because it had no heartbeat for too long. Such a machine stops
 * its agents.
 */
async function takenUp(fleet: Fleet): Promise<ReadonlyMap<string, number>> {
  const rows = await fleet.query<{ task_id: string; n: number }>(
    `SELECT split_part(workflow_uuid, '/', 2) AS task_id, sum(recovery_attempts)::int AS n
     FROM dbos.workflow_status WHERE name = 'execute-task' GROUP BY 1`,
  );
  return new Map(rows.map(({ task_id: id, n }) => [id, n]));
}

/**
 * Every task ran, and more than once only if its attempt was taken from a machine. Reports the
 * machines of the landed attempts.
 */
async function assertRunsCounted(
  fleet: Fleet,
  merges: ReadonlyMap<string, MergeCommit>,
  attempts: readonly AttemptFact[],
): Promise<ReadonlyMap<string, number>> {
  const machines = await fleet.query<{ id: string; name: string }>('SELECT id, name FROM machines');
  const names = new Map(machines.map(({ id, name }) => [id, name]));
  const taken = await takenUp(fleet);
  const runs = completedRuns(fleet);
  const from = new Map<string, number>();
  for (const { task_id: id, number, machine } of attempts) {
    if (merges.get(id)?.attempt !== number) continue;
    const name = names.get(machine) ?? '?';
    from.set(name, (from.get(name) ?? 0) + 1);
    const own = runs.filter(({ task }) => task === id);
    assert.ok(own.length > 0, `${id} was run`);
    if (own.length <= (taken.get(id) ?? 0)) continue;
    const words = `${id}: no run without a claim: ${JSON.stringify(own)}, ${taken.get(id)} claims`;
    assert.fail(`${words}\n${await storyOf(fleet, id)}`);
  }
  return from;
}
