// Decides how to react to the state of a pull request. Pure.

import { formatCount } from '../format.ts';
import type { PullFacts } from './observed-pull.ts';
import type { PullWait } from './pull-waits.ts';
import { ownComment } from './reaction-text.ts';
import {
  mergeNotes,
  type MergeStep,
  mergeStep,
  mergingWords,
  type Point,
  wasRemoved,
} from './merging.ts';
import { rerunNotes } from './rerun.ts';
import type { Cause, Check, ReviewComment } from './pull-facts.ts';
import { pullName } from './stack.ts';

export type Reaction =
  | { readonly kind: 'merged'; readonly commit: string | null }
  /** The epic is returned to a person. */
  | {
      readonly kind: 'returned';
      readonly why: string;
      readonly isOver: boolean;
      /** The fact that exceeded the limit of rounds for agents. */
      readonly fact?: { readonly key: string; readonly subject: string };
    }
  /** Another author pushed commits on top; they become part of the line. */
  | { readonly kind: 'adopt'; readonly sha: string }
  /** Creates a task for an agent. */
  | { readonly kind: 'fix'; readonly key: string; readonly subject: string; readonly cause: Cause }
  /** Shows the fact to a person; no agent works on it. */
  | { readonly kind: 'show'; readonly key: string; readonly subject: string }
  /** Runs the gate again on a newer base, or asks the forge to merge. */
  | MergeStep;

/** Rounds of one check or one thread before a person must decide. */
export const roundsMax = 3;
export const fixesOfDayMax = 10;
const dayMs = 24 * 3_600_000;

export function decide(facts: PullFacts): readonly Reaction[] {
  const { pull } = facts;
  if (pull.state === 'merged') return [{ kind: 'merged', commit: pull.mergeCommit }];
  const name = pullName(pull.number, facts.place);
  if (pull.state === 'closed')
    return [{ kind: 'returned', why: `${name} was closed and not merged`, isOver: true }];
  if (facts.place !== null && facts.head !== 'ours')
    return [{ kind: 'returned', why: foreignWords(facts, name), isOver: false }];
  if (facts.head === 'rewritten') {
    const why = `someone replaced commits of ${name}, which Drover does not follow`;
    return [{ kind: 'returned', why, isOver: true }];
  }
  if (facts.head === 'on_top') return [{ kind: 'adopt', sha: pull.head }];
  if (facts.place?.below === null && pull.isMergeable === false) {
    const why = `${name} conflicts with ${pull.baseBranch}; merge ${pull.baseBranch} into its branch by hand, push it, and merge the pull request`;
    return [{ kind: 'returned', why, isOver: false }];
  }
  const known = new Set(facts.done.map(({ key }) => key));
  const wanted = [
    ...conflicts(facts),
    ...redChecks(facts, pull.head, facts.checks),
    ...redInGroup(facts),
    ...openThreads(facts),
  ].filter(({ kind, key }) => !known.has(key) && (kind === 'show' || facts.switches.fix));
  const step = mergeStep(facts, openPoints(facts), unreadParts(facts).length > 0);
  return [...withinLimits(facts, wanted), ...(step === null ? [] : [step])];
}

/**
 * Explains commits that someone else pushed to a level. The levels above would not contain them.
 */
function foreignWords({ head }: PullFacts, name: string): string {
  return head === 'on_top'
    ? `someone pushed commits to ${name}, which Drover does not add to a stack; remove them, or merge the pull request with them`
    : `someone replaced commits of ${name}, which Drover does not follow`;
}

type Wanted = Extract<Reaction, { readonly kind: 'fix' | 'show' }>;

function withinLimits(facts: PullFacts, wanted: readonly Wanted[]): readonly Reaction[] {
  const given = facts.done.filter(({ state }) => state === 'delivered');
  let today = given.filter(({ atMs }) => atMs > facts.nowMs - dayMs).length;
  const reactions: Reaction[] = [];
  for (const one of wanted) {
    if (one.kind === 'show') {
      reactions.push(one);
      continue;
    }
    const rounds = given.filter(({ subject }) => subject === one.subject).length;
    if (rounds < roundsMax && today < fixesOfDayMax) {
      reactions.push(one);
      today += 1;
      continue;
    }
    const name = pullName(facts.pull.number, facts.place);
    const why =
      rounds >= roundsMax
        ? `${nameCause(one.cause)} of ${name} was given to an agent ${rounds} times`
        : `agents were given ${today} facts of ${name} within a day`;
    const fact = { key: one.key, subject: one.subject };
    return [...reactions, { kind: 'returned', why, isOver: false, fact }];
  }
  return reactions;
}

