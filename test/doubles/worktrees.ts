// Worktrees with their sizes, as a backend returns them.

import type { WorktreeSizes, WorktreeView } from '../../server/protocol/api.ts';

const mb = 1024 * 1024;
const pool = '/home/person/project.worktrees';

/** One in use, one with a person's file, two that can be removed, and the copies of setups. */
export function poolSizes(text = 'its task is running'): WorktreeSizes {
  const worktrees = [
    slotView({ path: `${pool}/slot-1`, task_id: 'print', status: 'in_progress', why: text }),
    slotView({
      path: `${pool}/slot-2`,
      dirty: true,
      why: 'it holds changes that are not committed',
    }),
    slotView({ path: `${pool}/slot-3`, size_bytes: 900 * mb, ...free }),
    slotView({ path: `${pool}/slot-4`, size_bytes: 1_500 * mb, ...free }),
  ];
  const why = 'new worktrees are set up from these copies';
  const others = [{ path: `${pool}/.drover-setups`, size_bytes: 300 * mb, why }];
  return {
    worktrees,
    others,
    total_bytes: 4_700 * mb,
    frees_bytes: 2_400 * mb,
    limit_bytes: 4_608 * mb,
  };
}

const free: Partial<WorktreeView> = {
  action: 'remove',
  why: 'no task uses it, and all its work has landed or is kept by a ref',
};

export function slotView(given: Partial<WorktreeView>): WorktreeView {
  return {
    path: `${pool}/slot-1`,
    task_id: null,
    branch: null,
    status: 'free',
    reason: given.why ?? null,
    unmerged_commits: 0,
    dirty: false,
    size_bytes: 1_000 * mb,
    action: 'keep',
    ...given,
  };
}
