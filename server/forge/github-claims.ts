// A claim on an issue: a label that names the project, and the token's owner as assignee.

import { claimAfter, type Claimant } from '../core/forge/intake.ts';
import type { IssueRef } from '../core/forge/issue.ts';
import type { ForgeClient } from './client.ts';
import { readIssue } from './github-format.ts';
import { type Answer, facts, unreadable } from './port.ts';

export class GithubClaims {
  readonly #client: ForgeClient;

  constructor(client: ForgeClient) {
    this.#client = client;
  }

  /** Resolves with true if the issue is now ours and no other project will take it. */
  async claim(issue: IssueRef, { label, login }: Claimant): Promise<Answer<boolean>> {
    const path = pathOf(issue);
    const asked = await this.#client.send('POST', `${path}/labels`, { labels: [label] });
    if (asked.kind !== 'facts') return asked;
    const now = await this.#client.get(path);
    if (now.kind !== 'facts') return now;
    const read = readIssue(now.value.body);
    if (read === null) return unreadable('GitHub sent an unexpected answer.');
    switch (claimAfter(read.issue.labels, label)) {
      case 'withdraw': {
        const gone = await this.withdraw(issue, label);
        return gone.kind === 'facts' ? facts(false) : gone;
      }
      case 'wait':
        return facts(false);
      case 'ours':
        break;
    }
    if (read.issue.assignees.length === 0) {
      // For people. Not every token may assign, and the label alone is the claim.
      await this.#client.send('POST', `${path}/assignees`, { assignees: [login] });
    }
    return facts(true);
  }

  async withdraw(issue: IssueRef, label: string): Promise<Answer<null>> {
    const path = `${pathOf(issue)}/labels/${encodeURIComponent(label)}`;
    const gone = await this.#client.send('DELETE', path);
    const isGone = gone.kind === 'facts' || (gone.kind === 'unreadable' && gone.cause === 'absent');
    return isGone ? facts(null) : gone;
  }
}

function pathOf({ slug, number }: IssueRef): string {
  return `repos/${slug}/issues/${number}`;
}
