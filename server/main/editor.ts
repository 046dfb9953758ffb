// The part of the server that an editor's extension needs: connecting to a backend, and facts that
// are available without one. It runs in the editor's process, so it must stay small and opens no
// database.

import { spawn, execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openGitAdapter } from '../git/repository/adapter.ts';
import { isNewEnough, parseVersion } from '../git/process/version.ts';
import { protocolVersion } from '../protocol/api.ts';
import type {
  CommandResult,
  GitState,
  OpenedBackend,
  RootState,
} from '../protocol/editor-access.ts';
import { droverVersion } from '../protocol/version.ts';
import { openBackendSocket } from '../rpc/transport/client.ts';
import { ConnectFailure } from '../rpc/transport/errors.ts';
import {
  projectPlaces,
  projectFolderName,
  readAddress,
  runningAddress,
} from '../project/project-places.ts';
import { startBackend } from './start-backend.ts';
import { thisPlatform } from '../platform/this-platform.ts';

export { servePage } from './served-page.ts';
export { makeSample } from '../project/sample.ts';

const outputBytesMax = 16 * 1024 * 1024;
const gitWaitMaxMs = 10_000;
const run = promisify(execFile);

/**
 * Connects to the running backend or starts one. The environment is read only if one must be
 * started. The caller does the handshake, for which this returns the data.
 */
export async function openBackend(
  root: string,
  environment: () => Promise<NodeJS.ProcessEnv>,
): Promise<OpenedBackend<Socket>> {
  const running = await connectRunning(root, false);
  if (running !== null) return running;
  const env = await environment();
  return await startBackend({ root, env }, () => connectRunning(root, true));
}

async function connectRunning(
  root: string,
  started: boolean,
): Promise<OpenedBackend<Socket> | null> {
  const address = runningAddress(root);
  if (address === null) return null;
  try {
    const socket = await openBackendSocket(address);
    const hello = {
      token: address.token,
      client: 'vscode',
      version: droverVersion,
      protocol: protocolVersion,
    };
    return { socket, hello, started };
  } catch (error) {
    if (error instanceof ConnectFailure && error.kind === 'unreachable') return null;
    throw error;
  }
}

/**
 * True if a backend is running, or one died without cleaning up, so that its work can be resumed.
 */
export function isAtWork(root: string): boolean {
  return readAddress(projectPlaces(root, null).address) !== null;
}

export async function gitState(): Promise<GitState> {
  try {
    const { stdout } = await run('git', ['version'], { timeout: gitWaitMaxMs });
    const version = parseVersion(stdout);
    if (version === null) {
      const message = 'The program "git" does not report its version.';
      return { kind: 'missing', message };
    }
    if (isNewEnough(version)) return { kind: 'ok', version };
    const message = `Git ${version} is too old: Drover needs 2.38 or newer. Put a newer git first on PATH, then reload the window.`;
    return { kind: 'too_old', message };
  } catch (error) {
    return { kind: 'missing', message: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * The repository of a folder (the main checkout, if the folder is in a worktree), and whether it is
 * set up.
 */
export async function findProjectRoot(folder: string): Promise<RootState> {
  // On other systems, git's form of a path (letter case, drive) differs from the file system's, and
  // another program must be asked when a process started.
  if (thisPlatform.hasProcFiles && hasLiveBackend(folder)) return stateOf(realpathSync(folder));
  const opened = await openGitAdapter().open(folder);
  if (!opened.ok) {
    // A repository without commits can be set up but not run. The checks before a run report that.
    if (opened.error.kind !== 'no_commit')
      return { kind: 'no_repository', message: opened.error.message };
    return stateOf(realpathSync(folder));
  }
  return stateOf(opened.value.facts.root);
}

/** Detects a live backend without git, whose processes would only delay a window. */
function hasLiveBackend(folder: string): boolean {
  return runningAddress(folder) !== null;
}

function stateOf(root: string): RootState {
  const isSetUp = existsSync(join(root, projectFolderName));
  return { kind: isSetUp ? 'project' : 'not_initialised', root };
}

export async function createRepository(folder: string): Promise<void> {
  await run('git', ['init', '-b', 'main', folder], { timeout: gitWaitMaxMs });
}

/** The files of a first commit: everything that git does not ignore. */
export async function filesToCommit(folder: string): Promise<readonly string[]> {
  const args = ['-C', folder, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await run('git', args, {
    timeout: gitWaitMaxMs,
    maxBuffer: outputBytesMax,
  });
  return stdout.split('\0').filter((path) => path !== '');
}

/** Runs the user's hooks. Rejects with git's output. */
export async function commitAll(folder: string, message: string): Promise<void> {
  await run('git', ['-C', folder, 'add', '--all'], { timeout: gitWaitMaxMs });
  await run('git', ['-C', folder, 'commit', '--quiet', '--allow-empty', '-m', message]);
}

/** Runs the `drover` command in a separate process. */
export function runCommand(
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): Promise<CommandResult> {
  const program = fileURLToPath(new URL('./cli.js', import.meta.url));
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--no-warnings', program, ...args], {
      cwd,
      env: { ...env, ELECTRON_RUN_AS_NODE: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    const output = { stdout: '', stderr: '' };
    const collect = (name: 'stdout' | 'stderr') => (chunk: string) => {
      if (output[name].length < outputBytesMax) output[name] += chunk;
    };
    child.stdout.setEncoding('utf8').on('data', collect('stdout'));
    child.stderr.setEncoding('utf8').on('data', collect('stderr'));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code: code ?? 1, ...output }));
  });
}
