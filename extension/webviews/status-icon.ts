// The icon and color of a status in VS Code's own UI (tabs, quick picks). Pure.

import type { TaskStatus } from '../../server/core/plan/state.ts';

export interface StatusIcon {
  readonly icon: string;
  readonly color: string | null;
}

export const statusIcons: { readonly [S in TaskStatus]: StatusIcon } = {
  ready: { icon: 'circle', color: null },
  // It does not spin, because VS Code draws no animated icon on a panel's tab.
  claimed: { icon: 'sync', color: 'charts.blue' },
  in_progress: { icon: 'sync', color: 'charts.blue' },
  blocked: { icon: 'lock', color: 'disabledForeground' },
  paused: { icon: 'debug-pause', color: 'charts.yellow' },
  waiting: { icon: 'watch', color: 'charts.yellow' },
  needs_review: { icon: 'eye', color: 'charts.orange' },
  conflict: { icon: 'git-merge', color: 'charts.red' },
  completed: { icon: 'pass-filled', color: 'charts.green' },
  failed: { icon: 'error', color: 'charts.red' },
  cancelled: { icon: 'circle-slash', color: 'disabledForeground' },
};

export const statusWords: { readonly [S in TaskStatus]: string } = {
  ready: 'ready',
  claimed: 'starting',
  in_progress: 'running',
  blocked: 'blocked',
  paused: 'paused',
  waiting: 'waiting for quota',
  needs_review: 'needs review',
  conflict: 'in conflict',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
};
