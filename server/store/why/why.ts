// Explains why a task is not running, or what it is doing, in sentences based only on stored facts.

import { formatDuration, stepText } from '../../core/format.ts';
import { runningGateText } from '../../core/line/gate-words.ts';
import { epicLinePrefix } from '../../core/plan/outcome.ts';
import { ownedStatuses } from '../../core/plan/state.ts';
import { isLeftOutByGit, whyNotPortable } from '../../core/plan/portable-names.ts';
import { byHandPhase } from '../../core/plan/task.ts';
import { describeWrongState } from '../../core/work/wrong-state.ts';
import { readLine, wrongStates } from '../lines/lines.ts';
import { gateViews } from '../lines/running-gates.ts';
import { epicById, taskById, taskOrRefuse } from '../rows/find-rows.ts';
import { machineNames } from '../fleet/machine-views.ts';
import { type Db, readAtOneMoment, textList } from '../rows/one-moment.ts';
import type { TaskRow } from '../schema/tables.ts';
import { rootTaskId } from '../status/transition.ts';
import { lastAttempt } from '../work/claims.ts';
import { whyCandidates } from './why-candidates.ts';
import { nextAgentFacts } from './why-agent.ts';
import { whyBlocked } from './why-blocked.ts';
import { whyEpic } from './why-epic.ts';
import { whyForecast } from './why-forecast.ts';
import { whyGate } from './why-gate.ts';
import { explainUnreachableRemote, whyLander, whyLost, whyNotLanding } from './why-machine.ts';
import { whyOnWorker } from './why-place.ts';
import { whyNotStarted } from './why-ready.ts';
import { toSingleLine, timeText, type WhyFacts } from './why-phrases.ts';

export async function why(db: Db, id: string, facts: WhyFacts): Promise<readonly string[]> {
  return readAtOneMoment(db, async (at) => {
    const epic = (await taskById(at, id)) === null ? await epicById(at, id) : null;
    if (epic !== null) return whyEpic(at, epic, (row) => whyTask(at, row, facts));
    const row = await taskOrRefuse(at, id);
    const root = await rootTaskId(at, id);
    if (root === id) return whyTask(at, row, facts);
    const parent = await taskOrRefuse(at, root);
    const own = row.status === 'ready' ? [] : await whyTask(at, row, facts);
    const first = `${id} is a sub-task: it runs in its turn inside the attempt of ${root}.`;
    return row.status === 'completed' || row.status === 'cancelled'
      ? own
      : [first, ...own, ...(await whyTask(at, parent, facts))];
  });
}

async function whyTask(db: Db, row: TaskRow, facts: WhyFacts): Promise<string[]> {
  const { id } = row;
  switch (row.status) {
    case 'ready':
      return whyNotStarted(db, row, facts);
    case 'blocked':
      return [...(await whyCandidates(db, row)), ...(await whyBlocked(db, row))];
    case 'claimed':
    case 'in_progress':
      return whyRunning(db, row, facts);
    case 'waiting':
      return whyWaiting(db, row, facts);
    case 'paused':
      return whyPaused(db, row);
    case 'needs_review':
      return whyReview(row, facts);
    case 'conflict':
      return whyConflict(row, facts);
    case 'completed':
      return [
        whyCompleted(row, facts),
        ...(await whyLandedEpic(db, row)),
        ...(await whyNotInCheckout(db, row)),
      ];
    case 'failed':
      return [
        `${id} has failed: ${row.attempts} of ${row.max_attempts} attempts are used up.`,
        ...lastError(row),
        ...(await whyGate(db, row)),
        ...keptWork(row, facts),
        `Use "drover retry ${id}" to try again, with a hint or an edit before it if the task was not clear.`,
      ];
    case 'cancelled':
      return [
        `${id} is cancelled.`,
        ...lastError(row),
        ...keptWork(row, facts),
        `Use "drover retry ${id}" to bring it back.`,
      ];
  }
}

function lastError(row: TaskRow): string[] {
  if (row.last_error === null || row.last_error.trim() === '') return [];
  return [`The last error: ${toSingleLine(row.last_error)}`];
}