function conflicts({ pull, place }: PullFacts): readonly Wanted[] {
  // Unknown: the forge has not computed it yet.
  if (pull.isMergeable !== false || place !== null) return [];
  const { baseBranch, baseSha } = pull;
  const cause = { kind: 'conflict', baseBranch, baseSha } as const;
  return [{ kind: 'fix', key: `conflict/${baseSha}/${pull.head}`, subject: 'conflict', cause }];
}

/**
 * The merge queue removed the pull request. Its checks may have failed because of other work in the
 * same group.
 */
function redInGroup(facts: PullFacts): readonly Wanted[] {
  const { group } = facts.merge;
  if (group === null || !wasRemoved(facts)) return [];
  return redChecks(facts, group.head, group.checks);
}

function redChecks(
  { baseChecks, rules }: PullFacts,
  head: string,
  checks: PullFacts['checks'],
): readonly Wanted[] {
  if (checks.kind === 'unread') return [];
  return checks.value.flatMap((check): readonly Wanted[] => {
    if (check.state !== 'red') return [];
    const subject = `check/${check.name}`;
    const key = `${subject}/${head}`;
    // Without these facts, Drover cannot tell which side broke the check.
    if (rules.kind === 'unread' || baseChecks.kind === 'unread') return [];
    const { requiredChecks: required } = rules.value;
    const isRequired = required.length === 0 || required.includes(check.name);
    const isOfBase = baseChecks.value.some(({ name, state }) => {
      return name === check.name && state === 'red';
    });
    if (!isRequired || isOfBase) return [{ kind: 'show', key, subject }];
    return [{ kind: 'fix', key, subject, cause: { kind: 'check', check } }];
  });
}

function openThreads({ threads, writers, nowMs, quietMs }: PullFacts): readonly Wanted[] {
  if (threads.kind === 'unread') return [];
  return threads.value.flatMap((thread): readonly Wanted[] => {
    const last = thread.comments.at(-1);
    if (!thread.isOpen || last === undefined) return [];
    const isByWriter = writers.has(last.author);
    if (isByWriter && isOurs(last)) return [];
    const subject = `${thread.kind}/${thread.id}`;
    const key = `${subject}/${last.id}/${last.atMs}`;
    const comments = thread.comments.filter(({ author }) => writers.has(author));
    if (!isByWriter) return [{ kind: 'show', key, subject }];
    if (nowMs - last.atMs < quietMs) return [];
    return [
      { kind: 'fix', key, subject, cause: { kind: 'thread', thread: { ...thread, comments } } },
    ];
  });
}

function isOurs({ body }: ReviewComment): boolean {
  // The marker counts only at the end, because a person may quote a comment that contains it.
  return body.trimEnd().endsWith(ownComment);
}

export function nameCause(cause: Cause): string {
  switch (cause.kind) {
    case 'check':
      return `the check "${cause.check.name}"`;
    case 'thread':
      return cause.thread.path === null
        ? 'a review'
        : `a thread on ${cause.thread.path}${cause.thread.line === null ? '' : `:${cause.thread.line}`}`;
    case 'conflict':
      return `the conflict with ${cause.baseBranch}`;
  }
}

