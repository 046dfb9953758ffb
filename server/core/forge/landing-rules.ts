// Checks what a landing on a forge requires, and whether this token can do it. Pure.

import { formatCount } from '../format.ts';
import { methodsLeft } from './merging.ts';
import type { Read } from './observed-pull.ts';
import type { BranchRules, MergeMethod } from './pull-facts.ts';
import type { WorkflowFile } from './workflow-triggers.ts';

export interface RepositoryFacts {
  /** `owner/name`. */
  readonly slug: string;
  readonly isArchived: boolean;
  /**
   * Whether the user may push; the token may have fewer permissions. Null if the host does not
   * report it.
   */
  readonly mayPush: boolean | null;
  readonly methods: readonly MergeMethod[];
  /**
   * Scopes of a classic token. Null for other tokens, whose permissions the API does not report.
   */
  readonly scopes: readonly string[] | null;
}

export interface LandingFacts {
  readonly host: string;
  /** The branch that pull requests are merged into. */
  readonly base: string;
  readonly repository: Read<RepositoryFacts>;
  /** The user of the token. Not readable for an app's token. */
  readonly user: Read<string>;
  /** The release of a self-hosted server, such as `3.16.2`; null for github.com. */
  readonly release: Read<string | null>;
  readonly rules: Read<BranchRules>;
  readonly workflows: readonly WorkflowFile[];
  /** Absent if no permissions were tried. */
  readonly tried?: TriedFacts;
}

/** Permissions that were tried without leaving a trace. */
export interface TriedFacts {
  readonly push: Read<true>;
  readonly pulls: Read<true>;
  readonly checks: Read<unknown>;
  readonly reviews: Read<unknown>;
}

export type LandingTopic =
  | 'repository'
  | 'push'
  | 'pull requests'
  | 'checks'
  | 'reviews'
  | 'issues'
  | 'rules'
  | 'approvals'
  | 'code owners'
  | 'required checks'
  | 'history'
  | 'signatures'
  | 'queue'
  | 'merge methods';

export interface LandingRow {
  readonly topic: LandingTopic;
  /** `error`: no work can land. */
  readonly outcome: 'ok' | 'note' | 'warning' | 'error';
  /** Sentences, with the remedy if one exists. */
  readonly message: string;
}

type Outcome = LandingRow['outcome'];

export function landingRows(facts: LandingFacts): readonly LandingRow[] {
  const repository = repositoryRow(facts);
  if (facts.repository.kind === 'unread') return [repository];
  const { value } = facts.repository;
  return [
    repository,
    pushRow(facts, value),
    ...triedRows(facts),
    ...releaseRows(facts),
    ...ruleRows(facts, value),
  ];
}

function row(topic: LandingTopic, outcome: Outcome, message: string): LandingRow {
  return { topic, outcome, message };
}

function repositoryRow({ repository, user, host }: LandingFacts): LandingRow {
  if (repository.kind === 'unread') return row('repository', 'warning', sentence(repository.why));
  const { slug, isArchived } = repository.value;
  if (isArchived) {
    const remedy = 'Unarchive it on GitHub, or name another repository as the remote.';
    return row('repository', 'error', `${slug} is archived, so nothing lands there. ${remedy}`);
  }
  const who = user.kind === 'read' ? `as ${user.value}` : 'as an app, or as no user';
  return row('repository', 'ok', `${slug} on ${host}, ${who}.`);
}

function pushRow(
  { tried, user }: LandingFacts,
  { slug, mayPush, scopes }: RepositoryFacts,
): LandingRow {
  if (tried?.push.kind === 'read')
    return row('push', 'ok', `Git has permission to push to ${slug} (tested without a push).`);
  if (tried?.push.kind === 'unread') {
    const remedy =
      'Sign git in as a user with permission to push, or use a token with write access to contents.';
    return row('push', 'error', `${sentence(tried.push.why)} ${remedy}`);
  }
  const who = user.kind === 'read' ? user.value : 'This account';
  if (mayPush === false) {
    const remedy = 'Ask for write access, or sign in as another user.';
    return row('push', 'error', `${who} may not push to ${slug}. ${remedy}`);
  }
  if (mayPush === true && scopes !== null && hasScope(scopes))
    return row('push', 'ok', `${who} may push to ${slug}.`);
  const why = 'GitHub does not report the permissions of this token';
  return row('push', 'note', `${why}. "drover doctor --forge" tests whether git may push.`);
}

function hasScope(scopes: readonly string[]): boolean {
  return scopes.includes('repo') || scopes.includes('public_repo');
}

function triedRows({ tried }: LandingFacts): readonly LandingRow[] {
  if (tried === undefined) return [];
  const { pulls, checks, reviews } = tried;
  return [
    pulls.kind === 'read'
      ? row(
          'pull requests',
          'ok',
          'This token may open pull requests (tested with an impossible one).',
        )
      : row('pull requests', 'error', sentence(pulls.why)),
    readRow('checks', 'Check runs and commit statuses can be read.', checks),
    readRow('reviews', 'Reviews and their threads can be read.', reviews),
  ];
}

const withoutAll = 'While a part cannot be read, Drover merges nothing by itself.';

function readRow(topic: LandingTopic, whole: string, read: Read<unknown>): LandingRow {
  const missing = read.kind === 'unread' ? `They cannot be read: ${read.why}` : read.missing;
  return missing === undefined
    ? row(topic, 'ok', whole)
    : row(topic, 'warning', `${sentence(missing)} ${withoutAll}`);
}