function keptWork(row: TaskRow, { lost }: WhyFacts): string[] {
  const named = [
    ...new Set([...(row.branch === null ? [] : [row.branch]), ...textList(row.rescue_refs)]),
  ];
  const kept = named.filter((ref) => lost?.refs.has(ref) !== true);
  const gone = named.flatMap((ref) => {
    const commit = lost?.refs.get(ref);
    return typeof commit === 'string' ? [lostRef(ref, commit)] : [];
  });
  return [...(kept.length === 0 ? [] : [`Its work is kept: ${kept.join(', ')}.`]), ...gone];
}

function lostRef(ref: string, commit: string): string {
  const isRef = ref.startsWith('refs/');
  const cure = isRef ? `git update-ref ${ref} ${commit}` : `git branch ${ref} ${commit}`;
  return `${ref} was removed, but git still has its commit. Run "${cure}" to restore it.`;
}

async function whyRunning(db: Db, row: TaskRow, facts: WhyFacts): Promise<string[]> {
  const attempt = await lastAttempt(db, row.id);
  const isHandedOver = row.phase === 'land' || row.phase === 'gate';
  const lost = attempt === null || isHandedOver ? null : await whyLost(db, attempt);
  if (lost !== null) return [lost];
  const agent = attempt === null ? (row.agent ?? facts.agentKind) : stepText(attempt);
  const plans = attempt?.planning === 1 ? 'plans and writes nothing: it ' : '';
  const phase = row.phase === null ? 'is about to start' : `${plans}is at the step "${row.phase}"`;
  const since =
    attempt === null ? '' : ` for ${formatDuration(facts.nowMs - attempt.started_at_ms)}`;
  const names = await machineNames(db, [attempt?.machine ?? '']);
  const worker =
    attempt?.runs_on === 'remote' && row.phase === 'agent' ? ' on a remote worker' : '';
  const place = [...[...names.values()].map((name) => ` on ${name}`), worker].join('');
  const sentences = facts.hasBackend
    ? [
        `${row.id} is running${place}${since}: attempt ${attempt?.number ?? 1} with ${agent} ${phase}.`,
      ]
    : [
        `${row.id} was running (attempt ${attempt?.number ?? 1} with ${agent}) when the backend stopped. Run "drover resume" to continue it.`,
      ];
  if (worker !== '') sentences.push(...(await whyOnWorker(db, row, facts)));
  sentences.push(
    ...(await explainUnreachableRemote(db, isHandedOver ? null : (attempt?.machine ?? ''))),
  );
  sentences.push(...(await nextAgentFacts(db, row, facts)).sentences);
  if (row.stop_requested !== null && ownedStatuses.has(row.status)) {
    sentences.push(`A person asked to ${row.stop_requested} it; its agent is being stopped.`);
  }
  sentences.push(...(await whyForecast(db, row.id)));
  sentences.push(...(await openQuestion(db, row.id)));
  if (isHandedOver) sentences.push(...(await landingPlace(db, row, facts)));
  return sentences;
}

async function openQuestion(db: Db, id: string): Promise<string[]> {
  const questions = await db
    .selectFrom('questions')
    .select(['id', 'text', 'choices'])
    .where('task_id', '=', id)
    .where('state', '=', 'open')
    .orderBy('asked_at_ms')
    .execute();
  return questions.map((question) => {
    const choices = textList(question.choices);
    const answers =
      choices.length === 0 ? '<text>' : choices.map((choice) => `"${choice}"`).join(' or ');
    return `Its agent waits for an answer to "${toSingleLine(question.text)}": use "drover answer ${question.id}" with ${answers}.`;
  });
}

