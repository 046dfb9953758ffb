// Requests that keep a project in order: the greeting and the end of a backend, worktrees, history,
// webhooks.

import type { PruneReport } from '../prune-report.ts';
import type { WorktreeSizes, WorktreeView } from '../views.ts';
import type { WebhookList, WebhookTestResult } from '../webhook-views.ts';
import { flag, number, optional, text, texts } from './fields.ts';

export const upkeepShapes = {
  /** `device`: the browser that a person uses, for the events of their requests. */
  hello: { token: text, client: text, version: text, protocol: number, device: optional(text) },
  'worktree.list': {},
  /** The worktrees of this machine with the space that they take, and which may be removed. */
  'worktree.sizes': {},
  /** `paths`: of these alone. */
  'worktree.prune': { dry_run: optional(flag), force: optional(flag), paths: optional(texts) },
  /** Removes history that is older than the settings of retention allow. */
  prune: { dry_run: optional(flag) },
  /** The endpoints and the newest deliveries; of secrets and paths of URLs nothing. */
  'webhooks.list': { endpoint: optional(text), state: optional(text), limit: optional(number) },
  /** Posts a test message to one endpoint or to all. */
  'webhooks.test': { endpoint: optional(text) },
  /** Sends deliveries again: those named, or all that failed. */
  'webhooks.retry': { ids: optional(texts) },
  /** Ends the backend: at once when idle; with `force`, after giving the running tasks back. */
  shutdown: { force: optional(flag) },
  /**
   * `shutdown` under another name: in the language server protocol, that name ends the client's own
   * connection.
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
    /** True if this backend is older and idle: it leaves now, connect again. */
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