/** The first self-hosted release with both sub-issues and "blocked by". */
const relationsSince = [3, 19] as const;

function releaseRows({ release }: LandingFacts): readonly LandingRow[] {
  if (release.kind === 'unread' || release.value === null) return [];
  const [major = 0, minor = 0] = release.value.split('.').map(Number);
  const [sinceMajor, sinceMinor] = relationsSince;
  if (major > sinceMajor || (major === sinceMajor && minor >= sinceMinor)) return [];
  const since = relationsSince.join('.');
  const missing = `GitHub Enterprise Server ${release.value} has no "blocked by", which came with ${since}`;
  const effect = 'Issues are imported with the relations that this server has';
  return [row('issues', 'note', `${missing}. ${effect}: add the others with "drover dep add".`)];
}

function ruleRows(facts: LandingFacts, repository: RepositoryFacts): readonly LandingRow[] {
  const { rules, base } = facts;
  if (rules.kind === 'unread')
    return [
      row(
        'rules',
        'warning',
        `${sentence(`The rules of ${base} cannot be read: ${rules.why}`)} ${withoutAll}`,
      ),
    ];
  const whole = `The rules of ${base} can be read.`;
  const methods = methodsLeft(rules.value, repository.methods);
  return [
    readRow('rules', whole, rules),
    approvalRow(facts, rules.value),
    ...ownerRows(facts, rules.value),
    checkRow(base, rules.value),
    ...historyRows(facts, rules.value, methods),
    ...signatureRows(facts, rules.value, methods),
    ...queueRows(facts, rules.value),
    methodRow(methods, repository.slug),
  ];
}

function approvalRow({ user, base }: LandingFacts, { approvals }: BranchRules): LandingRow {
  if (approvals === 0) return row('approvals', 'ok', `${base} needs no approval.`);
  const count = formatCount(approvals, 'approval', 'approvals');
  const opener =
    user.kind === 'read'
      ? `GitHub refuses one by ${user.value}, who opens the pull request with this token`
      : 'GitHub refuses one by the account that opens the pull request';
  const remedy = 'Ask another person: [forge] reviewers.';
  return row('approvals', 'warning', `${base} needs ${count}. ${opener}. ${remedy}`);
}

function ownerRows(
  { base, user }: LandingFacts,
  { needsCodeOwners }: BranchRules,
): readonly LandingRow[] {
  if (!needsCodeOwners) return [];
  const except = user.kind === 'read' ? `, other than ${user.value}` : '';
  const message = `${base} needs the approval of an owner of each changed file (CODEOWNERS)${except}.`;
  return [row('code owners', 'note', message)];
}

function checkRow(base: string, { requiredChecks }: BranchRules): LandingRow {
  if (requiredChecks.length === 0)
    return row('required checks', 'ok', `${base} requires no check, so every check counts.`);
  return row('required checks', 'ok', `${base} requires ${requiredChecks.join(', ')}.`);
}

const allowSquash = 'Allow squash merging in the settings of the repository.';

function historyRows(
  { base }: LandingFacts,
  { needsLinearHistory }: BranchRules,
  methods: readonly MergeMethod[],
): readonly LandingRow[] {
  if (!needsLinearHistory) return [];
  const why = `${base} accepts no merge commits, and an epic's branch has some`;
  return methods.includes('SQUASH')
    ? [row('history', 'note', `${why}: its pull request lands by squash only.`)]
    : [row('history', 'warning', `${why}, so it lands by squash only. ${allowSquash}`)];
}

function signatureRows(
  { base }: LandingFacts,
  { needsSignatures }: BranchRules,
  methods: readonly MergeMethod[],
): readonly LandingRow[] {
  if (!needsSignatures) return [];
  const why = `${base} accepts only signed commits, and Drover does not sign`;
  const remedy = methods.includes('SQUASH')
    ? 'Land by squash: GitHub signs the commit that it makes.'
    : `GitHub would sign a squash. ${allowSquash}`;
  return [row('signatures', 'warning', `${why}. ${remedy}`)];
}

function queueRows(
  { base, workflows }: LandingFacts,
  { hasQueue }: BranchRules,
): readonly LandingRow[] {
  if (!hasQueue) return [];
  const silent = workflows.filter(({ isForPulls, isForQueue }) => isForPulls && !isForQueue);
  const first = `Pull requests into ${base} go through a merge queue`;
  if (silent.length === 0) return [row('queue', 'note', `${first}.`)];
  const names = silent.map(({ path }) => path).join(', ');
  const effect = 'so their checks never report there';
  const lack = `${silent.length === 1 ? 'does' : 'do'} not start in it, ${effect}`;
  const remedy = 'Add the trigger merge_group.';
  return [row('queue', 'warning', `${first}, and ${names} ${lack}. ${remedy}`)];
}

function methodRow(methods: readonly MergeMethod[], slug: string): LandingRow {
  if (methods.length === 0)
    return row('merge methods', 'warning', `The rules leave no way to merge in ${slug}.`);
  return row(
    'merge methods',
    'ok',
    `A pull request can land by ${methods.join(', ').toLowerCase()}.`,
  );
}

function sentence(text: string): string {
  const first = text.slice(0, 1).toUpperCase();
  return `${first}${text.slice(1)}`.replace(/[.]?$/u, '.');
}
