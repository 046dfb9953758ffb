// Sends the messages in the outbox. Each request first reads the forge's state, so that one whose
// response was lost is not repeated.

import type { PullCore } from '../core/forge/pull-facts.ts';
import type { PullRequestPlan } from '../core/forge/pull-plan.ts';
import { pullBody, pullTitle } from '../core/forge/pull-text.ts';
import { judgePost } from '../core/webhooks/webhook-schedule.ts';
import type { Answer, PullKey } from '../forge/port.ts';
import {
  delayRequest,
  endRequest,
  type OutboxRow,
  pendingRequests,
  personReply,
} from '../store/forge/outbox.ts';
import {
  pullOfBranch,
  type PullRow,
  setEpicWaiting,
  storeFact,
  storePull,
} from '../store/forge/pull-requests.ts';
import { type PersonReply, personReplyBody, replyMark } from '../core/forge/pull-replies.ts';
import { replyBody } from '../core/forge/reaction-text.ts';
import type { ForgeAccess } from './forge-access.ts';
import type { ReplyPlan, SendDeps, Sent } from './sent.ts';
import { textFacts } from './pull-texts.ts';
import { deleteBranch, type DeletePlan, retarget, type RetargetPlan } from './stack-requests.ts';
import { type MergePlan, sendMerge, type TestedHead } from './merge-pulls.ts';
import { notRerun, type RerunPlan } from './red-checks.ts';
import { type ReportPlan, sendReport } from './report-issues.ts';

/**
 * Sends all due messages, in order per epic. Resolves with the time when the next one is due; null
 * = never.
 */
export async function sendRequests(deps: SendDeps, isOver: () => boolean): Promise<number | null> {
  const { store, clock } = deps.engine;
  const blocked = new Set<string>();
  let nextMs: number | null = null;
  for (const row of await pendingRequests(store.db)) {
    if (isOver()) return nextMs;
    if (blocked.has(row.epic_id)) continue;
    const untilMs = row.next_at_ms > clock.now() ? row.next_at_ms : await sendOne(deps, row);
    if (untilMs === null) continue;
    blocked.add(row.epic_id);
    nextMs = Math.min(nextMs ?? untilMs, untilMs);
  }
  return nextMs;
}

/** Resolves with the time of the next try, or null if it is done. */
async function sendOne({ engine, project }: SendDeps, row: OutboxRow): Promise<number | null> {
  const { store, clock } = engine;
  const opened = await project.open();
  const sent: Sent = opened.ok
    ? await send(engine, opened.value, row)
    : { kind: 'returned', why: opened.error.message };
  engine.crashPoint(`forge_${row.kind}_sent`);
  const atMs = clock.now();
  switch (sent.kind) {
    case 'done':
      await store.transaction(async (tx) => {
        await sent.write?.(tx);
        await endRequest(tx, row.key, { state: 'done', answer: sent.answer ?? null, atMs });
      });
      engine.crashPoint(`forge_${row.kind}`);
      return null;
    case 'later': {
      const why = engine.mask(sent.why);
      const verdict = judgePost({ kind: 'failed', reason: why }, row.tries + 1, engine.chance());
      if (verdict.kind === 'given_up') return giveBack(engine, row, why);
      const waitMs = verdict.kind === 'again' ? verdict.waitMs : 0;
      const nextMs = Math.max(sent.untilMs ?? 0, atMs + waitMs);
      await store.transaction(async (tx) => {
        await delayRequest(tx, row, nextMs, why);
        // The epic may have landed since.
        if (row.kind === 'delete' || row.kind === personReply) return;
        const state = undoesOf(row) === null ? 'pull_request' : 'landed';
        await setEpicWaiting(tx, row.epic_id, { state, note: why });
      });
      return nextMs;
    }
    case 'returned':
      return giveBack(engine, row, engine.mask(sent.why));
    case 'overtaken':
      await store.transaction(async (tx) => {
        await endRequest(tx, row.key, { state: 'failed', answer: sent.why, atMs });
      });
      return atMs;
  }
}

async function giveBack(
  engine: SendDeps['engine'],
  row: OutboxRow,
  why: string,
): Promise<number | null> {
  await engine.store.transaction(async (tx) => {
    await endRequest(tx, row.key, { state: 'failed', answer: why, atMs: engine.clock.now() });
    if (row.kind === 'report') {
      await engine.store.append(tx, { type: 'issue.not_reported', data: { reason: why } });
    }
    if (row.kind === 'rerun') await notRerun(engine, tx, row, why);
    // The pull request is of use without a reply or a label.
    if (row.kind !== 'push' && row.kind !== 'open') return;
    if (undoesOf(row) !== null) {
      const note = `the revert could not be sent: ${why}`;
      await setEpicWaiting(tx, row.epic_id, { state: 'landed', note });
      const data = { kind: 'git_failed', reason: why, workflow: null };
      return engine.store.append(tx, { type: 'landing.undo_failed', epicId: row.epic_id, data });
    }
    await setEpicWaiting(tx, row.epic_id, { state: 'returned', note: why });
    await engine.store.append(tx, {
      type: 'epic.returned',
      epicId: row.epic_id,
      data: { reason: why },
    });
  });
  return null;
}

