// The tests of the extension host in a desktop VS Code, the same entry. It needs a VS Code: @vscode/test-electron
// downloads one into .vscode-test/, or VSCODE_EXECUTABLE names one that is there. On Linux without a display: xvfb-run -a.

import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runTests } from '@vscode/test-electron';
import { buildTests, testsEntry } from '../in-host/build.mjs';
import { drover, makeRepository } from '../in-host/workspaces.mjs';

const root = resolve(import.meta.dirname, '../../..');
const cli = join(root, 'dist/cli.js');
/** Short: sockets live below it. */
const folder = mkdtempSync(join(realpathSync(tmpdir()), 'dvd-'));
const workspace = join(folder, 'repository');
const home = join(folder, 'home');
mkdirSync(home);
makeRepository(workspace);
try {
  await buildTests();
  drover(workspace, cli, ['init'], home);
  await runTests({
    ...(process.env.VSCODE_EXECUTABLE === undefined
      ? { version: process.env.VSCODE_VERSION ?? '1.139.1' }
      : { vscodeExecutablePath: process.env.VSCODE_EXECUTABLE }),
    extensionDevelopmentPath: root,
    extensionTestsPath: testsEntry,
    extensionTestsEnv: {
      DROVER_TEST_SUITE: 'project',
      VSCODE_TEST_RESULTS: join(folder, 'results.json'),
      // Set in terminals of VS Code itself, it would turn the started VS Code into plain Node.
      ELECTRON_RUN_AS_NODE: undefined,
    },
    launchArgs: [
      workspace,
      `--user-data-dir=${join(folder, 'ud')}`,
      `--extensions-dir=${join(folder, 'ext')}`,
      '--disable-extensions',
      '--disable-workspace-trust',
      '--disable-telemetry',
      '--disable-updates',
    ],
  });
} catch (error) {
  console.error(error instanceof Error ? error.stack : String(error));
  process.exitCode = 1;
} finally {
  try {
    drover(workspace, cli, ['server', 'stop', '--force'], home);
  } catch {
    // None was running.
  }
  rmSync(folder, { recursive: true, force: true });
}
