// Getting started, and the next steps when something is missing.

import * as vscode from 'vscode';
import { formatCount } from '../../server/core/format.ts';
import { printedFailure } from '../backend/failure.ts';
import { plainText } from '../notices/plain-text.ts';
import { projectFile } from '../project/project-file.ts';
import { personEnvironment } from '../project/project.ts';
import { openSample } from '../project/sample-project.ts';
import { fleetVariables, isFleetDatabase, storeFleetDatabase } from '../project/secrets.ts';
import { setupReport } from '../project/setup-report.ts';
import type { RulesReport } from '../../webview/messages/messages.ts';
import { forgeReport } from '../project/forge-report.ts';
import { sandboxReport } from '../project/sandbox-report.ts';
import { readSettings } from '../project/settings.ts';
import { walkthroughId } from '../ids.ts';
import { withProject, type CommandContext, type Handlers } from './context.ts';
import { pickProject } from './pick.ts';
import { askAfterSetup } from './set-up.ts';

type GettingStarted =
  | 'drover.initialise'
  | 'drover.openSample'
  | 'drover.openWalkthrough'
  | 'drover.openFolder'
  | 'drover.createRepository'
  | 'drover.firstCommit'
  | 'drover.installGit'
  | 'drover.trustWorkspace'
  | 'drover.selectProject'
  | 'drover.reconnect'
  | 'drover.stopBackend'
  | 'drover.checkSetup'
  | 'drover.checkSandbox'
  | 'drover.checkForge'
  | 'drover.showOutput'
  | 'drover.openSettings'
  | 'drover.openProjectSettings'
  | 'drover.openSettingsGuide'
  | 'drover.setFleetDatabase';

const gitHome = 'https://git-scm.com/downloads';