async function send(
  engine: SendDeps['engine'],
  access: ForgeAccess,
  row: OutboxRow,
): Promise<Sent> {
  if (row.kind === 'reply') {
    const { threadId, taskId, sha, ...pull } = JSON.parse(row.request) as ReplyPlan;
    const body = replyBody(taskId, sha);
    return reply(access, pull, { threadId, body, mark: body });
  }
  if (row.kind === personReply) {
    const plan = JSON.parse(row.request) as PersonReply;
    const [body, mark] = [personReplyBody(plan), replyMark(plan)];
    return reply(access, plan, { threadId: plan.threadId, body, mark });
  }
  if (row.kind === 'report') {
    const sent = await sendReport(access.tracker, JSON.parse(row.request) as ReportPlan);
    return sent.kind === 'facts' ? { kind: 'done', answer: sent.value } : unsent(sent);
  }
  if (row.kind === 'rerun') {
    const sent = await access.forge.rerun((JSON.parse(row.request) as RerunPlan).job);
    return sent.kind === 'facts' ? { kind: 'done' } : unsent(sent);
  }
  if (row.kind === 'merge') {
    const refused = await sendMerge(access.forge, JSON.parse(row.request) as MergePlan);
    return refused === null ? { kind: 'done' } : unsent(refused);
  }
  if (row.kind === 'retarget') {
    const sent = await retarget(access, JSON.parse(row.request) as RetargetPlan);
    return sent.kind === 'unreadable' || sent.kind === 'limited' ? unsent(sent) : sent;
  }
  if (row.kind === 'delete') return deleteBranch(access, JSON.parse(row.request) as DeletePlan);
  const plan = JSON.parse(row.request) as PullRequestPlan;
  const known = await pullOfBranch(engine.store.db, plan.epicId, plan.branch);
  switch (row.kind) {
    case 'push': {
      // In a fleet, another machine may have made the commit: reading it fetches it.
      const here = await engine.git.treeOf(plan.head);
      if (!here.ok) return { kind: 'later', why: here.error.message };
      return push(access, plan, known, engine.clock.now());
    }
    case 'open':
      return open(engine, access, plan);
    case 'dress':
      return known === null ? notThere : dress(access, plan, known);
    case 'ready':
      return known === null ? notThere : ready(access, known);
    default:
      return { kind: 'returned', why: `This Drover cannot send "${row.kind}".` };
  }
}

/** Null if it adds work. */
function undoesOf({ request }: OutboxRow): PullRequestPlan['undoes'] | null {
  return (JSON.parse(request) as Partial<PullRequestPlan>).undoes ?? null;
}

const notThere: Sent = { kind: 'later', why: 'The pull request is not known yet.' };

async function push(
  { remote }: ForgeAccess,
  plan: PullRequestPlan,
  known: PullRow | null,
  nowMs: number,
): Promise<Sent> {
  const { branch, head, tree, runId } = plan;
  const open = known?.state === 'open' ? known : null;
  const there = await remote.tip(branch);
  if (!there.ok) return { kind: 'later', why: there.error.message };
  // After its pull request was closed, the branch may no longer exist.
  const last = known?.head_sha ?? plan.level?.pushed ?? null;
  const expected = there.value === null && open === null ? null : last;
  const pushed = await remote.push(branch, head, expected);
  if (!pushed.ok) return { kind: 'later', why: pushed.error.message };
  switch (pushed.value.kind) {
    case 'pushed':
      return {
        kind: 'done',
        write: async (tx) => {
          if (open === null) return;
          await storePull(tx, { ...open, head_sha: head, tested_tree: tree, run_id: runId });
          await storeFact(tx, open, 'tested', testedOn(plan, nowMs));
        },
      };
    case 'stale':
      if (open !== null) return { kind: 'overtaken', why: `${branch} was moved by someone else` };
      return {
        kind: 'returned',
        why: `The remote has a branch ${branch} that Drover did not push. Delete or rename it, then run again.`,
      };
    case 'refused':
      return {
        kind: 'returned',
        why: `The remote refuses the push of ${branch}: ${pushed.value.why}.`,
      };
  }
}

function testedOn({ testedBase: base, head }: PullRequestPlan, atMs: number) {
  const tested: TestedHead = { base, head };
  return { value: JSON.stringify(tested), missing: null, atMs };
}

