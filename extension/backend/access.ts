// The server's code as the extension needs it, as plain functions: the entry hands it in, tests
// hand in others.

import type { Socket } from 'node:net';
import type {
  CommandResult,
  GitState,
  OpenedBackend,
  RootState,
} from '../../server/protocol/editor-access.ts';
import type { ServedPage } from '../../server/protocol/web/wire.ts';

export interface BackendAccess {
  /**
   * True if a backend is running for the repository, or one died without cleaning up: there is work
   * to resume.
   */
  isAtWork(root: string): boolean;
  /**
   * Connects to the running backend, or starts one in this environment (read only then) and
   * connects. Throws BackendFailure.
   */
  open(root: string, environment: () => Promise<NodeJS.ProcessEnv>): Promise<OpenedBackend<Socket>>;
  git(): Promise<GitState>;
  /** The repository of a folder, and whether Drover is set up in it. */
  rootOf(folder: string): Promise<RootState>;
  /** Runs Drover's own command in a separate process; resolves with its standard output. */
  command(
    args: readonly string[],
    folder: string,
    environment: NodeJS.ProcessEnv,
  ): Promise<CommandResult>;
  /** Serves the board as a page, which ends with this process. */
  servePage(root: string, environment: NodeJS.ProcessEnv): ServedPage;
  /** `git init`, for a folder that is in no repository. */
  createRepository(folder: string): Promise<void>;
  /** The content of a first commit. */
  filesToCommit(folder: string): Promise<readonly string[]>;
  /** `git add --all` and a commit, also of nothing. */
  commitAll(folder: string, message: string): Promise<void>;
  /**
   * Makes the small repository of the demo in an empty folder, and a file with its plan, to be
   * imported.
   */
  makeSample(folder: string): { readonly root: string; readonly planFile: string };
}