/** Explains to people, in one sentence, why the pull request is waiting. */
export function describeWait(facts: PullFacts): string {
  const points = openPoints(facts);
  const words = points.map((point) => point.words).join(', ');
  const reason = words === '' ? `a person to ${mergeWord(facts)}` : words;
  const sentence =
    mergingWords(facts, points) ??
    `${pullName(facts.pull.number, facts.place)} waits for ${reason}`;
  const { checks, rules, threads, merge } = facts;
  const unread = unreadParts(facts);
  const isUnread =
    unread.length > 0 || [checks, rules, threads].some(({ kind }) => kind === 'unread');
  const isBlocked = isUnread && merge.mode !== 'person' && merge.asked === null;
  return [
    sentence.replace(/\.$/u, ''),
    ...mergeNotes(facts),
    ...(checks.kind === 'read' ? rerunNotes(facts.reruns, checks.value) : []),
    ...(facts.switches.fix ? [] : ['no agent works on it, because fixing is switched off']),
    ...unread,
    ...(isBlocked ? ['until it can be read, it is not merged automatically'] : []),
  ].join('; ');
}

/** The first thing that it waits for. */
export function waitCause(facts: PullFacts): PullWait {
  const { merging } = facts.merge;
  if (merging.kind === 'read' && merging.value.queue !== null) return 'queue';
  return openPoints(facts)[0]?.cause ?? 'merge';
}

/**
 * How the rules allow it to land: an epic's branch has merge commits, and none of its commits is
 * signed.
 */
function mergeWord({ rules }: PullFacts): string {
  if (rules.kind === 'unread') return 'merge it';
  const { needsLinearHistory, needsSignatures } = rules.value;
  return needsLinearHistory || needsSignatures ? 'squash it' : 'merge it';
}

/** Lists the missing parts of the facts as clauses. */
function unreadParts({ checks, rules }: PullFacts): readonly string[] {
  return [checks, rules].flatMap((one) => (one.kind === 'read' ? (one.missing ?? []) : []));
}

function openPoints(facts: PullFacts): readonly Point[] {
  const { pull, checks, rules, threads, writers } = facts;
  const points: Point[] = [];
  const add = (cause: PullWait, words: string, isEnforced = false): void =>
    void points.push({ cause, words, isEnforced });
  const below = facts.place?.below ?? null;
  if (below !== null) add('below', `PR #${below}`);
  if (pull.isMergeable === false) add('conflict', `the conflict with ${pull.baseBranch}`);
  if (checks.kind === 'unread') add('unread', `checks, which cannot be read: ${checks.why}`);
  else points.push(...checkPoints(checks.value, rules));
  if (rules.kind === 'unread')
    add('unread', `rules of ${pull.baseBranch}, which cannot be read: ${rules.why}`);
  if (threads.kind === 'unread') add('unread', `reviews, which cannot be read: ${threads.why}`);
  else {
    const open = threads.value.filter(({ isOpen }) => isOpen);
    const [first] = open.filter(({ comments }) =>
      comments.some(({ author }) => writers.has(author)),
    );
    if (first !== undefined) add('thread', nameCause({ kind: 'thread', thread: first }));
  }
  const given =
    threads.kind === 'read' ? threads.value.filter(({ kind }) => kind === 'approval').length : 0;
  const approvals = rules.kind === 'read' ? rules.value.approvals - given : 0;
  if (approvals > 0) {
    const count = formatCount(approvals, 'approval', 'approvals');
    add('approval', pull.author === '' ? count : `${count} (not by ${pull.author})`, true);
  }
  if (pull.isDraft) add('draft', 'being marked as ready');
  return points;
}

function checkPoints(checks: readonly Check[], rules: PullFacts['rules']): readonly Point[] {
  const required = rules.kind === 'read' ? rules.value.requiredChecks : [];
  const counted = checks.filter(({ name }) => required.length === 0 || required.includes(name));
  const missing = required.filter((name) => !checks.some((check) => check.name === name));
  const red = counted.filter(({ state }) => state === 'red').map(({ name }) => `"${name}"`);
  const running = counted.filter(({ state }) => state === 'running').length + missing.length;
  const all = counted.length + missing.length;
  const noun = all === 1 ? 'check' : 'checks';
  const points: Point[] = [];
  if (red.length > 0) {
    const words = `the red ${red.length === 1 ? 'check' : 'checks'} ${red.join(', ')}`;
    points.push({ cause: 'red_checks', words, isEnforced: false });
  }
  if (running > 0)
    points.push({
      cause: 'checks',
      words: `${running} of ${all} ${noun}`,
      isEnforced: required.length > 0,
    });
  return points;
}