async function open(
  engine: SendDeps['engine'],
  { forge, repository }: ForgeAccess,
  plan: PullRequestPlan,
): Promise<Sent> {
  const found = await forge.find(plan.branch);
  if (found.kind !== 'facts') return unsent(found);
  // The observer detects this.
  if (plan.level !== undefined && found.value?.state === 'merged') return { kind: 'done' };
  const texts = await textFacts(engine, plan);
  const present = found.value?.state === 'open' ? found.value : null;
  const made =
    present === null
      ? await forge.open({
          head: plan.branch,
          base: plan.base,
          title: pullTitle(texts),
          body: pullBody('', texts),
          isDraft: true,
        })
      : await withText(forge, present, { body: pullBody(present.body, texts), base: plan.base });
  if (made.kind !== 'facts') return unsent(made);
  const pull = made.value;
  const row: PullRow = {
    provider: 'github',
    host: repository.host,
    native_id: pull.nativeId,
    slug: `${repository.owner}/${repository.name}`,
    number: pull.number,
    url: pull.url,
    epic_id: plan.epicId,
    run_id: plan.runId,
    branch: plan.branch,
    base: plan.base,
    head_sha: plan.head,
    tested_tree: plan.tree,
    state: 'open',
    note: null,
    created_at_ms: engine.clock.now(),
  };
  return {
    kind: 'done',
    answer: pull.url,
    write: async (tx) => {
      const note = `PR #${pull.number} is open: ${pull.url}`;
      await storePull(tx, { ...row, note });
      await storeFact(tx, row, 'tested', testedOn(plan, engine.clock.now()));
      const state = plan.undoes === undefined ? 'pull_request' : 'landed';
      await setEpicWaiting(tx, plan.epicId, { state, note });
      await engine.store.append(tx, {
        type: present === null ? 'epic.pull_request_opened' : 'epic.pull_request_updated',
        epicId: plan.epicId,
        runId: plan.runId,
        data: { number: pull.number, url: pull.url, head: plan.head },
      });
    },
  };
}

/** Text that is already correct is not written again. */
async function withText(
  forge: ForgeAccess['forge'],
  present: PullCore,
  { body, base }: { readonly body: string; readonly base: string },
): Promise<Answer<PullCore>> {
  const isMoved = present.baseBranch !== base;
  if (present.body === body && !isMoved) return { kind: 'facts', value: present };
  return forge.edit(present.number, { body, ...(isMoved && { base }) });
}

async function dress(
  { forge }: ForgeAccess,
  { labels, reviewers }: PullRequestPlan,
  { number }: PullRow,
): Promise<Sent> {
  const problems: string[] = [];
  const asked = [
    ...(labels.length === 0 ? [] : [await forge.addLabels(number, labels)]),
    ...(reviewers.length === 0 ? [] : [await forge.requestReview(number, reviewers)]),
  ];
  for (const answer of asked) {
    if (answer.kind === 'limited') return unsent(answer);
    // Repeating the request does not help with an unknown label or reviewer.
    if (answer.kind === 'unreadable') problems.push(answer.why);
  }
  return problems.length === 0 ? { kind: 'done' } : { kind: 'done', answer: problems.join(' ') };
}

async function ready({ forge }: ForgeAccess, known: PullRow): Promise<Sent> {
  const found = await forge.read(known.number);
  if (found.kind !== 'facts') return unsent(found);
  if (!found.value.isDraft || found.value.state !== 'open') return { kind: 'done' };
  const marked = await forge.markReady(known.native_id);
  return marked.kind === 'facts' ? { kind: 'done' } : unsent(marked);
}

interface ThreadReply {
  readonly threadId: string;
  readonly body: string;
  /** A part of the body by which Drover recognizes it. */
  readonly mark: string;
}

async function reply(
  { forge }: ForgeAccess,
  pull: PullKey,
  { threadId, body, mark }: ThreadReply,
): Promise<Sent> {
  const threads = await forge.threads(pull);
  if (threads.kind !== 'facts') return unsent(threads);
  const thread = threads.value.find(({ id }) => id === threadId);
  if (thread === undefined) return { kind: 'returned', why: 'The thread was deleted.' };
  if (thread.comments.some((comment) => comment.body.includes(mark))) return { kind: 'done' };
  const sent = await forge.reply(threadId, body);
  return sent.kind === 'facts' ? { kind: 'done' } : unsent(sent);
}

function unsent(answer: Exclude<Answer<unknown>, { readonly kind: 'facts' }>): Sent {
  if (answer.kind === 'limited')
    return {
      kind: 'later',
      why: 'The forge allows no more requests for now.',
      untilMs: answer.untilMs,
    };
  return answer.cause === 'other'
    ? { kind: 'later', why: answer.why }
    : { kind: 'returned', why: answer.why };
}
