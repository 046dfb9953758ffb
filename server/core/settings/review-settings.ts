// Settings for the agent that reviews work before it lands.

import { agentKinds, type AgentKind } from '../plan/task.ts';
import { protectedAmong } from '../plan/protected-paths.ts';

const reader = 'workflows (landing)';

export const reviewSettingTable = {
  'review.agent': {
    value: { type: 'choice', choices: agentKinds },
    fallback: null,
    inFile: true,
    doc: 'Agent that reviews finished work after the gate and before it lands. If unset, no agent does.',
    readBy: reader,
  },
  'review.model': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Model to request from the reviewing agent. If unset, the agent chooses.',
    readBy: reader,
  },
  'review.paths': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Review only work that changes a file of these patterns, such as "src" or "*.sql" (empty = all work).',
    readBy: reader,
  },
  'review.min_lines': {
    value: { type: 'integer', min: 0, max: 1_000_000 },
    fallback: 0,
    inFile: true,
    doc: 'Review only work that changes at least this many lines.',
    readBy: reader,
  },
  'review.usd': {
    value: { type: 'number', min: 0.0001, max: 1_000_000 },
    fallback: null,
    inFile: true,
    doc: 'Limit in US dollars for one review. If unset, no limit of its own.',
    readBy: reader,
  },
  'review.timeout': {
    value: { type: 'duration', min: '1s', max: '24h' },
    fallback: '15m',
    inFile: true,
    doc: 'Time limit of one review.',
    readBy: reader,
  },
} as const;

export type ReviewSettingKey = keyof typeof reviewSettingTable;

export interface ReviewSettings {
  /** The reviewing agent; null = no review. */
  readonly agent: AgentKind | null;
  readonly model: string | null;
  readonly paths: readonly string[];
  readonly minLines: number;
  readonly usd: number | null;
  readonly timeoutMs: number;
}

export function resolveReviewSettings(get: <T>(key: ReviewSettingKey) => T): ReviewSettings {
  return {
    agent: get('review.agent'),
    model: get('review.model'),
    paths: get('review.paths'),
    minLines: get('review.min_lines'),
    usd: get('review.usd'),
    timeoutMs: get('review.timeout'),
  };
}

/** Whether the settings require a review of this change. */
export function wantsReview(
  { agent, paths, minLines }: Pick<ReviewSettings, 'agent' | 'paths' | 'minLines'>,
  change: { readonly paths: readonly string[]; readonly lines: number },
): boolean {
  if (agent === null || change.lines < minLines) return false;
  return paths.length === 0 || protectedAmong(change.paths, paths).length > 0;
}
