// Settings for issues and pull requests.

export const issueReports = ['none', 'comment', 'state'] as const;
export type IssueReports = (typeof issueReports)[number];

import { type MergeMode, mergeModes } from '../forge/pull-facts.ts';
import { type PullShape, pullShapes } from '../forge/pull-plan.ts';

export const forgeSettingTable = {
  'forge.base': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Branch that pull requests are merged into. If unset, the branch with the name of the target.',
    readBy: 'main (pull requests)',
  },
  'forge.draft': {
    value: { type: 'boolean' },
    fallback: false,
    inFile: true,
    doc: 'Leave pull requests as drafts. Without it, a pull request is marked as ready once it has its labels and reviewers.',
    readBy: 'main (pull requests)',
  },
  'forge.reviewers': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Users to request a review from, and teams as organization/team.',
    readBy: 'main (pull requests)',
  },
  'forge.labels': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Labels to add to pull requests.',
    readBy: 'main (pull requests)',
  },
  'forge.merge': {
    value: { type: 'choice', choices: mergeModes },
    fallback: 'person',
    inFile: true,
    doc: 'Who merges a pull request: a person, GitHub as soon as its rules allow it (`auto`), or its merge queue (`queue`).',
    readBy: 'main (pull requests)',
  },
  'forge.shape': {
    value: { type: 'choice', choices: pullShapes },
    fallback: 'epic',
    inFile: true,
    doc: 'One pull request for the epic, or one for each of its tasks, each on top of the one before (`stack`).',
    readBy: 'main (pull requests)',
  },
  'forge.poll': {
    value: { type: 'duration', min: '1s', max: '1h' },
    fallback: '1m',
    inFile: true,
    doc: 'How often to read an open pull request.',
    readBy: 'main (pull requests)',
  },
  'forge.quiet': {
    value: { type: 'duration', min: '0s', max: '24h' },
    fallback: '2m',
    inFile: true,
    doc: 'How long a review must be unchanged before an agent gets it.',
    readBy: 'main (pull requests)',
  },
  'forge.bots': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Accounts whose reviews and comments count as those of a person who may write to the repository. An app is named with its ending, as "review-app[bot]".',
    readBy: 'main (pull requests)',
  },
  'forge.intake': {
    value: { type: 'issues' },
    fallback: null,
    inFile: true,
    doc: 'Issues to take into the plan and to work on without being asked: "label:drover" takes open issues with that label. The backend then stays.',
    readBy: 'main (issues)',
  },
  'forge.report': {
    value: { type: 'choice', choices: issueReports },
    fallback: 'none',
    inFile: true,
    doc: 'What to write to imported issues: nothing, one comment that is kept up to date, or that comment and the closing of the issue when its work has landed.',
    readBy: 'main (issues)',
  },
} as const;

export type ForgeSettingKey = keyof typeof forgeSettingTable;

export interface ForgeSettings {
  readonly base: string | null;
  readonly isDraft: boolean;
  readonly reviewers: readonly string[];
  readonly labels: readonly string[];
  readonly merge: MergeMode;
  readonly shape: PullShape;
  readonly pollMs: number;
  readonly quietMs: number;
  readonly bots: readonly string[];
  readonly report: IssueReports;
  readonly intake: string | null;
}

export function resolveForgeSettings(get: <T>(key: ForgeSettingKey) => T): ForgeSettings {
  return {
    base: get('forge.base'),
    isDraft: get('forge.draft'),
    reviewers: get('forge.reviewers'),
    labels: get('forge.labels'),
    merge: get('forge.merge'),
    shape: get('forge.shape'),
    pollMs: get('forge.poll'),
    quietMs: get('forge.quiet'),
    bots: get('forge.bots'),
    report: get('forge.report'),
    intake: get('forge.intake'),
  };
}
