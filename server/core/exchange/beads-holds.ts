// Finds open issues that `bd ready` would not offer for reasons that Drover's plan cannot express
// as an edge. Each is held with a sentence so that it does not start.

import { isOwnClaim } from './beads-claim.ts';
import { isObject, type JsonObject } from './json-object.ts';
import type { HoldFacts } from './import-types.ts';

/** Prefix of these sentences. */
export const beadsHold = 'Beads: ';

/** Returns the reason to hold each held issue, by id. Only for issues of the `bd` shape. */
export function beadsHolds(
  issues: readonly JsonObject[],
  facts: HoldFacts,
): ReadonlyMap<string, string> {
  const byId = new Map<string, JsonObject>();
  for (const issue of issues) {
    if (typeof issue['id'] === 'string') byId.set(issue['id'], issue);
  }
  const holds = new Map<string, string>();
  for (const [id, issue] of byId) {
    const reason =
      ownReason(issue, facts) ?? edgeReason(issue, byId) ?? ancestorReason(issue, byId, facts);
    if (reason !== null) holds.set(id, `${beadsHold}${reason}`);
  }
  return holds;
}

function ownReason(issue: JsonObject, { nowMs, timeOf }: HoldFacts): string | null {
  if (issue['status'] === 'in_progress' && !isOwnClaim(issue)) {
    const who = issue['assignee'];
    return typeof who === 'string' && who !== '' ? `claimed by ${who}` : 'in progress elsewhere';
  }
  const until = issue['defer_until'];
  if (typeof until === 'string' && (timeOf(until) ?? 0) > nowMs) return `deferred until ${until}`;
  return null;
}

interface BeadsEdge {
  readonly type: string;
  readonly to: string;
}

function edgesOf(issue: JsonObject): readonly BeadsEdge[] {
  const list: unknown = issue['dependencies'];
  if (!Array.isArray(list)) return [];
  return (list as readonly unknown[]).flatMap((entry) => {
    if (!isObject(entry)) return [];
    const { type, depends_on_id: to } = entry;
    return typeof type === 'string' && typeof to === 'string' ? [{ type, to }] : [];
  });
}

/** Ignores edges between tasks, which the plan has as edges. */
function edgeReason(issue: JsonObject, byId: ReadonlyMap<string, JsonObject>): string | null {
  const isEpic = issue['issue_type'] === 'epic';
  for (const { type, to } of edgesOf(issue)) {
    const target = byId.get(to);
    if (target === undefined || target['status'] === 'tombstone') continue;
    switch (type) {
      case 'blocks':
        if (isOpen(target) && (isEpic || target['issue_type'] === 'epic' || isUnplanned(target)))
          return `waits for ${to}`;
        break;
      case 'conditional-blocks':
        if (isOpen(target) || !hasFailed(target)) return `runs only if ${to} fails`;
        break;
      case 'waits-for':
        if (childrenOf(to, byId).some(isOpen)) return `waits for what is below ${to}`;
        break;
      default:
    }
  }
  return null;
}

function isOpen(issue: JsonObject): boolean {
  return issue['status'] !== 'closed' && issue['status'] !== 'tombstone';
}

/** Issues with a status that only bd has are not imported, so the plan has no edge to them. */
function isUnplanned(issue: JsonObject): boolean {
  return !['open', 'in_progress', 'blocked', 'deferred'].includes(String(issue['status']));
}

function hasFailed(issue: JsonObject): boolean {
  const reason = issue['close_reason'];
  return (
    typeof reason === 'string' &&
    /^(failed|rejected|won'?t[ -]?fix|cancell?ed|abandoned|blocked|error|timeout|aborted)\b/iu.test(
      reason.trim(),
    )
  );
}

function childrenOf(id: string, byId: ReadonlyMap<string, JsonObject>): readonly JsonObject[] {
  return [...byId.values()].filter((issue) =>
    edgesOf(issue).some((edge) => edge.type === 'parent-child' && edge.to === id),
  );
}

const levelsMax = 20;

/** A reason that holds an epic holds everything below it. */
function ancestorReason(
  issue: JsonObject,
  byId: ReadonlyMap<string, JsonObject>,
  facts: HoldFacts,
): string | null {
  let current: JsonObject | undefined = issue;
  for (let level = 0; current !== undefined && level < levelsMax; level += 1) {
    const parentId: string | undefined = edgesOf(current).find(
      (edge) => edge.type === 'parent-child',
    )?.to;
    const parent: JsonObject | undefined = parentId === undefined ? undefined : byId.get(parentId);
    if (parent === undefined) return null;
    const isEpic = parent['issue_type'] === 'epic';
    const isDeferred = parent['status'] === 'deferred' || ownDefer(parent, facts);
    const reason = isDeferred ? 'is deferred' : isEpic ? edgeReason(parent, byId) : null;
    if (reason !== null) return `${String(parent['id'])}, above it, ${reason}`;
    current = parent;
  }
  return null;
}

function ownDefer(issue: JsonObject, { nowMs, timeOf }: HoldFacts): boolean {
  const until = issue['defer_until'];
  return typeof until === 'string' && (timeOf(until) ?? 0) > nowMs;
}
