// Groups open issues by parent: nested sub-issues belong to the topmost issue.

import { type Issue, issueName } from './issue.ts';

export interface IssueTree {
  readonly issues: readonly Issue[];
  /** Maps `owner/name#12` to the open issue. */
  readonly byName: ReadonlyMap<string, Issue>;
  childrenOf(issue: Issue): readonly Issue[];
  /** Returns the issue itself if it has no parent. */
  topOf(issue: Issue): Issue;
  /** All sub-issues of a topmost issue, including nested ones. */
  belowTop(top: Issue): readonly Issue[];
}

export function treeOfIssues(all: readonly Issue[]): IssueTree {
  const byName = new Map<string, Issue>();
  for (const issue of all) if (issue.isOpen) byName.set(issueName(issue), issue);
  const issues = [...byName.values()];
  const parentOf = ({ parent }: Issue): Issue | undefined =>
    parent === null ? undefined : byName.get(issueName(parent));
  const topOf = (issue: Issue): Issue => {
    const passed = new Set<Issue>();
    let top = issue;
    for (let up = parentOf(top); up !== undefined && !passed.has(up); up = parentOf(top)) {
      passed.add(up);
      top = up;
    }
    return top;
  };
  const children = Map.groupBy(issues, parentOf);
  const members = Map.groupBy(issues, topOf);
  return {
    issues,
    byName,
    topOf,
    childrenOf: (issue) => children.get(issue) ?? [],
    belowTop: (top) => (members.get(top) ?? []).filter((issue) => issue !== top),
  };
}
