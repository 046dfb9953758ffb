// Explains why a ready task has not started: its delay, the run, its scope, the workers, the
// account.

import { hasGate, isHandedOver } from '../../core/plan/task.ts';
import { formatCount, formatDuration } from '../../core/format.ts';
import { landingsWaitingMax } from '../../core/plan/schedule.ts';
import { readHolds } from '../status/holds.ts';
import type { Db } from '../rows/one-moment.ts';
import { readBaseGate } from '../work/gate-verdicts.ts';
import { refusedPushes, refusedPushesMax } from '../work/refused-pushes.ts';
import { shortList } from '../board/stuck.ts';
import type { RunRow, TaskRow } from '../schema/tables.ts';
import { nextAgentFacts, type NextAgentFacts } from './why-agent.ts';
import { whyMachine } from './why-machine.ts';
import { whyNoWorker } from './why-place.ts';
import { toSingleLine, timeText, type WhyFacts } from './why-phrases.ts';
import { notUsedThere, unusableAgents } from '../work/accounts.ts';
import { activeRunsIn, newestRun, tasksOfRun } from '../work/runs.ts';

export async function whyNotStarted(db: Db, row: TaskRow, facts: WhyFacts): Promise<string[]> {
  const next = await nextAgentFacts(db, row, facts);
  const sentences: string[] = [...next.sentences];
  if (row.next_attempt_at_ms !== null && row.next_attempt_at_ms > facts.nowMs) {
    const number = Math.min(row.attempts + 1, row.max_attempts);
    const after =
      row.last_error === null || next.sentences.length > 0
        ? ''
        : ` The last one ended with: ${toSingleLine(row.last_error)}`;
    sentences.push(
      `Attempt ${number} of ${row.max_attempts} of ${row.id} starts at ${timeText(row.next_attempt_at_ms, facts.nowMs)}.${after}`,
    );
  }
  const runs = facts.hasBackend ? await activeRunsIn(db) : [];
  sentences.push(...(await holdsOf(db, row, { ...next, ...facts }, runs.length > 0)));
  if (runs.length === 0) return [...sentences, await noRun(db, row, facts)];
  const covering = runs.filter((one) => tasksOfRun(one)?.includes(row.id) ?? true);
  const run =
    covering.find((one) => one.epic_id !== null && one.epic_id === row.epic_id) ??
    covering.find((one) => one.epic_id === null);
  if (run === undefined) {
    const scopes = runs.map(scopeText).join(', ');
    const epic = row.epic_id === null ? 'has no epic' : `is in epic ${row.epic_id}`;
    const start = row.epic_id === null ? 'drover run' : `drover run --epic ${row.epic_id}`;
    return [
      ...sentences,
      `The current run covers only ${scopes}, and ${row.id} ${epic}; "${start}" adds it.`,
    ];
  }
  for (const { agent, name, why } of await unusableAgents(db, run.id)) {
    if (agent !== next.agent) continue;
    const end = 'Correct this; a run that starts after this one uses it again.';
    if (name !== null) sentences.push(`${notUsedThere(name, agent, toSingleLine(why))} ${end}`);
    else if (next.others.length === 0)
      return [`This run does not use ${agent} any more: ${toSingleLine(why)} ${end}`];
  }
  sentences.push(...(await limitedAccount(db, { ...next, ...facts })));
  sentences.push(...(await refusedWork(db, row, run)));
  sentences.push(...(await otherLine(db, row, run)));
  sentences.push(...(await baseGate(db, row, run, facts.nowMs)));
  sentences.push(...(await busyWorkers(db, row, run)));
  sentences.push(...(await whyNoWorker(db, row, facts)));
  sentences.push(...(await whyMachine(db, row, facts.gateNeeds)));
  if (sentences.length > next.sentences.length) return sentences;
  return [...next.sentences, `${row.id} is ready and a worker is free: it starts in a moment.`];
}

/**
 * `isRun`: a temporary shortage is reported for a run that continues automatically. A used-up
 * budget waits for the next run.
 */
async function holdsOf(
  db: Db,
  row: TaskRow,
  facts: NextAgentFacts & WhyFacts,
  isRun: boolean,
): Promise<string[]> {
  const { agent } = facts;
  const scopes = isRun ? ['machine', 'worktrees', `agent/${agent}`] : [];
  if (row.epic_id !== null) scopes.push(`epic/${row.epic_id}`);
  const holds = (await readHolds(db)).filter(
    ({ scope, until_ms: untilMs }) =>
      (scopes.includes(scope) || scope === 'day') && (untilMs === null || untilMs > facts.nowMs),
  );
  return holds.map(({ reason }) => reason);
}

function scopeText(run: RunRow): string {
  const tasks = tasksOfRun(run);
  return tasks === null ? `epic ${run.epic_id}` : shortList(tasks);
}

async function noRun(db: Db, row: TaskRow, facts: WhyFacts): Promise<string> {
  const last = await newestRun(db);
  const goesOn =
    last !== null &&
    (last.state === 'stopped' || (last.state === 'active' && !facts.hasBackend)) &&
    (last.epic_id === null || last.epic_id === row.epic_id) &&
    (tasksOfRun(last)?.includes(row.id) ?? true);
  if (goesOn) {
    return `${row.id} is ready, but the last run was stopped. Run "drover resume" to continue it.`;
  }
  return `${row.id} is ready, but no run is active; "drover run" starts it.`;
}

