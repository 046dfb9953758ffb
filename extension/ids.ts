// All names that the manifest and the code share: commands, views, panels and context keys. A test
// compares both.

import type { HostActionName, WebviewAction, WebviewName } from '../webview/messages/messages.ts';

export const commandIds = [
  // Getting started, and the next steps when something is missing.
  'drover.initialise',
  'drover.openSample',
  'drover.openWalkthrough',
  'drover.openFolder',
  'drover.createRepository',
  'drover.firstCommit',
  'drover.installGit',
  'drover.installAgent',
  'drover.trustWorkspace',
  'drover.selectProject',
  'drover.reconnect',
  'drover.stopBackend',
  'drover.checkSetup',
  'drover.checkSandbox',
  'drover.checkForge',
  'drover.showOutput',
  'drover.openSettings',
  'drover.openProjectSettings',
  'drover.openSettingsGuide',
  'drover.selectAgent',
  'drover.setApiKey',
  'drover.removeApiKey',
  'drover.setFleetDatabase',
  // Remote workers.
  'drover.showWorkers',
  'drover.refreshWorkers',
  'drover.setUpWorkers',
  'drover.testWorkers',
  'drover.previewUpload',
  'drover.destroyWorker',
  'drover.setWorkerKey',
  // Panels and views.
  'drover.showTree',
  'drover.showInbox',
  'drover.showMachines',
  'drover.openStream',
  'drover.openGrid',
  'drover.openBoard',
  'drover.openRuns',
  'drover.openInBrowser',
  'drover.openWorktrees',
  // Runs.
  'drover.runEpic',
  'drover.runAll',
  'drover.runTask',
  'drover.resumeRun',
  'drover.stopRun',
  'drover.retryFailed',
  'drover.preflight',
  'drover.planFromSpec',
  'drover.planFromPrompt',
  'drover.importIssues',
  'drover.newTaskFromTemplate',
  'drover.makeTask',
  // Commands that the task tree itself executes.
  'drover.newTask',
  'drover.newEpic',
  'drover.rename',
  'drover.remove',
  'drover.filter',
  'drover.undo',
  'drover.redo',
  'drover.moveUp',
  'drover.moveDown',
  'drover.moveToEpic',
  'drover.addBlocker',
  'drover.removeBlocker',
  'drover.duplicate',
  'drover.archiveEpic',
  'drover.collapseAll',
  'drover.find',
  'drover.copy',
  // Tasks and attempts.
  'drover.pauseTask',
  'drover.continueTask',
  'drover.cancelTask',
  'drover.retryTask',
  'drover.startOver',
  'drover.hintTask',
  'drover.takeOver',
  'drover.giveBack',
  'drover.openWorktree',
  'drover.explainTask',
  'drover.copyTaskId',
  'drover.copyLink',
  'drover.mergeConflict',
  'drover.landMerge',
  'drover.resolveConflict',
  // Review.
  'drover.review',
  'drover.compareCandidates',
  'drover.landCandidate',
  'drover.approve',
  'drover.sendBack',
  'drover.undoLanding',
  'drover.approveShown',
  'drover.sendBackShown',
  'drover.addComment',
  'drover.removeComment',
  'drover.replyOnPull',
  'drover.openThread',
] as const;
export type CommandId = (typeof commandIds)[number];

/** Commands that a webview executes. */
export const forwardedCommands = {
  'drover.newTask': 'newTask',
  'drover.newEpic': 'newEpic',
  'drover.rename': 'rename',
  'drover.remove': 'remove',
  'drover.filter': 'filter',
  'drover.undo': 'undo',
  'drover.redo': 'redo',
  'drover.moveUp': 'moveUp',
  'drover.moveDown': 'moveDown',
  'drover.moveToEpic': 'moveToEpic',
  'drover.addBlocker': 'addBlocker',
  'drover.removeBlocker': 'removeBlocker',
  'drover.duplicate': 'duplicate',
  'drover.archiveEpic': 'archive',
  'drover.collapseAll': 'collapseAll',
  'drover.find': 'find',
  'drover.copy': 'copy',
} as const satisfies { readonly [Id in CommandId]?: WebviewAction };
export type ForwardedCommandId = keyof typeof forwardedCommands;

/** Webview actions that are commands: they get the parameters unchanged. */
export const actionCommands = {
  runEpic: 'drover.runEpic',
  runAll: 'drover.runAll',
  runTask: 'drover.runTask',
  stopRun: 'drover.stopRun',
  retry: 'drover.retryTask',
  retryFailed: 'drover.retryFailed',
  openStream: 'drover.openStream',
  openGrid: 'drover.openGrid',
  openWorktrees: 'drover.openWorktrees',
  openBoard: 'drover.openBoard',
  review: 'drover.review',
  takeOver: 'drover.takeOver',
  giveBack: 'drover.giveBack',
  openWorktree: 'drover.openWorktree',
  undoLanding: 'drover.undoLanding',
  mergeConflict: 'drover.mergeConflict',
  compare: 'drover.compareCandidates',
} as const satisfies { readonly [N in HostActionName]?: CommandId };
export type CommandActionName = keyof typeof actionCommands;

export function isCommandAction(name: HostActionName): name is CommandActionName {
  return Object.hasOwn(actionCommands, name);
}

/** View type of each webview, for the manifest and for VS Code. */
export const webviewIds = {
  tree: 'drover.tree',
  inbox: 'drover.inbox',
  stream: 'drover.stream',
  grid: 'drover.grid',
  board: 'drover.board',
  run: 'drover.run',
  plan: 'drover.plan',
  worktrees: 'drover.worktrees',
  rules: 'drover.rules',
} as const satisfies { readonly [N in WebviewName]: string };

export const sideViews = ['tree', 'inbox'] as const satisfies readonly WebviewName[];
export type SideViewName = (typeof sideViews)[number];
export const panelNames = [
  'stream',
  'grid',
  'board',
  'run',
  'plan',
  'worktrees',
  'rules',
] as const satisfies readonly WebviewName[];
export type PanelName = (typeof panelNames)[number];

/** VS Code's own trees in the side bar, not webviews. */
export const workersViewId = 'drover.workers';
export const machinesViewId = 'drover.machines';

export const walkthroughId = 'drover.start';

/** Context keys that the extension sets, for the manifest's conditions. */
export const contextKeys = [
  'drover.inTree',
  'drover.connected',
  'drover.hasProject',
  'drover.reason',
  'drover.running',
  'drover.hasPlan',
  'drover.hasRun',
  'drover.resumable',
  'drover.severalProjects',
  'drover.selection',
  'drover.selectionStatus',
  'drover.waiting',
  'drover.reviewing',
  'drover.remoteWorkers',
  'drover.fleet',
] as const;
export type ContextKey = (typeof contextKeys)[number];
