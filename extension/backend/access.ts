// The server's code that the extension needs, as plain functions: the entry passes it in, and tests
// pass in doubles.

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
   * True if a backend is running for the repository, or one died without cleaning up and left work
   * to resume.
   */
  isAtWork(root: string): boolean;
  /**
   * Connects to the running backend, or starts one in this environment (which is read only then)
   * and connects. Throws BackendFailure.
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
  /** Serves the board as a page until this process exits. */
  servePage(root: string, environment: NodeJS.ProcessEnv): ServedPage;
  /** Runs `git init` for a folder that is not in a repository. */
  createRepository(folder: string): Promise<void>;
  /** The files of a first commit. */
  filesToCommit(folder: string): Promise<readonly string[]>;
  /** Runs `git add --all` and a commit, even without changes. */
  commitAll(folder: string, message: string): Promise<void>;
  /**
   * Creates the small repository of the demo in an empty folder, and a file with its plan for the
   * import.
   */
  makeSample(folder: string): { readonly root: string; readonly planFile: string };
}