async function landingPlace(
  db: Db,
  row: TaskRow,
  { gateNeeds, hasBackend, nowMs }: WhyFacts,
): Promise<string[]> {
  const own = await db
    .selectFrom('landings')
    .select(['position', 'line'])
    .where('task_id', '=', row.id)
    .where('epoch', '=', row.epoch)
    .where('state', 'in', ['queued', 'taken'])
    .executeTakeFirst();
  if (own === undefined) return [];
  const before = await db
    .selectFrom('landings')
    .select((eb) => eb.fn.countAll<number>().as('n'))
    .where('line', '=', own.line)
    .where('state', 'in', ['queued', 'taken'])
    .where('position', '<', own.position)
    .executeTakeFirstOrThrow();
  const ahead = before.n === 0 ? 'it is the next one' : `${before.n} others land before it`;
  const gate = hasBackend ? (await gateViews(db)).get(row.id) : undefined;
  const since = gate === undefined ? 0 : nowMs - gate.since * 1000;
  return [
    `Its work is finished and waits to land on ${own.line}; ${ahead}.`,
    ...(gate === undefined ? [] : [`${runningGateText(gate)}, for ${formatDuration(since)}.`]),
    ...(await whyLander(db, own.line, nowMs)),
    ...(await whyNotLanding(db, gateNeeds)),
  ];
}

async function whyWaiting(db: Db, row: TaskRow, facts: WhyFacts): Promise<string[]> {
  const attempt = await lastAttempt(db, row.id);
  const agent = attempt?.agent ?? row.agent ?? facts.agentKind;
  const account = await db
    .selectFrom('accounts')
    .select('message')
    .where('name', '=', agent)
    .executeTakeFirst();
  const said =
    account?.message === null || account?.message === undefined
      ? ''
      : ` It said: ${toSingleLine(account.message)}`;
  const until =
    row.waiting_until_ms === null
      ? '(reset time unknown)'
      : `until ${timeText(row.waiting_until_ms, facts.nowMs)}`;
  return [
    `The account of ${agent} is out of quota ${until}; ${row.id} then continues automatically, in the same conversation, and no attempt is used up.${said}`,
    ...(facts.hasBackend ? [] : ['No backend is running; "drover resume" starts it.']),
  ];
}

async function whyPaused(db: Db, row: TaskRow): Promise<string[]> {
  if (row.phase === byHandPhase) {
    const place = row.worktree_path ?? 'its worktree';
    return [
      `${row.id} was taken over by a person, who works in ${place}; use "drover unpause ${row.id}" to let its agent continue from there.`,
    ];
  }
  const attempt = await lastAttempt(db, row.id);
  const reason = attempt?.state === 'interrupted' && attempt.error !== null ? attempt.error : null;
  const said = reason === null || reason === '' ? '' : ` (${toSingleLine(reason)})`;
  return [
    `${row.id} was paused by a person${said}; use "drover unpause ${row.id}" to continue it.`,
  ];
}

function whyReview(row: TaskRow, facts: WhyFacts): string[] {
  const { id } = row;
  const decide = `Use "drover approve ${id}" to take it as it is, or "drover send-back ${id} <text>" to have it changed; "drover diff ${id}" shows the change.`;
  switch (row.review_kind) {
    case 'held_files': {
      const held = textList(row.held_files);
      // A trailing slash marks a nested repository, which no setting allows.
      const isRepositories = held.every((path) => path.endsWith('/'));
      const place = row.worktree_path === null ? '' : ` in ${row.worktree_path}`;
      return [
        `${id} needs a review: ${row.verdict_reason ?? `held back, never committed: ${held.join(', ')}`}; they are${place === '' ? ' in its worktree' : place}.`,
        `Use "drover approve ${id}" to land the rest without them, or "drover send-back ${id} <text>" to have it done another way.`,
        ...whyNames(row),
        ...(isRepositories
          ? []
          : [
              `If a file only looks like a secret, name it in "secrets_allowed" under [protect] in .drover.toml; a further attempt ("drover retry ${id} --force") then commits it.`,
            ]),
      ];
    }
    case 'protected':
      return [
        `${id} needs a review: it ${row.verdict_reason ?? 'changes protected files'}. Such files decide which programs, gates or instructions count later.`,
        decide,
      ];
    case 'unmerged':
      return [
        `${id} needs a review: it ${row.verdict_reason ?? 'leaves lines unmerged'}. Landing it as it is would revert landed work, land the marks, or bring back the commit.`,
        decide,
      ];
    case 'reviewed':
      return [
        `${id} needs a review: it ${row.verdict_reason ?? 'has findings of a reviewing agent'}. Use "drover review ${id}" to see them.`,
        decide,
      ];
    case 'no_changes':
      return [
        ...whyNoChanges(row, facts),
        `Use "drover approve ${id}" if no change was needed, or "drover send-back ${id} <text>" to state what is missing; "drover log ${id}" shows what it said.`,
      ];
    case 'plan':
      return [
        `${id} waits for you to approve its plan; "drover show ${id}" shows the plan.`,
        `Use "drover approve ${id}" to have it built as planned, or "drover send-back ${id} <text>" to have it planned another way.`,
      ];
    case 'candidate':
      return [
        `${id} has passed the gate and is a candidate of ${row.candidate_of}: it waits for the choice.`,
        `Use "drover approve ${id}" to choose it, or "drover send-back ${id} <text>" to have it changed; "drover diff ${id}" shows the change.`,
      ];
    case 'approval':
      return [`${id} needs a review: its change waits for an approval before it lands.`, decide];
    default:
      return [`${id} needs a review: a person must decide.`, ...lastError(row), decide];
  }
}

