// The extension in a real extension host, on a real repository with a real backend and the demo agent.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { ExportsWhenReady } from '../../../extension/tools/exports.ts';
import { commandIds } from '../../../extension/ids.ts';
import {
  personToolNames,
  type PersonToolName,
} from '../../../server/protocol/person-tools/tools.ts';
import { removeFolder } from '../../remove-folder.ts';
import {
  activated,
  addTask,
  backendPid,
  git,
  ready,
  taskOf,
  untilBoard,
  untilShown,
  waitMs,
  workspaceRoot,
} from './support.ts';

suite('the extension in its host', () => {
  let exports: ExportsWhenReady;

  test('it activates and registers every command', async () => {
    const { activationMs } = await activated();
    console.log(`[test]      (${activationMs.toFixed(1)} ms)`);
    const registered = new Set(await vscode.commands.getCommands(true));
    assert.deepEqual(
      commandIds.filter((id) => !registered.has(id)),
      [],
    );
  });

  test('it finds the repository, starts its backend and shows the board', async () => {
    exports = await ready();
    await vscode.commands.executeCommand('drover.tree.focus');
    const project = await untilBoard(exports, () => true);
    assert.equal(project.root, workspaceRoot());
    assert.ok(backendPid() > 0);
  });

  test("it checks the sandbox with doctor's probes, and reports the results", async () => {
    await untilBoard(exports, () => true);
    await vscode.commands.executeCommand('drover.checkSandbox');
    const [told = ''] = await untilShown(exports, /attempts (?:to get|got) out/);
    assert.match(told, /\b1[2-9] attempts\b/);
  });

  test('it runs an epic with the demo agent until the epic has landed', async () => {
    const project = await untilBoard(exports, () => true);
    const epic = await project.request('epic.add', { title: 'First epic' });
    const first = await addTask(project, 'One', ['write one.txt one'], epic.id);
    const second = await project.request('task.add', {
      title: 'Two',
      epic: epic.id,
      blocked_by: [first.id],
      description: 'demo: write two.txt two',
    });
    await vscode.workspace
      .getConfiguration('drover')
      .update('showPreflight', false, vscode.ConfigurationTarget.Global);
    await vscode.commands.executeCommand('drover.runEpic', { epicId: epic.id });
    const done = await untilBoard(exports, (board) =>
      [first.id, second.id].every((id) => taskOf(board, id).status === 'completed'),
    );
    assert.notEqual(taskOf(done.board, second.id).landed_sha, null);
    await untilBoard(exports, (board) => board.run?.active === false);
    const landed = git('ls-tree', '--name-only', 'main').split('\n');
    assert.ok(landed.includes('one.txt') && landed.includes('two.txt'), landed.join(' '));
    const [told = ''] = await untilShown(exports, /^First epic: /);
    assert.match(told, /^First epic: 2 landed on main \([0-9a-f]{8}\) · /);
  });

  test('it lists the run with its landings, and a search finds its task', async () => {
    const project = await untilBoard(exports, () => true);
    const { runs } = await project.request('runs.list', { search: 'two' });
    const [run] = runs;
    assert.equal(run?.epic_title, 'First epic');
    assert.deepEqual([run?.landed, run?.failed, run?.open], [2, 0, 0]);
    assert.equal((await project.request('runs.list', { search: 'nothing of it' })).found, 0);
    const report = await project.request('report', { id: run?.id ?? '' });
    assert.deepEqual(
      report.attempts.map(({ title, outcome }) => [title, outcome]),
      [
        ['One', 'completed'],
        ['Two', 'completed'],
      ],
    );
  });

  test('it reconnects to a backend that was killed, and loses nothing', async () => {
    const project = await untilBoard(exports, () => true);
    const enough = join(dirname(workspaceRoot()), 'enough-of-long');
    const lines = [`say-until ${enough} at work`, 'write long.txt long'];
    const task = await addTask(project, 'Long', lines);
    await vscode.commands.executeCommand('drover.runAll');
    await untilBoard(exports, (board) => taskOf(board, task.id).status === 'in_progress');
    const before = backendPid();
    process.kill(before, 'SIGKILL');
    await exports.until((connection) => connection.kind === 'connecting', waitMs);
    const again = await untilBoard(exports, () => backendPid() !== before);
    assert.notEqual(again.board, null);
    assert.ok(
      exports.shown.some((text) => text.startsWith('Reattached: 1 agent running')),
      exports.shown.join('\n'),
    );
    writeFileSync(enough, '');
    await untilBoard(exports, (board) => taskOf(board, task.id).status === 'completed');
    assert.equal((await project.request('attempts', { id: task.id })).length, 1);
  });

  test('it opens a panel for an attempt, the grid and the board', async () => {
    const project = await untilBoard(exports, () => true);
    const [task] = project.board?.tasks ?? [];
    assert.ok(task !== undefined);
    await vscode.commands.executeCommand('drover.openStream', task.id);
    await vscode.commands.executeCommand('drover.openStream', { taskId: task.id });
    await vscode.commands.executeCommand('drover.openGrid');
    await vscode.commands.executeCommand('drover.openBoard');
    await vscode.commands.executeCommand('drover.openRuns');
    const wanted = ['drover.board', 'drover.grid', 'drover.run', 'drover.stream'];
    await untilTabs((types) => wanted.every((type) => types.includes(type)));
    assert.deepEqual([...panelTypes()].sort(), wanted);
  });

  test('the board opens in a browser, which is approved', async () => {
    await untilBoard(exports, () => true);
    const file = join(process.env['HOME'] ?? '', '.local/state/drover/web/devices.json');
    await vscode.commands.executeCommand('drover.openInBrowser');
    const endMs = performance.now() + waitMs;
    while (!existsSync(file) && performance.now() < endMs) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const devices = JSON.parse(readFileSync(file, 'utf8')) as readonly { role: string }[];
    assert.deepEqual(
      devices.map(({ role }) => role),
      ['decide'],
    );
  });

  test('a language model reads the board, and adds three tasks with dependencies and runs them', async () => {
    const offered = new Set(vscode.lm.tools.map(({ name }) => name));
    assert.deepEqual(
      personToolNames.filter((name) => !offered.has(name)),
      [],
    );
    assert.match(await invoke('drover_read_board', {}), /"First epic": 2 of 2 tasks done/);
    const added = await invoke('drover_add_tasks', {
      epic: 'Asked by a model',
      tasks: [
        { key: 'a', title: 'A', description: 'demo: write a.txt a' },
        { key: 'b', title: 'B', description: 'demo: write b.txt b' },
        { title: 'C', description: 'demo: write c.txt c', blockedBy: ['a', 'b'] },
      ],
    });
    const ids = [...added.matchAll(/^- (task-\w+) /gm)].map(([, id]) => id ?? '');
    assert.equal(ids.length, 3);
    assert.match(await invoke('drover_explain_task', { id: ids[2] }), /A|B|wait/);
    await invoke('drover_run_epic', { epic: 'Asked by a model' });
    await untilBoard(exports, (board) =>
      ids.every((id) => taskOf(board, id).status === 'completed'),
    );
    assert.match(await invoke('drover_show_task', { id: ids[2] }), /Landed as/);
    await assert.rejects(invoke('drover_run_epic', { epic: 'Nowhere' }), /does not exist/);
  });

  test('an assistant reaches this repository through MCP', async () => {
    const [server] = exports.mcpServers();
    assert.ok(server !== undefined);
    assert.equal(server.cwd?.fsPath, workspaceRoot());
    const child = spawn(server.command, server.args, {
      cwd: workspaceRoot(),
      env: { ...process.env, ...(server.env as Record<string, string>) },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    try {
      const params = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1' },
      };
      const ask = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
      child.stdin.write(`${JSON.stringify(ask)}\n`);
      let said = '';
      for await (const chunk of child.stdout.setEncoding('utf8')) {
        said += String(chunk);
        if (said.includes('\n')) break;
      }
      assert.match(said, /"serverInfo":\{"name":"drover"/);
    } finally {
      child.kill('SIGKILL');
    }
  });

  test('a TODO in an editor can be made a task', async () => {
    await untilBoard(exports, () => true);
    // The comment is the test's input, not open work of this project.
    const uri = vscode.Uri.file(join(workspaceRoot(), 'later.ts'));
    await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode('// TODO: round it\n'));
    const editor = await vscode.window.showTextDocument(uri);
    const { range } = editor.document.lineAt(0);
    const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
      'vscode.executeCodeActionProvider',
      uri,
      range,
    );
    const action = actions.find(({ command }) => command?.command === 'drover.makeTask');
    assert.equal(action?.title, 'Drover: Make a Task of This');
    await vscode.workspace.fs.delete(uri);
  });

  test('a failed test becomes a task with its message', async () => {
    const project = await untilBoard(exports, () => true);
    const uri = vscode.Uri.file(join(workspaceRoot(), 'cart.test.ts'));
    const controller = vscode.tests.createTestController('drover-in-host', 'In host');
    const item = controller.createTestItem('rounds', 'rounds the total', uri);
    controller.items.add(item);
    const message = vscode.TestMessage.diff('The total is not rounded', '3', '3.5');
    message.location = new vscode.Location(uri, new vscode.Position(11, 0));
    try {
      const making = vscode.commands.executeCommand('drover.makeTask', { test: item, message });
      // The title as it is proposed, then the first place.
      await acceptUntilOver(making);
      const title = 'Fix the failing test: rounds the total';
      const { board } = await untilBoard(exports, ({ tasks }) =>
        tasks.some((task) => task.title === title),
      );
      const made = board?.tasks.find((task) => task.title === title);
      assert.match(made?.description ?? '', /in `cart\.test\.ts`, line 12 fails/);
      assert.match(made?.description ?? '', /The total is not rounded[\s\S]+3\.5/);
      await project.request('task.remove', { ids: [made?.id ?? ''] });
    } finally {
      controller.dispose();
    }
  });

  test('the selected agent is saved in the user settings, and the message names them', async () => {
    await untilBoard(exports, () => true);
    const setting = () => vscode.workspace.getConfiguration('drover');
    const path = process.env['PATH'];
    // The one agent that is installed is the first of the list.
    const folder = mkdtempSync(join(tmpdir(), 'drover-agent-'));
    writeFileSync(join(folder, 'claude'), '#!/bin/sh\necho "2.1.329 (Claude Code)"\n', {
      mode: 0o755,
    });
    try {
      process.env['PATH'] = `${folder}:${path ?? ''}`;
      const selecting = vscode.commands.executeCommand('drover.selectAgent');
      await acceptUntilOver(selecting);
      assert.equal(setting().inspect<string>('agent')?.globalValue, 'claude');
      await untilShown(exports, /works on your tasks \(user setting drover\.agent\)/);
    } finally {
      process.env['PATH'] = path;
      await setting().update('agent', undefined, vscode.ConfigurationTarget.Global);
      removeFolder(folder);
    }
  });

  test('a link opens its target, and an invalid one is reported', async () => {
    const project = await untilBoard(exports, () => true);
    const [task] = project.board?.tasks ?? [];
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await exports.openLink(`/task/${task?.id ?? ''}`);
    await untilTabs((types) => types.includes('drover.stream'));
    await exports.openLink('/task/task-nowhere');
    await untilShown(exports, /task-nowhere is not on the board of a repository in this window/);
  });

  test('it tests the connection of remote workers, and shows the files to upload', async () => {
    const uri = vscode.Uri.file(join(workspaceRoot(), '.drover.toml'));
    const before = await vscode.workspace.fs.readFile(uri);
    const remote = new TextEncoder().encode('[remote]\nprovisioner = "process"\n');
    try {
      await vscode.workspace.fs.writeFile(uri, new Uint8Array([...before, ...remote]));
      acceptSettings(exports);
      await vscode.commands.executeCommand('drover.testWorkers');
      await untilShown(exports, /^The connection by process works \(/);
      const messages = exports.shown.length;
      await vscode.commands.executeCommand('drover.previewUpload');
      assert.deepEqual(exports.shown.slice(messages), []);
    } finally {
      await vscode.workspace.fs.writeFile(uri, before);
    }
  });

  test('it reports a refusal, and changes nothing', async () => {
    await vscode.commands.executeCommand('drover.retryTask', 'no-such-task');
    await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    const project = await untilBoard(exports, () => true);
    await assert.rejects(
      project.request('task.edit', { id: 'no-such-task', title: 'x' }),
      /no-such-task/,
    );
  });
});

/** No test of this kind can press a button of a dialog that VS Code shows. */
function acceptSettings(exports: ExportsWhenReady): void {
  const [server] = exports.mcpServers();
  assert.ok(server !== undefined);
  const args = [...server.args.slice(0, -1), 'trust', '--yes'];
  const env = { ...process.env, ...(server.env as Record<string, string>) };
  execFileSync(server.command, args, { cwd: workspaceRoot(), env });
}

/**
 * Calls a tool like VS Code's own chat. In tests it confirms its questions to a person by itself.
 */
async function invoke(name: PersonToolName, input: object): Promise<string> {
  const result = await vscode.lm.invokeTool(name, { input, toolInvocationToken: undefined });
  const [part] = result.content;
  assert.ok(part instanceof vscode.LanguageModelTextPart);
  return part.value;
}

function panelTypes(): readonly string[] {
  return vscode.window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .flatMap(({ input }) => {
      return input instanceof vscode.TabInputWebview
        ? [input.viewType.replace(/^mainThreadWebview-/, '')]
        : [];
    });
}

function untilTabs(holds: (types: readonly string[]) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      if (!holds(panelTypes())) return;
      subscription.dispose();
      clearTimeout(timer);
      resolve();
    };
    const subscription = vscode.window.tabGroups.onDidChangeTabs(look);
    const timer = setTimeout(() => {
      subscription.dispose();
      reject(new Error(`The tabs are ${panelTypes().join(', ')}.`));
    }, waitMs);
    look();
  });
}

/** Accepts the first choice of every question that the command asks. */
async function acceptUntilOver(command: Thenable<unknown>): Promise<void> {
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  command.then(end, end);
  while (!isOver) {
    await vscode.commands.executeCommand('workbench.action.acceptSelectedQuickOpenItem');
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  await command;
}
