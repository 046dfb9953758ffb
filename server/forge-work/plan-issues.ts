// Makes a plan from the issues of a project's forge.

import { Refusal } from '../core/failure.ts';
import { type Issue, issueName, type Repository } from '../core/forge/issue.ts';
import {
  issueId,
  type IssuePlan,
  jsonlOfIssues,
  outsideIds,
  planOfIssues,
  withoutWaiting,
} from '../core/forge/issue-plan.ts';
import { chooseGathering, parseIssueQuery } from '../core/forge/issue-query.ts';
import { GithubIssues } from '../forge/github-issues.ts';
import type { Answer } from '../forge/port.ts';
import type { Handlers } from '../protocol/api.ts';
import type { IssuePlanView } from '../protocol/spec-plan.ts';
import { storeIssues } from '../store/forge/issues.ts';
import { readTaskViews } from '../store/board/board-changes.ts';
import type { Store } from '../store/port.ts';
import type { Project } from '../project/opened-project.ts';
import { openForge } from './open-forge.ts';

export function issueHandlers({
  store,
  places,
  live,
}: Pick<Project, 'store' | 'places' | 'live'>): Pick<Handlers, 'issues.plan'> {
  return {
    'issues.plan': async ({ words, repo = null, env = {} }) => {
      if (words.every((word) => word.trim() === '')) {
        throw new Refusal(
          'bad_request',
          'Name issues: numbers, label:<name>, milestone:<title>, or words.',
        );
      }
      const { client, repository } = await openForge(
        places.root,
        { ...live.environment, ...env },
        () => store.sources.clock.now(),
        { slug: repo },
      );
      const query = parseIssueQuery(words);
      const answer = await new GithubIssues(client, repository).issues(query);
      const issues = factsOf(answer, repository.host, store.sources.clock.now());
      const home = `${repository.owner}/${repository.name}`;
      await nameIssues(store, issues, repository);
      return await viewOf(store, planOfIssues(issues, home, chooseGathering(query)), home);
    },
  };
}

/** Records which issue each id of the plan stands for, so that results are reported there. */
export async function nameIssues(
  store: Store,
  issues: readonly Issue[],
  { host, owner, name }: Repository,
): Promise<void> {
  const rows = issues.map((issue) => ({
    provider: 'github',
    host,
    native_id: issue.nativeId,
    slug: issue.slug,
    number: issue.number,
    item_id: issueId(issue, `${owner}/${name}`),
  }));
  await store.transaction((tx) => storeIssues(tx, rows));
}

async function viewOf(store: Store, whole: IssuePlan, home: string): Promise<IssuePlanView> {
  const waited = await readTaskViews(store.db, outsideIds(whole, home));
  const known = new Set(waited.map(({ id }) => id));
  const { plan, left } = withoutWaiting(whole, home, (id) => known.has(id));
  return {
    source: 'issues',
    repository: home,
    epics: plan.epics,
    tasks: plan.tasks.map((task) => ({
      id: task.id,
      title: task.title,
      description: task.description,
      epic_id: task.epicId,
      type: task.type,
      priority: 'normal',
      blocked_by: task.blockedBy,
      acceptance_criteria: [],
    })),
    jsonl: jsonlOfIssues(plan),
    left_out: left.map(({ task, waitsFor }) => ({
      id: task.id,
      title: task.title,
      waits_for: waitsFor.map(issueName),
    })),
  };
}

/** An unread list is not an empty one. */
function factsOf(answer: Answer<readonly Issue[]>, host: string, nowMs: number): readonly Issue[] {
  switch (answer.kind) {
    case 'facts':
      return answer.value;
    case 'unreadable':
      throw new Refusal(answer.cause === 'signed_out' ? 'sign_in' : 'forge', answer.why);
    case 'limited': {
      const minutes = Math.max(1, Math.ceil((answer.untilMs - nowMs) / 60_000));
      const when = minutes === 1 ? 'a minute' : `${minutes} minutes`;
      throw new Refusal('forge', `${host} allows no more requests for now. Try again in ${when}.`);
    }
  }
}
