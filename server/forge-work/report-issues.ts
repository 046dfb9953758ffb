// Reports the state of the work to imported issues. Each report is compared with the last planned
// one, so changes while no backend ran are not missed.

import { issueName, type IssueRef } from '../core/forge/issue.ts';
import { type IssueReport, reportMarker, reportOf } from '../core/forge/issue-report.ts';
import type { IssueReports } from '../core/settings/forge-settings.ts';
import { type IssueRow, setReported, workOfIssues } from '../store/forge/issues.ts';
import { planRequests, type Store } from '../store/port.ts';
import type { Answer, Tracker } from '../forge/port.ts';

export interface ReportPlan extends IssueRef {
  readonly text: string;
  readonly closes: boolean;
}

/** Plans a write for each issue whose work has a different state now. */
export async function planReports(store: Store, wanted: IssueReports): Promise<void> {
  if (wanted === 'none') return;
  for (const { issue, work } of await workOfIssues(store.db)) {
    const report = reportOf(work);
    if (report !== null) await plan(store, issue, planOf(issue, report, wanted));
  }
}

function planOf(
  { slug, number }: IssueRow,
  { text, isOver }: IssueReport,
  wanted: IssueReports,
): ReportPlan {
  return { slug, number, text, closes: isOver && wanted === 'state' };
}

async function plan(store: Store, issue: IssueRow, request: ReportPlan): Promise<void> {
  const reported = JSON.stringify(request);
  if (issue.reported === reported) return;
  const key = `issue/${issue.native_id}`;
  const row = { key, epicId: key, position: 0, kind: 'report', request };
  await store.transaction(async (tx) => {
    await planRequests(tx, key, [row], store.sources.clock.now());
    await setReported(tx, issue, reported);
  });
}

export async function sendReport(
  tracker: Tracker,
  { text, closes, ...issue }: ReportPlan,
): Promise<Answer<string>> {
  const kept = await tracker.keepComment(issue, reportMarker, text);
  if (kept.kind !== 'facts') return kept;
  const closed = closes ? await tracker.close(issue) : kept;
  return closed.kind === 'facts' ? { kind: 'facts', value: issueName(issue) } : closed;
}