export const gettingStartedHandlers: Handlers<GettingStarted> = {
  'drover.initialise': async (context) => {
    const folder = await pickFolder('Set Up Drover');
    if (folder === null) return;
    const printed = await command(context, ['init', '--json'], folder);
    await context.projects.look();
    context.projects.current?.connect();
    const { root } = JSON.parse(printed) as { readonly root: string };
    // The setup is complete, so an open question must not block anything.
    void askAfterSetup(context, root, printed).catch((error: unknown) => {
      context.messages.fail(null, error);
    });
  },
  'drover.openSample': ({ access, extension }) => openSample(access, extension.globalState),
  'drover.openWalkthrough': async ({ extension }) => {
    const id = `${extension.extension.id}#${walkthroughId}`;
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', id, false);
  },
  'drover.openFolder': async () => {
    await vscode.commands.executeCommand('vscode.openFolder');
  },
  'drover.createRepository': async (context) => {
    const folder = await pickFolder('Initialize Git Repository');
    if (folder === null) return;
    await context.access.createRepository(folder);
    await context.projects.look();
  },
  'drover.firstCommit': withProject(async ({ access }, { root }) => {
    const files = await access.filesToCommit(root);
    const commit = {
      label: `$(git-commit) Commit ${files.length === 0 ? 'without files' : formatCount(files.length, 'file')}`,
      detail: plainText(files.join(', ')),
    };
    const look = {
      label: '$(source-control) Open Source Control',
      detail: 'Choose what to commit.',
    };
    const chosen = await vscode.window.showQuickPick([commit, look], {
      title: 'Make a First Commit',
      placeHolder:
        'Every task starts from a commit. This one holds the files that git does not ignore.',
    });
    if (chosen === look) await vscode.commands.executeCommand('workbench.view.scm');
    if (chosen === commit) await access.commitAll(root, 'First commit');
  }),
  'drover.installGit': async () => {
    await vscode.env.openExternal(vscode.Uri.parse(gitHome));
  },
  'drover.trustWorkspace': async () => {
    await vscode.commands.executeCommand('workbench.trust.manage');
  },
  'drover.selectProject': async ({ projects }) => {
    const project = await pickProject(projects.all, 'Select Repository');
    if (project !== null) projects.select(project);
  },
  'drover.reconnect': async ({ projects }) => {
    await projects.look();
    projects.current?.connect();
  },
  'drover.stopBackend': withProject(async (context, project) => {
    const isBusy = (project.board?.counts.in_progress ?? 0) > 0;
    const detail = 'Running tasks are stopped first and resume at the next start.';
    if (isBusy && !(await context.messages.confirm('Stop the backend?', detail, 'Stop'))) return;
    project.pause();
    await command(context, ['server', 'stop', ...(isBusy ? ['--force'] : [])], project.root);
  }),
  'drover.checkSetup': async (context) => {
    const folder = context.projects.current?.root ?? (await pickFolder('Check Setup'));
    if (folder === null) return;
    const said = await doctor(context, folder);
    const { level, sentence, table } = setupReport(said);
    context.log.info(`drover doctor\n${table}`);
    const details = 'Show Details';
    void context.messages.show(level, sentence, [details]).then((pressed) => {
      if (pressed === details) context.log.show();
    });
  },
  'drover.checkSandbox': withProject(async (context, project) => {
    const said = await command(context, ['doctor', '--sandbox', '--json'], project.root);
    const { level, sentence, table } = sandboxReport(said);
    context.log.info(`drover doctor --sandbox\n${table}`);
    context.log.show();
    context.messages.tell(level, sentence);
  }),
  'drover.checkForge': withProject(async (context, project) => {
    context.showPanel('rules', { root: project.root, id: null, attempt: null });
  }),
  'drover.showOutput': async ({ log }) => log.show(),
  'drover.openSettings': async ({ extension }) => {
    const query = `@ext:${extension.extension.id}`;
    await vscode.commands.executeCommand('workbench.action.openSettings', query);
  },
  'drover.openProjectSettings': async ({ access }, _target, project) => {
    const folder = project?.root ?? (await pickFolder('Open .drover.toml'));
    if (folder === null) return;
    const state = project === null ? await access.rootOf(folder) : null;
    const root = state === null || state.kind === 'no_repository' ? folder : state.root;
    await vscode.window.showTextDocument(projectFile(root));
  },
  'drover.openSettingsGuide': async ({ extension }) => {
    const page = vscode.Uri.joinPath(extension.extensionUri, 'dist', 'guide', 'settings.md');
    await vscode.commands.executeCommand('markdown.showPreview', page);
  },
  'drover.setFleetDatabase': async ({ extension, messages, projects }) => {
    const project = projects.current;
    if (project === null) throw new Error('Set up Drover in this repository first.');
    const url = await vscode.window.showInputBox({
      title: `Database of the Fleet of ${project.name}`,
      prompt:
        'PostgreSQL that its machines share. Kept in the secret storage of VS Code; empty: the project is on this machine alone.',
      placeHolder: 'postgresql://drover:password@db.example:5432/drover',
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) =>
        text.trim() === '' || isFleetDatabase(text.trim())
          ? null
          : 'Use the form postgresql://user@host/database.',
    });
    if (url === undefined) return;
    await storeFleetDatabase(extension.secrets, project.root, url.trim());
    // A running backend keeps the environment that it started with.
    if (project.connection.kind !== 'connected') project.connect();
    else
      messages.tell(
        'info',
        'Stored. It takes effect when the backend restarts: stop this one, and reconnect.',
      );
  },
};

async function pickFolder(title: string): Promise<string | null> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const [only] = folders;
  if (!vscode.workspace.isTrusted) throw new Error('The workspace is not trusted.');
  if (folders.length <= 1) return only?.uri.fsPath ?? null;
  const items = folders.map(({ name, uri }) => ({ label: name, description: uri.fsPath, uri }));
  return (await vscode.window.showQuickPick(items, { title }))?.uri.fsPath ?? null;
}

export async function readRules(context: CommandContext, root: string): Promise<RulesReport> {
  return forgeReport(await doctor(context, root, ['--forge']));
}

/** An incomplete setup is also a valid answer. */
async function doctor(
  { access, extension }: CommandContext,
  folder: string,
  options: readonly string[] = [],
): Promise<string> {
  const environment = {
    ...personEnvironment(readSettings(vscode.Uri.file(folder))),
    ...(await fleetVariables(extension.secrets, folder)),
  };
  const { stdout, stderr } = await access.command(
    ['doctor', ...options, '--json'],
    folder,
    environment,
  );
  if (stdout.trim() === '') throw new Error(stderr.trim());
  return stdout;
}

async function command(
  { access, extension }: CommandContext,
  args: readonly string[],
  folder: string,
): Promise<string> {
  const environment = {
    ...personEnvironment(readSettings(vscode.Uri.file(folder))),
    ...(await fleetVariables(extension.secrets, folder)),
  };
  const { code, stdout, stderr } = await access.command(args, folder, environment);
  if (code === 0) return stdout;
  throw printedFailure(stdout) ?? new Error(stderr.trim() === '' ? stdout.trim() : stderr.trim());
}
