// Decides the reactions to the facts of a pull request. Pure.

import { ownComment } from './reaction-text.ts';
import type { Cause, Check, PullCore, ReviewComment, ReviewThread } from './pull-facts.ts';

/** "Not read" is a fact of its own: it never means "none". */
export type Read<T> =
  | {
      readonly kind: 'read';
      readonly value: T;
      /**
       * What of it could not be read, as a clause; absent if all of it was. While a part is
       * missing, nothing is merged without a person, for it could forbid the merge.
       */
      readonly missing?: string;
    }
  | { readonly kind: 'unread'; readonly why: string };

export interface PullFacts {
  readonly pull: PullCore;
  /** The commit that Drover pushed last. */
  readonly pushed: string;
  /** The relation of the head to it. */
  readonly head: 'ours' | 'on_top' | 'rewritten';
  readonly checks: Read<readonly Check[]>;
  /** The checks of the base's tip; read only if a check is red. */
  readonly baseChecks: Read<readonly Check[]>;
  readonly rules: Read<{ readonly requiredChecks: readonly string[]; readonly approvals: number }>;
  readonly threads: Read<readonly ReviewThread[]>;
  /** Users of whom it is known that they may write to the repository. */
  readonly writers: ReadonlySet<string>;
  readonly done: readonly DoneReaction[];
  readonly nowMs: number;
  readonly quietMs: number;
}

export interface DoneReaction {
  readonly key: string;
  readonly subject: string;
  readonly state: 'delivered' | 'shown';
  readonly atMs: number;
}

export type Reaction =
  | { readonly kind: 'merged'; readonly commit: string | null }
  /** The epic asks a person. */
  | {
      readonly kind: 'returned';
      readonly why: string;
      readonly isOver: boolean;
      /** The fact that is one too many for agents. */
      readonly fact?: { readonly key: string; readonly subject: string };
    }
  /** Another author pushed on top of it: those commits become part of the line. */
  | { readonly kind: 'adopt'; readonly sha: string }
  /** A conversation gets it. */
  | { readonly kind: 'fix'; readonly key: string; readonly subject: string; readonly cause: Cause }
  /** A person sees it, no agent. */
  | { readonly kind: 'show'; readonly key: string; readonly subject: string };

/** Rounds of one check or one thread, before a person has to look. */
export const roundsMax = 3;
export const fixesOfDayMax = 10;
const dayMs = 24 * 3_600_000;

export function decide(facts: PullFacts): readonly Reaction[] {
  const { pull } = facts;
  if (pull.state === 'merged') return [{ kind: 'merged', commit: pull.mergeCommit }];
  const name = `PR #${pull.number}`;
  if (pull.state === 'closed')
    return [{ kind: 'returned', why: `${name} was closed and not merged`, isOver: true }];
  if (facts.head === 'rewritten') {
    const why = `someone replaced commits of ${name}, which Drover does not follow`;
    return [{ kind: 'returned', why, isOver: true }];
  }
  if (facts.head === 'on_top') return [{ kind: 'adopt', sha: pull.head }];
  const known = new Set(facts.done.map(({ key }) => key));
  const wanted = [...conflicts(facts), ...redChecks(facts), ...openThreads(facts)];
  return withinLimits(
    facts,
    wanted.filter((one) => !known.has(one.key)),
  );
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
    const name = `PR #${facts.pull.number}`;
    const why =
      rounds >= roundsMax
        ? `${nameCause(one.cause)} of ${name} was given to an agent ${rounds} times`
        : `agents were given ${today} facts of ${name} within a day`;
    const fact = { key: one.key, subject: one.subject };
    return [...reactions, { kind: 'returned', why, isOver: false, fact }];
  }
  return reactions;
}

function conflicts({ pull }: PullFacts): readonly Wanted[] {
  // Unknown: the forge has not computed it yet.
  if (pull.isMergeable !== false) return [];
  const { baseBranch, baseSha } = pull;
  const cause = { kind: 'conflict', baseBranch, baseSha } as const;
  return [{ kind: 'fix', key: `conflict/${baseSha}/${pull.head}`, subject: 'conflict', cause }];
}

function redChecks({ pull, checks, baseChecks, rules }: PullFacts): readonly Wanted[] {
  if (checks.kind === 'unread') return [];
  return checks.value.flatMap((check): readonly Wanted[] => {
    if (check.state !== 'red') return [];
    const subject = `check/${check.name}`;
    const key = `${subject}/${pull.head}`;
    // Without these it is unknown which side is at fault.
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
  return body.includes(ownComment);
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

/** The one sentence that tells people why the pull request is waiting. */
export function waitsFor(facts: PullFacts): string {
  const { pull, checks, rules, threads, writers } = facts;
  const parts: string[] = [];
  if (pull.isMergeable === false) parts.push(`the conflict with ${pull.baseBranch}`);
  if (checks.kind === 'unread') parts.push(`checks, which cannot be read: ${checks.why}`);
  else parts.push(...checkWords(checks.value, rules));
  if (rules.kind === 'unread')
    parts.push(`rules of ${pull.baseBranch}, which cannot be read: ${rules.why}`);
  if (threads.kind === 'unread') parts.push(`reviews, which cannot be read: ${threads.why}`);
  else {
    const open = threads.value.filter(({ isOpen }) => isOpen);
    const [first] = open.filter(({ comments }) =>
      comments.some(({ author }) => writers.has(author)),
    );
    if (first !== undefined) parts.push(nameCause({ kind: 'thread', thread: first }));
  }
  const given =
    threads.kind === 'read' ? threads.value.filter(({ kind }) => kind === 'approval').length : 0;
  const approvals = rules.kind === 'read' ? rules.value.approvals - given : 0;
  if (approvals > 0) parts.push(approvals === 1 ? '1 approval' : `${approvals} approvals`);
  if (pull.isDraft) parts.push('being marked as ready');
  const reason = parts.length === 0 ? 'a person to merge it' : parts.join(', ');
  const missing = [checks, rules].flatMap((one) =>
    one.kind === 'read' ? (one.missing ?? []) : [],
  );
  return [`PR #${pull.number} waits for ${reason}`.replace(/\.$/u, ''), ...missing].join('; ');
}

function checkWords(checks: readonly Check[], rules: PullFacts['rules']): readonly string[] {
  const required = rules.kind === 'read' ? rules.value.requiredChecks : [];
  const counted = checks.filter(({ name }) => required.length === 0 || required.includes(name));
  const missing = required.filter((name) => !checks.some((check) => check.name === name));
  const red = counted.filter(({ state }) => state === 'red').map(({ name }) => `"${name}"`);
  const running = counted.filter(({ state }) => state === 'running').length + missing.length;
  const all = counted.length + missing.length;
  const words = all === 1 ? 'check' : 'checks';
  return [
    ...(red.length === 0
      ? []
      : [`the red ${red.length === 1 ? 'check' : 'checks'} ${red.join(', ')}`]),
    ...(running === 0 ? [] : [`${running} of ${all} ${words}`]),
  ];
}
