// The states in which nothing works until a person acts: one plain sentence each, and the command
// for the next step.

import type { Connection } from '../../webview/messages/messages.ts';
import type { CommandId } from '../ids.ts';

export type Unavailable = Extract<Connection, { readonly kind: 'unavailable' }>;
export type UnavailableReason = Unavailable['reason'];

interface WayOn {
  readonly message: string;
  readonly action: { readonly command: CommandId; readonly title: string } | null;
}

const waysOn: { readonly [R in UnavailableReason]: WayOn } = {
  no_folder: {
    message: 'Open a folder with a git repository, or create a sample project.',
    action: { command: 'drover.openFolder', title: 'Open Folder' },
  },
  untrusted: {
    message:
      'This workspace is in Restricted Mode. Drover runs agents and commands of the repository, so it does nothing here until you trust it.',
    action: { command: 'drover.trustWorkspace', title: 'Manage Workspace Trust' },
  },
  no_git: {
    message:
      'Git was not found. Install git 2.38 or newer, put it on PATH, then reload the window.',
    action: { command: 'drover.installGit', title: 'Get Git' },
  },
  git_too_old: {
    message: 'This git is too old: Drover needs 2.38 or newer.',
    action: { command: 'drover.installGit', title: 'Get a Newer Git' },
  },
  no_repository: {
    message:
      'This folder is not in a git repository. Drover runs every task in its own git worktree.',
    action: { command: 'drover.createRepository', title: 'Initialize Git Repository' },
  },
  not_initialised: {
    message:
      'Drover is not set up in this repository yet. Setting it up adds a .drover folder, which git ignores, and .drover.toml, a file with your settings to commit.',
    action: { command: 'drover.initialise', title: 'Set Up Drover' },
  },
  backend_version: {
    message: 'The backend that is running for this repository has a different version.',
    action: { command: 'drover.reconnect', title: 'Try Again' },
  },
  backend_stopped: {
    message: 'The backend was stopped.',
    action: { command: 'drover.reconnect', title: 'Start the Backend' },
  },
  backend_failed: {
    message: 'The backend did not start.',
    action: { command: 'drover.reconnect', title: 'Try Again' },
  },
};

/** `detail` is more specific than the general sentence, and replaces it. */
export function unavailable(reason: UnavailableReason, detail: string | null = null): Unavailable {
  const { message, action } = waysOn[reason];
  return { kind: 'unavailable', reason, message: detail ?? message, action };
}

/** Maps a backend's refusal to a state, by its kind. */
export function reasonOfRefusal(kind: string): UnavailableReason {
  switch (kind) {
    case 'protocol':
    // A backend that is too old to know how an editor greets.
    case 'greeting':
      return 'backend_version';
    case 'not_a_repository':
      return 'no_repository';
    case 'not_initialised':
    case 'no_project':
      return 'not_initialised';
    default:
      return 'backend_failed';
  }
}
