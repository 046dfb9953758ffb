// A person runs agents on a host by ssh: they set it up, test the connection, preview the upload,
// run a task, watch it, and destroy its worker; the job runs again on another one, and lands.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../e2e/support/eventually.ts';
import { makeProject, type Project } from '../../e2e/support/project.ts';
import { startSshd, type Sshd } from '../../e2e/support/sshd.ts';
import type { Frame, Locator } from '../host/browser.ts';
import { message, messageCame } from './support/messages.ts';
import {
  activeTab,
  clickUntil,
  dialog,
  openDrover,
  quickPickRow,
  runCommand,
  webview,
} from './support/parts.ts';
import { row, treeOf } from './support/tree.ts';
import { openWorkbench, picture, type Workbench } from './support/workbench.ts';

const title = 'Compute far away';
const agent = (folder: string): string => `#!/bin/sh
cat > /dev/null
echo begun >> '${folder}/executions'
echo 'I compute on another host.'
while [ ! -e '${folder}/go' ]; do sleep 0.1; done
echo 42 > answer.txt
`;

suite('remote workers in VS Code', function () {
  this.timeout(300_000);
  let project: Project;
  let sshd: Sshd;
  let bench: Workbench;
  let tree: Frame;

  suiteSetup(async function () {
    this.timeout(120_000);
    project = makeProject({
      files: { 'tools/agent.sh': '', '.env': 'SECRET=1\n', 'src/deep/code.ts': 'export {};\n' },
      env: { DROVER_AGENT_PATH: 'tools/agent.sh' },
    });
    sshd = await startSshd(project);
    writeFileSync(sshd.knownHosts, '');
    const config = join(project.folder, 'home', '.ssh', 'config');
    mkdirSync(join(project.folder, 'home', '.ssh'), { mode: 0o700 });
    writeFileSync(config, sshConfig(sshd));
    writeFileSync(join(project.root, 'tools/agent.sh'), agent(project.folder));
    chmodSync(join(project.root, 'tools/agent.sh'), 0o755);
    // ssh takes its configuration from the home of the account, whatever HOME says.
    const settings = `[remote]\nssh_args = ["-F", ${JSON.stringify(config)}]\n`;
    writeFileSync(join(project.root, '.drover.toml'), settings);
    project.git('commit', '-qam', 'an agent');
    await project.expect(0, ['init']);
    await project.add(title);
    bench = await openWorkbench({
      env: project.env,
      folder: project.root,
      settings: { 'drover.showPreflight': false },
    });
    await openDrover(bench.page);
    tree = await treeOf(bench.page);
  });

  suiteTeardown(async function () {
    this.timeout(60_000);
    await bench?.close();
    await sshd?.close();
    await project?.end(false);
  });

  const sshConfig = ({ args }: Sshd): string => {
    const after = (name: string): string => args[args.indexOf(name) + 1] ?? '';
    const known = args.find((arg) => arg.startsWith('UserKnownHostsFile='))?.split('=')[1] ?? '';
    const user = execFileSync('id', ['-un'], { encoding: 'utf8' }).trim();
    return [
      'Host buildbox',
      '  HostName 127.0.0.1',
      `  Port ${after('-p')}`,
      `  User ${user}`,
      `  IdentityFile ${after('-i')}`,
      `  UserKnownHostsFile ${known}`,
      '',
    ].join('\n');
  };

  const workers = (): Locator => bench.page.locator('.pane', { hasText: 'Remote Workers' });
  const workerRow = (text: string | RegExp): Locator =>
    workers().locator('.monaco-list-row', { hasText: text }).first();
  const executions = (): number => {
    const file = join(project.folder, 'executions');
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').length : 0;
  };

  test('a person chooses ssh and a host, accepts its key, and tests the connection', async () => {
    await runCommand(bench.page, 'Drover: Set Up Remote Workers');
    await quickPickRow(bench.page, 'ssh').click();
    await quickPickRow(bench.page, 'buildbox').waitFor();
    await picture(bench.page, 'remote-set-up');
    await quickPickRow(bench.page, 'buildbox').click();
    await quickPickRow(bench.page, 'All tasks').click();
    await message(bench.page, 'Remote workers are set up', { answer: 'Test Connection' });
    const asked = dialog(bench.page);
    await asked.getByText('remote.provisioner = "ssh"').waitFor();
    await asked.getByRole('button', { name: 'Accept' }).click();
    const unknown = /key of host buildbox is not known/;
    await message(bench.page, unknown);
    await picture(bench.page, 'remote-host-key');
    await message(bench.page, unknown, { answer: `Accept ${sshd.fingerprint}` });
    await message(bench.page, 'The connection by ssh works');
    await picture(bench.page, 'remote-tested');
    assert.match(
      project.read('repo/.drover.toml'),
      /^runs_on = "remote"\n\n\[remote\]\nprovisioner = "ssh"\nhost = "buildbox"\nssh_args = /,
    );
  });

  test('it shows the files to upload, and the omitted files', async () => {
    await runCommand(bench.page, 'Drover: Preview Upload');
    await workerRow('Left out').waitFor();
    await workerRow('Names that look like secrets').waitFor();
    await workerRow('.env').waitFor();
    await picture(bench.page, 'remote-preview');
  });

  test('a task runs there, is watched, its worker is destroyed, and the work lands anyway', async () => {
    await runCommand(bench.page, 'Drover: Run All Open Tasks');
    await eventually('the agent has begun', () => executions() === 1, 60_000);
    await row(tree, title).getByTitle('on a worker').waitFor();
    const worker = workerRow(/Compute far away.*attempt 1/);
    await worker.waitFor({ timeout: 60_000 });
    await picture(bench.page, 'remote-run');
    await clickUntil(worker, activeTab(bench.page, title));
    const stream = await webview(bench.page, 'stream');
    await stream.getByText('I compute on another host.').waitFor({ timeout: 60_000 });
    await picture(bench.page, 'remote-watch');
    await worker.hover();
    await worker.locator('a.action-label[aria-label^="Destroy Worker"]').click();
    await dialog(bench.page)
      .getByText(/starts again on another worker/)
      .waitFor();
    await picture(bench.page, 'remote-destroy');
    await dialog(bench.page).getByRole('button', { name: 'Destroy', exact: true }).click();
    await messageCame(bench.page, 'The worker of "Compute far away" is destroyed');
    await eventually('it runs on another worker', () => executions() === 2, 60_000);
    await worker.waitFor({ timeout: 60_000 });
    project.write('go', '');
    await eventually('it has landed', async () => {
      const [task] = (await project.status()).tasks;
      return task?.status === 'completed';
    });
    assert.equal(project.git('show', 'main:answer.txt'), '42');
    await workers().getByText('No workers.').waitFor({ timeout: 60_000 });
    await picture(bench.page, 'remote-landed');
    assert.deepEqual(readdirSync(join(project.root, '.drover/remote/leases')), []);
    assert.deepEqual(readdirSync(join(sshd.home, '.cache/drover/workers')), []);
    assert.deepEqual(bench.violations, []);
  });
});