async function limitedAccount(db: Db, facts: NextAgentFacts & WhyFacts): Promise<string[]> {
  const { agent, others } = facts;
  const account = await db
    .selectFrom('accounts')
    .select('limited_until_ms')
    .where('name', '=', agent)
    .executeTakeFirst();
  const until = account?.limited_until_ms ?? null;
  if (until === null || until <= facts.nowMs) return [];
  const { limitWaitMs } = facts.agents;
  const instead =
    others.length === 0 || limitWaitMs === null || until - facts.nowMs <= limitWaitMs
      ? ''
      : ` ${others.join(' or ')} takes over if its own account is free.`;
  return [
    `The account of ${agent} is out of quota until ${timeText(until, facts.nowMs)}; nothing new starts on it before.${instead}`,
  ];
}

async function refusedWork(db: Db, row: TaskRow, run: RunRow): Promise<string[]> {
  const refused = await refusedPushes(db, run.epic_id);
  if (refused.length < refusedPushesMax) return [];
  const names = shortList(refused.map(({ id }) => id));
  return [
    `The git server rejected the finished work of ${names} and would reject that of ${row.id}. It starts when those are resolved ("drover why ${refused[0]?.id ?? ''}" shows the server's answer).`,
  ];
}

/**
 * A blocker that landed elsewhere allows the start only when the run's line contains its commit.
 */
async function otherLine(db: Db, row: TaskRow, run: RunRow): Promise<string[]> {
  const rows = await db
    .selectFrom('task_dependencies as d')
    .innerJoin('tasks as b', 'b.id', 'd.blocked_by')
    .select(['b.id', 'b.landed_on'])
    .where('d.task_id', '=', row.id)
    .where('b.landed_on', 'is not', null)
    .where('b.landed_on', '!=', run.line)
    .where('b.landed_on', '!=', run.target_branch)
    .orderBy('d.blocked_by')
    .execute();
  return rows.map(
    (blocker) =>
      `Its blocker ${blocker.id} has landed on ${blocker.landed_on}, and this run lands on ${run.line}: ${row.id} starts when that line holds its commit.`,
  );
}

/**
 * Tasks without their own gate wait for a while for the gate on the branch that they start from.
 */
async function baseGate(db: Db, row: TaskRow, run: RunRow, nowMs: number): Promise<string[]> {
  const gate = await readBaseGate(db, run.line);
  if (gate?.state !== 'running' || gate.command === null) return [];
  const untilMs = gate.since_ms + gate.wait_ms;
  const isJudged = hasGate({ testMode: row.test_mode, testScope: row.test_scope });
  if (nowMs >= untilMs || !isJudged || (row.test_command ?? gate.command) !== gate.command)
    return [];
  const since = formatDuration(nowMs - gate.since_ms);
  return [
    `The gate has been running on ${run.line} itself for ${since}, so that no agent starts on a red branch; ${row.id} starts when it passes, or beside it at ${timeText(untilMs, nowMs)}.`,
  ];
}

async function busyWorkers(db: Db, row: TaskRow, run: RunRow): Promise<string[]> {
  const owned = await db
    .selectFrom('tasks as t')
    .leftJoin('attempts as a', (join) =>
      join.onRef('a.task_id', '=', 't.id').onRef('a.epoch', '=', 't.epoch'),
    )
    .select(['t.id', 't.phase', 'a.run_id'])
    .where('t.status', 'in', ['claimed', 'in_progress'])
    .where('t.parent_id', 'is', null)
    .orderBy('t.position')
    .execute();
  const atWork = owned.filter((task) => !isHandedOver(task.phase));
  const workers = Math.max(run.workers, ...(await activeRunsIn(db)).map((one) => one.workers));
  const isFull = atWork.length >= workers;
  const own = isFull ? atWork : atWork.filter((task) => task.run_id === run.id);
  const busy = own.map((task) => task.id);
  const most = isFull ? workers : run.workers;
  if (busy.length < most) {
    const landing = owned.length - atWork.length;
    if (landing < landingsWaitingMax(workers)) return [];
    return [
      `${formatCount(landing, 'finished task waits', 'finished tasks wait')} to land; ${row.id} starts when some of them have landed.`,
    ];
  }
  const before = await db
    .selectFrom('tasks')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('status', '=', 'ready')
    .where('parent_id', 'is', null)
    .where((eb) =>
      eb.or([
        eb('priority', '>', row.priority),
        eb.and([eb('priority', '=', row.priority), eb('chain', '>', row.chain)]),
        eb.and([
          eb('priority', '=', row.priority),
          eb('chain', '=', row.chain),
          eb('position', '<', row.position),
        ]),
      ]),
    )
    .executeTakeFirstOrThrow();
  const place =
    before.n === 0
      ? 'it is the next one'
      : `${formatCount(before.n, 'ready task is', 'ready tasks are')} ahead of it (priority, chain, order)`;
  return [
    `All workers are busy (${busy.length} of ${most}: ${shortList(busy)}); ${row.id} starts when one is free, ${place}.`,
  ];
}
