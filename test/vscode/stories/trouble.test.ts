// When something is missing or in the way: one clear message each, with a way on, and nothing of the repository runs.

import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import { writeOtherVersion } from '../../e2e/support/newer-program.ts';
import type { Project } from '../../e2e/support/project.ts';
import { removeFolder } from '../../remove-folder.ts';
import type { Frame } from '../host/browser.ts';
import { demoProject, directives } from './support/demo-project.ts';
import { openDrover, quickPickRow, runCommand } from './support/parts.ts';
import { treeOf } from './support/tree.ts';
import {
  openWorkbench,
  picture,
  type Workbench,
  type WorkbenchOptions,
} from './support/workbench.ts';

suite('missing prerequisites', () => {
  let project: Project;
  let bench: Workbench | null = null;

  setup(() => {
    project = demoProject();
  });

  teardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    bench = null;
    await project.end(false);
  });

  async function open(options: Partial<WorkbenchOptions> = {}): Promise<Frame> {
    bench = await openWorkbench({ env: project.env, folder: project.root, ...options });
    await openDrover(bench.page);
    return await treeOf(bench.page);
  }

  async function says(tree: Frame, words: RegExp, button: string | null): Promise<void> {
    await tree.getByText(words).first().waitFor();
    if (button !== null) await tree.getByRole('button', { name: button }).waitFor();
    assert.equal(await tree.getByRole('alert').count(), 1);
    assert.deepEqual(bench?.violations, []);
  }

  test('in an untrusted workspace, nothing runs before it is trusted', async () => {
    await project.expect(0, ['init']);
    const settings = {
      'security.workspace.trust.enabled': true,
      'security.workspace.trust.startupPrompt': 'never',
    };
    const tree = await open({ hasWorkspaceTrust: true, settings });
    await says(tree, /Restricted Mode/, 'Manage Workspace Trust');
    assert.equal(project.backendPid(), null);
    if (bench !== null) await picture(bench.page, 'trouble-untrusted');
  });

  test('a missing git is reported', async () => {
    await project.expect(0, ['init']);
    onlyPath(project, programs(project, ['sh']));
    const tree = await open();
    await says(tree, /Git was not found/, 'Get Git');
  });

  test('an outdated git is reported', async () => {
    await project.expect(0, ['init']);
    const folder = programs(project, ['sh', 'cat']);
    writeFileSync(join(folder, 'git'), '#!/bin/sh\necho "git version 2.20.1"\n');
    chmodSync(join(folder, 'git'), 0o755);
    onlyPath(project, folder);
    const tree = await open();
    await says(tree, /git.*2\.38/i, 'Get a Newer Git');
  });

  test('a folder without a repository is reported', async () => {
    const folder = realpathSync(mkdtempSync(join(tmpdir(), 'drover-none-')));
    try {
      const tree = await open({ folder });
      await says(tree, /not in a git repository/, 'Initialize Git Repository');
    } finally {
      removeFolder(folder);
    }
  });

  test('an empty window is handled', async () => {
    bench = await openWorkbench({ env: project.env });
    await openDrover(bench.page);
    const tree = await treeOf(bench.page);
    await says(tree, /Open a folder/, 'Open Folder');
    await tree.getByRole('button', { name: 'Try a Sample Project' }).waitFor();
  });

  test('without an agent, the checks before a run report it, and how to install one', async () => {
    await project.expect(0, ['init']);
    await project.add('A task');
    const env = { ...project.env, DROVER_AGENT_TYPE: 'claude' };
    await open({ env });
    if (bench === null) return;
    await runCommand(bench.page, 'Drover: Run All Open Tasks');
    await quickPickRow(bench.page, 'This run cannot start').waitFor();
    await quickPickRow(bench.page, /claude/i).waitFor();
    await picture(bench.page, 'trouble-no-agent');
  });

  test('a backend of another version is reported', async () => {
    await project.expect(0, ['init']);
    const program = writeOtherVersion(project.folder, { version: '9.2.0', protocol: 99 });
    await project.add('Long', '--description', directives('sleep 60000'));
    const run = project.start(['run', '--json'], { program });
    await run.line((line) => line.includes('"worktree.ready"'));
    const pid = project.backendPid();
    assert.notEqual(pid, null);
    const tree = await open();
    await says(tree, /version/, 'Try Again');
    assert.equal(project.backendPid(), pid);
  });

  test('a socket that another program uses is reported', async () => {
    await project.expect(0, ['init']);
    await project.expect(0, ['run']); // which leaves a backend's address behind
    await eventually('a backend is at work', () => project.backendPid());
    const address = JSON.parse(project.read('repo/.drover/backend.json')) as { socket: string };
    await project.killBackend();
    rmSync(address.socket, { force: true });
    mkdirSync(dirname(address.socket), { recursive: true });
    const other = createServer((socket) => socket.end('who are you?\n'));
    await new Promise<void>((done) => other.listen(address.socket, done));
    try {
      const tree = await open();
      await eventually('the board shows, or a message with a way on', async () => {
        return (await tree.getByRole('button').count()) > 0;
      });
      assert.deepEqual(bench?.violations, []);
    } finally {
      await new Promise((done) => other.close(done));
    }
  });
});

/** VS Code asks the person's login shell for PATH. */
function onlyPath(project: Project, folder: string): void {
  writeFileSync(join(project.folder, 'home', '.bash_profile'), `export PATH=${folder}\n`);
}

/** A PATH with nothing but these programs and node. */
function programs(project: Project, names: readonly string[]): string {
  const folder = join(project.folder, 'bin');
  mkdirSync(folder, { recursive: true });
  for (const name of names) symlinkSync(`/bin/${name}`, join(folder, name));
  symlinkSync(process.execPath, join(folder, 'node'));
  return folder;
}