/** The verdict names the ignored files, or says that they are too many to be kept. */
function whyNoChanges(row: TaskRow, facts: WhyFacts): string[] {
  const { id } = row;
  if (row.held_files === '[]') {
    return [
      `${id} needs a review: its agent succeeded but changed nothing, and a commit was expected.`,
    ];
  }
  return [
    `${id} needs a review: ${row.verdict_reason ?? 'its agent wrote only ignored files'}.`,
    ...keptWork(row, facts),
    `Use "drover approve ${id} --with-ignored" to land these ignored files.`,
  ];
}

/** Git refuses some names on every system, and others can only be checked out on some. */
function whyNames(row: TaskRow): string[] {
  const unportable = textList(row.held_files).filter((path) => whyNotPortable(path) !== null);
  if (unportable.length === 0) return [];
  return unportable.every(isLeftOutByGit)
    ? [`Git tracks ${unportable.join(', ')} on no system: another name is needed.`]
    : [
        `Windows or macOS cannot check out ${unportable.join(', ')}; "portable_names = false" under [protect] allows such names.`,
      ];
}

function whyConflict(row: TaskRow, facts: WhyFacts): string[] {
  const files = textList(row.conflict_files);
  const where = files.length === 0 ? '' : ` in ${files.join(', ')}`;
  return [
    `${row.id} is in conflict with landed work${where}; its own further attempts have not resolved it.`,
    ...lastError(row),
    ...keptWork(row, facts),
    `Use "drover retry ${row.id}" to give it to its agent once more, or merge its branch by hand.`,
  ];
}

/** The facts about the branch that the task landed on. */
async function whyNotInCheckout(db: Db, { landed_on: branch }: TaskRow): Promise<string[]> {
  const line = branch === null ? null : await readLine(db, branch);
  if (line === null) return [];
  const states = wrongStates(line).map((state) => describeWrongState(line.branch, state));
  const waits = line.pending > 0 && line.pending_reason !== null ? [line.pending_reason] : [];
  return [...waits, ...states].map(toSingleLine);
}

/** The task may have landed on its epic's branch, and the epic has landed since. */
async function whyLandedEpic(db: Db, row: TaskRow): Promise<string[]> {
  const { epic_id: id, landed_on: line } = row;
  if (id === null || line !== `${epicLinePrefix}${id}`) return [];
  const epic = await epicById(db, id);
  if (epic?.landing_state !== 'landed') return [];
  const target = (await readLine(db, line))?.parent_branch ?? null;
  const where = target === null ? '' : ` on ${target}`;
  const sha = epic.landed_sha === null ? '' : ` as ${epic.landed_sha.slice(0, 12)}`;
  return [`Its epic ${id} has landed${where}${sha}.`];
}

function whyCompleted(row: TaskRow, { lost }: WhyFacts): string {
  if (row.landed_sha === null) return `${row.id} is completed; no commit was expected or needed.`;
  const where = row.landed_on === null ? '' : ` on ${row.landed_on}`;
  if (lost?.isLandedLost === true) {
    return `${row.id} is completed: it landed${where}, but no line contains that commit any more (a reset, or a fetch that prunes, removes it). Run "git branch found-${row.id} ${row.landed_sha}" to restore it.`;
  }
  return `${row.id} is completed: it has landed${where} as ${row.landed_sha.slice(0, 12)}.`;
}
