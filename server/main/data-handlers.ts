// Requests that a backend, or a command itself, answers from the database and the repository.

import { basename } from 'node:path';
import { readLog, readLogBefore } from '../agents/kit/log/event-log-reader.ts';
import { onLogGrowth } from '../agents/kit/log/log-growth.ts';
import { findInLog } from '../agents/kit/log/search-log.ts';
import { maskDeep } from '../agents/kit/log/masking.ts';
import { folderUse } from '../files/folder-use.ts';
import { Refusal } from '../core/failure.ts';
import { shownSettings } from '../core/settings/settings-resolve.ts';
import type { WorktreeSizes, WorktreeView } from '../protocol/api.ts';
import { createDataHandlers } from '../rpc/handlers/data.ts';
import type { Feed } from '../rpc/transport/feed.ts';
import type { RequestHandlers } from '../rpc/transport/local.ts';
import type { Store } from '../store/port.ts';
import { lastPruned } from '../store/history/prune.ts';
import type { listWorktrees, WorktreeFacts } from '../workflows/attempt/worktrees.ts';
import { keepAttachment } from '../project/attachments.ts';
import { heldViews } from '../project/accepted-settings.ts';
import { issueHandlers } from '../forge-work/plan-issues.ts';
import { servedHandlers } from './served-handlers.ts';
import type { DataProject } from './data-project.ts';
import { webhookLooks } from '../webhooks/requests.ts';
import { sandboxView } from '../confinement/sandbox-state.ts';
import { secretMask } from '../project/secrets.ts';
import { worktreesFolder } from '../project/project-places.ts';
import { besidesSlots } from '../upkeep/worktree-use.ts';
import { whyBeside, whyFree } from '../core/work/worktree-room.ts';

export function storeFeed(store: Store): Feed {
  return {
    read: (after, limit) => store.feed.read({ after, limit }),
    onAppend: (listener) => store.feed.onAppend(listener),
    lastSeq: () => store.feed.lastSeq(),
    lastPruned: () => lastPruned(store.db),
  };
}

export function dataHandlers(
  project: DataProject,
  hasBackend: boolean,
): ReturnType<typeof createDataHandlers> &
  ReturnType<typeof webhookLooks> &
  ReturnType<typeof issueHandlers> {
  const handlers = createDataHandlers({
    store: project.store,
    machineId: project.machineId,
    settings: () => project.live.settings,
    config: () => maskDeep(shownSettings(project.live.loaded), secretMask(project.live)),
    sandbox: () => sandboxView(project.live.settings.sandbox, project.places.folder, hasBackend),
    unaccepted: () => heldViews(project.live.held),
    log: { read: readLog, readBefore: readLogBefore, find: findInLog, onGrowth: onLogGrowth },
    keepAttachment: (content) => keepAttachment(project.places, content),
    logs: project.places.logs,
    output: project.output,
    hasBackend,
    git: project.git,
    worktrees: () => worktreeSizes(project),
  });
  return { ...handlers, ...webhookLooks(project), ...issueHandlers(project) };
}

/** Requests that a command can answer itself. The others report that they need the backend. */
export function dataOnlyHandlers(project: DataProject): RequestHandlers {
  const refuse = async (): Promise<never> => {
    throw new Refusal('backend', 'This needs the backend, and none is running here.');
  };
  const handlers: RequestHandlers = {
    'run.start': refuse,
    'run.resume': refuse,
    'run.stop': refuse,
    'task.pause': refuse,
    'task.unpause': refuse,
    'task.cancel': refuse,
    'task.retry': refuse,
    'task.restore': refuse,
    'task.hint': refuse,
    'task.resolve': refuse,
    'task.send_back': refuse,
    approve: refuse,
    answer: refuse,
    undo: refuse,
    reset: refuse,
    'worktree.prune': refuse,
    shutdown: refuse,
    preflight: refuse,
    'gate.test': refuse,
    'target.follow': refuse,
    'task.take_over': refuse,
    'task.give_back': refuse,
    conflict: refuse,
    'task.merge': refuse,
    'step.log': refuse,
    'backend.leave': refuse,
    'spec.plan': refuse,
    'spec.cancel': refuse,
    'webhooks.retry': refuse,
    prune: refuse,
    ...dataHandlers(project, false),
  };
  return servedHandlers(
    handlers,
    () => secretMask(project.live),
    () => project.live.settings.fleet.name,
  );
}

export async function worktreeParts(
  project: DataProject,
): Promise<Parameters<typeof listWorktrees>[0]> {
  const { machineId, store } = project;
  return { machineId, store, git: await project.openRepository(), sizeOf: folderUse };
}

async function worktreeSizes(project: DataProject): Promise<WorktreeSizes> {
  const { listWorktrees } = await import('../workflows/attempt/worktrees.ts');
  const worktrees = (await listWorktrees(await worktreeParts(project))).map(worktreeView);
  const { machine, worktreeRoot } = project.live.settings;
  const others: WorktreeSizes['others'][number][] = [];
  for (const path of await besidesSlots(
    worktreesFolder(project.places.root, worktreeRoot),
    worktrees,
  ))
    others.push({ path, size_bytes: await folderUse(path), why: whyBeside(basename(path)) });
  const bytesOf = (views: readonly Pick<WorktreeView, 'size_bytes'>[]): number =>
    views.reduce((sum, { size_bytes: bytes }) => sum + bytes, 0);
  return {
    worktrees,
    others,
    total_bytes: bytesOf(worktrees) + bytesOf(others),
    frees_bytes: bytesOf(worktrees.filter(({ action }) => action === 'remove')),
    limit_bytes: machine.worktreesMaxBytes,
  };
}

export function worktreeView(facts: WorktreeFacts): WorktreeView {
  return {
    path: facts.path,
    task_id: facts.taskId,
    branch: facts.branch,
    status: facts.status,
    reason: facts.reason,
    unmerged_commits: facts.unmergedCommits,
    dirty: facts.dirty,
    size_bytes: facts.sizeBytes,
    action: facts.action,
    why: facts.reason ?? whyFree(facts.holder, facts.sizeBytes),
  };
}
