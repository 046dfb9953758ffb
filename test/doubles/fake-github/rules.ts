// The rules of the fake GitHub's branches: rulesets, and the older branch protection of the base.

import type { GitBackend } from './git-backend.ts';
import type { PublishedSchema } from './published-schema.ts';

export interface FakeRule {
  readonly type: string;
  readonly parameters?: object;
}

/** The older protection: REST returns a summary of it, and GraphQL the rest. */
export interface FakeProtection {
  readonly approvals?: number;
  readonly checks?: readonly string[];
  readonly linear?: boolean;
  readonly signatures?: boolean;
  readonly codeOwners?: boolean;
}

export interface RuleState {
  /** Names of checks that the base requires. */
  readonly required: string[];
  /** Additional rules that apply to every branch. */
  readonly rules: FakeRule[];
  readonly base: { protection: FakeProtection | null };
}

/** A rule for pull requests, as in a ruleset. */
export function reviewRule(approvals: number, more: object = {}): FakeRule {
  const parameters = {
    dismiss_stale_reviews_on_push: false,
    require_code_owner_review: false,
    require_last_push_approval: false,
    required_approving_review_count: approvals,
    required_review_thread_resolution: false,
    ...more,
  };
  return { type: 'pull_request', parameters };
}

export function queueRule(): FakeRule {
  const parameters = {
    check_response_timeout_minutes: 60,
    grouping_strategy: 'ALLGREEN',
    max_entries_to_build: 5,
    max_entries_to_merge: 5,
    merge_method: 'MERGE',
    min_entries_to_merge: 1,
    min_entries_to_merge_wait_minutes: 5,
  };
  return { type: 'merge_queue', parameters };
}

/** All rules that apply to a branch. */
export function rulesInForce({ required, rules }: RuleState): readonly FakeRule[] {
  const checks = required.map((context) => ({ context }));
  const rule = {
    type: 'required_status_checks',
    parameters: { required_status_checks: checks, strict_required_status_checks_policy: false },
  };
  return required.length === 0 ? rules : [rule, ...rules];
}

/** The summary of a branch; null if it does not exist. */
export function branchBody(
  { schema, git, state }: { schema: PublishedSchema; git: GitBackend; state: RuleState },
  slug: string,
  branch: string,
): object | null {
  const tip = git.tip(slug, branch);
  if (tip === null) return null;
  const { protection } = state.base;
  const sample = schema.sample('branch-with-protection') as { readonly commit: object };
  const contexts = protection?.checks ?? [];
  const summary = {
    enabled: protection !== null,
    required_status_checks: {
      enforcement_level: contexts.length === 0 ? 'off' : 'non_admins',
      contexts,
      checks: contexts.map((context) => ({ context, app_id: null })),
    },
  };
  const commit = { ...sample.commit, sha: tip };
  return { ...sample, name: branch, commit, protected: protection !== null, protection: summary };
}

/** The answer to a query for `refUpdateRule`. */
export function updateRule({ base, required }: RuleState): object | null {
  const { protection } = base;
  if (protection === null) return null;
  const { approvals, checks, linear, signatures, codeOwners } = protection;
  return {
    requiredApprovingReviewCount: approvals ?? null,
    requiredStatusCheckContexts: [...(checks ?? []), ...required],
    requiresLinearHistory: linear === true,
    requiresSignatures: signatures === true,
    requiresCodeOwnerReviews: codeOwners === true,
  };
}
