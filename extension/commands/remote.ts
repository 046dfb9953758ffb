// Remote workers: setup, testing the connection, previewing the upload, and destroying a worker by
// hand.

import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import type { RemoteProvisioner } from '../../server/core/settings/remote-settings.ts';
import type { RemoteTest } from '../../server/protocol/remote-views.ts';
import { printedFailure } from '../backend/failure.ts';
import { plainText } from '../notices/plain-text.ts';
import { changeProjectFile } from '../project/project-file.ts';
import type { Project } from '../project/project.ts';
import { storeRemoteKey } from '../project/remote-secrets.ts';
import { isVariableName } from '../project/secrets.ts';
import { acceptSettings } from '../remote/accept-settings.ts';
import type { AskRemote, RemoteView } from '../remote/remote-view.ts';
import { parseSshHosts, withRemote } from '../remote/settings-text.ts';
import type { WorkerOfRow } from '../trees/tree-row.ts';
import { parseRun } from '../remote/worker-rows.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';
import { runEnvironment } from './runs.ts';

export function remoteHandlers(
  view: () => RemoteView,
): Handlers<
  | 'drover.showWorkers'
  | 'drover.refreshWorkers'
  | 'drover.setUpWorkers'
  | 'drover.testWorkers'
  | 'drover.previewUpload'
  | 'drover.destroyWorker'
  | 'drover.setWorkerKey'
> {
  return {
    'drover.showWorkers': withProject(async () => {
      await view().show();
      await view().reload();
    }),
    'drover.refreshWorkers': withProject(async () => await view().reload()),
    'drover.setUpWorkers': withProject(async (context, project) => {
      if (!(await setUp(project))) return;
      await view().show();
      const words = 'Remote workers are set up in .drover.toml. The next run uses them.';
      const test = 'Test Connection';
      if ((await context.messages.show('info', words, [test])) === test) {
        await testConnection(context, project, view());
      }
    }),
    'drover.testWorkers': withProject(async (context, project) => {
      await testConnection(context, project, view());
    }),
    'drover.previewUpload': withProject(async (_context, project) => {
      await view().showUpload(project);
    }),
    'drover.destroyWorker': withProject(async (context, project) => {
      const worker = workerOf(context.args[0]) ?? (await pickWorker(project, view()));
      if (worker !== null) await destroy(context, project, worker);
      await view().reload();
    }),
    'drover.setWorkerKey': withProject(setKey),
  };
}

