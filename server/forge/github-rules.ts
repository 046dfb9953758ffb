// The rules of a branch, from rulesets and from the older branch protection. For users without
// administration rights, REST contains only a summary of the latter and GraphQL the rest.

import { isObject } from '../core/exchange/json-object.ts';
import type { Repository } from '../core/forge/issue.ts';
import type { BranchRules } from '../core/forge/pull-facts.ts';
import type { ForgeClient } from './client.ts';
import { readList } from './github-list.ts';
import {
  methodsOfBoth,
  objectIn,
  readProtection,
  readRules,
  readSummary,
} from './github-pull-format.ts';
import { type Answer, facts, factsWithout } from './port.ts';

const protectionQuery = `query ($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) {
    ref(qualifiedName: $ref) {
      refUpdateRule {
        requiredApprovingReviewCount requiredStatusCheckContexts
        requiresLinearHistory requiresSignatures requiresCodeOwnerReviews
      }
    }
  }
}`;

export async function readBranchRules(
  client: ForgeClient,
  { owner, name }: Pick<Repository, 'owner' | 'name'>,
  branch: string,
): Promise<Answer<BranchRules>> {
  const home = `repos/${owner}/${name}`;
  const escaped = encodeURIComponent(branch);
  const path = `${home}/rules/branches/${escaped}`;
  const listed = await readList(
    client,
    path,
    (rule) => (isObject(rule) ? rule : null),
    'rules of branches',
  );
  if (listed.kind !== 'facts' && !hasNone(listed)) return listed;
  const summary = await client.get(`${home}/branches/${escaped}`);
  if (summary.kind !== 'facts') return summary;
  const own = readRules(listed.kind === 'facts' ? listed.value : []);
  const old = readSummary(summary.value.body);
  if (!old.isProtected) return facts(stricter(own, old));
  const ref = `refs/heads/${branch}`;
  const memory = { witness: JSON.stringify(old), uses: protectionUses };
  const rest = await client.graphql(protectionQuery, { owner, name, ref }, memory);
  if (rest.kind === 'limited') return rest;
  if (rest.kind === 'unreadable') {
    const missing = `the protection of ${branch} can be read in part only: ${rest.why}`;
    return factsWithout(stricter(own, old), missing.replace(/\.$/u, ''));
  }
  const rule = objectIn(objectIn(objectIn(rest.value, 'repository'), 'ref'), 'refUpdateRule');
  return facts(stricter(stricter(own, old), readProtection(rule)));
}

/** The part of a protection that REST omits can change without any change in REST. */
const protectionUses = 29;

/** Servers without rulesets, and private repositories on a plan without them. */
function hasNone(answer: Exclude<Answer<unknown>, { readonly kind: 'facts' }>): boolean {
  if (answer.kind === 'limited') return false;
  return answer.cause === 'absent' || /\bupgrade to github\b/iu.test(answer.why);
}

function stricter(one: BranchRules, other: BranchRules): BranchRules {
  return {
    requiredChecks: [...new Set([...one.requiredChecks, ...other.requiredChecks])],
    approvals: Math.max(one.approvals, other.approvals),
    needsLinearHistory: one.needsLinearHistory || other.needsLinearHistory,
    needsSignatures: one.needsSignatures || other.needsSignatures,
    needsCodeOwners: one.needsCodeOwners || other.needsCodeOwners,
    hasQueue: one.hasQueue || other.hasQueue,
    mergeMethods: methodsOfBoth(one.mergeMethods, other.mergeMethods),
    isProtected: one.isProtected || other.isProtected,
  };
}
