// Requests that maintain a project: the handshake and the end of a backend, worktrees, history,
// webhooks.

import type { PruneReport } from '../prune-report.ts';
import type { WorktreeSizes, WorktreeView } from '../views.ts';
import type { WebhookList, WebhookTestResult } from '../webhook-views.ts';
import { flag, number, optional, text, texts } from './fields.ts';

export const upkeepShapes = {
  /** `device`: the user's browser, for the events of their requests. */
  hello: { token: text, client: text, version: text, protocol: number, device: optional(text) },
  'worktree.list': {},
  /** The worktrees of this machine with their sizes, and which of them may be removed. */
  'worktree.sizes': {},
  /** `paths`: only these worktrees. */
  'worktree.prune': { dry_run: optional(flag), force: optional(flag), paths: optional(texts) },
  /** Removes history that is older than the retention settings allow. */
  prune: { dry_run: optional(flag) },
  /** The endpoints and the latest deliveries, without secrets and paths of URLs. */
  'webhooks.list': { endpoint: optional(text), state: optional(text), limit: optional(number) },
  /** Posts a test message to one endpoint or to all. */
  'webhooks.test': { endpoint: optional(text) },
  /** Sends deliveries again: the given ones, or all that failed. */
  'webhooks.retry': { ids: optional(texts) },
  /** Ends the backend: at once if idle; with `force`, after releasing the running tasks. */
  shutdown: { force: optional(flag) },
  /**
   * `shutdown` under another name, because in the language server protocol that name ends the
   * client's own connection.
   */
  'backend.leave': { force: optional(flag) },
};

interface Leaving {
  leaving: boolean;
  reason: string;
}

export interface UpkeepAnswers {
  hello: {
    version: string;
    protocol: number;
    pid: number;
    root: string;
    /** True if this backend is older and idle. It exits now; connect again. */
    leaving: boolean;
  };
  'worktree.list': readonly WorktreeView[];
  'worktree.sizes': WorktreeSizes;
  'worktree.prune': readonly WorktreeView[];
  prune: PruneReport;
  'webhooks.list': WebhookList;
  'webhooks.test': { results: readonly WebhookTestResult[] };
  'webhooks.retry': { retried: readonly string[] };
  shutdown: Leaving;
  'backend.leave': Leaving;
}