/** `drover remote` in a separate process, with the variables of this window's runs. */
export function askRemote({ access, extension }: Pick<CommandContext, 'access' | 'extension'>) {
  const ask: AskRemote = async <T>(project: Project, args: readonly string[]): Promise<T> => {
    const environment = await runEnvironment(extension.secrets, project);
    const all = ['remote', ...args, '--json'];
    const { stdout, stderr } = await access.command(all, project.root, environment);
    const failure = printedFailure(stdout);
    if (failure !== null) throw failure;
    const said = jsonOf(stdout);
    if (said === null)
      throw new Error(stderr.trim() === '' ? 'Drover printed nothing.' : stderr.trim());
    return said as T;
  };
  return ask;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function testConnection(
  context: CommandContext,
  project: Project,
  view: RemoteView,
): Promise<void> {
  if (!(await acceptSettings(context, project))) return;
  await view.reload();
  const list = await view.list();
  if (list?.provisioner === null) {
    const setUpNow = 'Set Up Remote Workers';
    const words = 'Remote workers are not set up yet.';
    if ((await context.messages.show('warning', words, [setUpNow])) === setUpNow) {
      await vscode.commands.executeCommand('drover.setUpWorkers');
    }
    return;
  }
  const provisioner = list?.provisioner ?? 'the provisioner';
  const run = async (args: readonly string[]): Promise<RemoteTest> => {
    const test = await runTest(context, project, provisioner, args);
    await view.reload();
    return test;
  };
  await showTest(context, await run([]), async (fingerprint) => {
    await showTest(context, await run(['--accept-host-key', fingerprint]), null);
  });
}

async function runTest(
  context: CommandContext,
  project: Project,
  provisioner: string,
  args: readonly string[],
): Promise<RemoteTest> {
  const options = {
    location: vscode.ProgressLocation.Notification,
    title: `Creating a worker by ${provisioner}, and destroying it again…`,
  };
  const ask = askRemote(context);
  return await vscode.window.withProgress(
    options,
    async () => await ask<RemoteTest>(project, ['test', ...args]),
  );
}

/** `accept` is offered if the host's key is not known; the button names the key. */
async function showTest(
  { messages }: CommandContext,
  { ok, message, provisioner, ms, host_key: key }: RemoteTest,
  accept: ((fingerprint: string) => Promise<void>) | null,
): Promise<void> {
  const seconds = (ms / 1000).toFixed(1);
  if (ok) {
    messages.tell('info', `The connection by ${provisioner} works (${seconds} s).`);
  } else if (key === null || key.changed || accept === null) {
    messages.tell('error', `${provisioner}: ${message}`);
  } else {
    const button = `Accept ${key.fingerprint}`;
    if ((await messages.show('warning', message, [button])) === button) {
      await accept(key.fingerprint);
    }
  }
}

function workerOf(argument: unknown): WorkerOfRow | null {
  if (typeof argument !== 'object' || argument === null || !('worker' in argument)) return null;
  return argument.worker as WorkerOfRow | null;
}

async function pickWorker(project: Project, view: RemoteView): Promise<WorkerOfRow | null> {
  await view.reload();
  const workers = (await view.list())?.workers ?? [];
  if (workers.length === 0) {
    void vscode.window.showInformationMessage('Destroy Worker: no worker exists.');
    return null;
  }
  const items = workers.map((worker) => {
    const run = parseRun(worker);
    const isRunning = worker.state === 'running';
    const task = run?.task ?? null;
    const title = project.board?.tasks.find(({ id }) => id === task)?.title ?? null;
    const description = isRunning ? plainText(title ?? task ?? '', 80) : 'orphan';
    const found = { name: worker.name, isRunning, task, title, attempt: null };
    return { label: worker.name, description, worker: found };
  });
  const chosen = await vscode.window.showQuickPick(items, { title: 'Destroy Worker' });
  return chosen?.worker ?? null;
}

async function destroy(
  context: CommandContext,
  project: Project,
  { name, isRunning, title }: WorkerOfRow,
): Promise<void> {
  const detail = isRunning
    ? 'The work of the agent since the last snapshot is lost. The attempt starts again on another worker.'
    : 'No task runs on it.';
  const what = title === null ? name : `of "${plainText(title, 80)}"`;
  if (!(await context.messages.confirm(`Destroy the worker ${what}?`, detail, 'Destroy'))) return;
  const force = isRunning ? ['--force'] : [];
  await askRemote(context)(project, ['destroy', name, ...force]);
  context.messages.tell('info', `The worker ${what} is destroyed.`);
}

const kinds: { readonly [P in RemoteProvisioner]: string } = {
  process: 'A process of this machine, without a sandbox',
  ssh: 'A host that you reach by ssh',
  docker: 'Containers of this machine (Docker or Podman)',
  hook: 'What your own script creates',
  static: 'A worker that you run yourself, at an address',
  unikraft: 'Instances of Unikraft Cloud',
  hosted: 'Jobs of a platform that creates its own workers',
};

/** Returns false if the user canceled. */
async function setUp(project: Project): Promise<boolean> {
  const items = (Object.keys(kinds) as RemoteProvisioner[]).map((label) => ({
    label,
    description: kinds[label],
  }));
  const title = 'Set Up Remote Workers';
  const chosen = await vscode.window.showQuickPick(items, {
    title,
    placeHolder: 'What creates the workers?',
  });
  if (chosen === undefined) return false;
  const more = await detailOf(chosen.label);
  if (more === null) return false;
  const which = await vscode.window.showQuickPick(
    [
      { label: 'All tasks', runsOn: 'remote' as const },
      { label: 'Only tasks and epics that ask for it', runsOn: null },
    ],
    { title, placeHolder: 'Which tasks run on workers?' },
  );
  if (which === undefined) return false;
  const remote = { provisioner: chosen.label, ...more };
  await changeProjectFile(project.root, 'remote workers', (text) =>
    withRemote(text, { remote, runsOn: which.runsOn }),
  );
  return true;
}

/** The details that a provisioner needs in addition to its name, or null if the user canceled. */
async function detailOf(kind: RemoteProvisioner): Promise<Readonly<Record<string, string>> | null> {
  switch (kind) {
    case 'process':
      return {};
    case 'ssh':
      return await asked('host', pickHost());
    case 'docker':
    case 'unikraft':
      return await asked('image', inputOf('Image of a worker (docs/worker-runtime.md)'));
    case 'static':
      return await asked('url', inputOf('Address of the worker: https, or http on loopback'));
    case 'hosted':
      return await platform();
    case 'hook':
      return await asked('hook', inputOf('Script that creates, destroys and lists workers'));
  }
}

async function platform(): Promise<Readonly<Record<string, string>> | null> {
  const url = await inputOf('Address of the platform: https, or http on loopback');
  if (url === null) return null;
  const remote = await inputOf('Git remote that the platform clones, by name or address');
  return remote === null ? null : { url, git_remote: remote };
}

async function asked(
  key: string,
  answer: Promise<string | null>,
): Promise<Readonly<Record<string, string>> | null> {
  const value = await answer;
  return value === null ? null : { [key]: value };
}

async function inputOf(prompt: string): Promise<string | null> {
  const title = 'Set Up Remote Workers';
  const text = await vscode.window.showInputBox({ title, prompt, ignoreFocusOut: true });
  return text === undefined || text.trim() === '' ? null : text.trim();
}

const otherHost = 'Another host…';

async function pickHost(): Promise<string | null> {
  const file = join(process.env['HOME'] ?? homedir(), '.ssh', 'config');
  const hosts = existsSync(file) ? parseSshHosts(readFileSync(file, 'utf8')) : [];
  const title = 'Set Up Remote Workers';
  const chosen =
    hosts.length === 0
      ? otherHost
      : await vscode.window.showQuickPick([...hosts, otherHost], {
          title,
          placeHolder: 'Which host?',
        });
  if (chosen === otherHost) return await inputOf('Host, as you would name it to ssh');
  return chosen ?? null;
}

async function setKey({ extension, messages }: CommandContext, project: Project): Promise<void> {
  const config = project.board?.config ?? {};
  const token = config['remote.token_variable']?.value;
  const kind = config['remote.provisioner']?.value;
  const usual = kind === 'static' && typeof token === 'string' ? token : 'UKC_TOKEN';
  const title = 'Set Key of Remote Workers';
  const variable = await vscode.window.showInputBox({
    title,
    prompt: 'Environment variable for the key',
    value: usual,
    ignoreFocusOut: true,
    validateInput: (text) =>
      isVariableName(text.trim()) ? null : 'The name needs KEY, TOKEN, SECRET or PASSWORD in it.',
  });
  if (variable === undefined) return;
  const key = await vscode.window.showInputBox({
    title: `${title}: ${variable.trim()}`,
    prompt: 'Kept in the secret storage of VS Code. If empty, the stored key is removed.',
    password: true,
    ignoreFocusOut: true,
  });
  if (key === undefined) return;
  const named = { variable: variable.trim(), key: key.trim() };
  await storeRemoteKey(extension.secrets, project.root, named);
  const isGone = named.key === '';
  const words = isGone ? 'is removed' : 'is stored. The next run uses it';
  messages.tell('info', `The key for ${named.variable} ${words}.`);
}
