// The agent that works on tasks: which one it is, how to install it, and the key that it uses to
// sign in.

import * as vscode from 'vscode';
import type { AgentKind } from '../../server/core/plan/task.ts';
import { agentTitle } from '../../server/core/plan/agent-titles.ts';
import { agentRows, type AgentRow } from '../project/agent-rows.ts';
import { changeProjectFile } from '../project/project-file.ts';
import { personEnvironment, type Project } from '../project/project.ts';
import { isVariableName, removeKey, storeKey } from '../project/secrets.ts';
import { readSettings, writeUserSetting } from '../project/settings.ts';
import { withTable } from '../../server/core/settings/toml-text.ts';
import type { CommandContext, Handlers } from './context.ts';

type AgentCommand =
  | 'drover.installAgent'
  | 'drover.selectAgent'
  | 'drover.setApiKey'
  | 'drover.removeApiKey';

export const agentHandlers: Handlers<AgentCommand> = {
  'drover.installAgent': async ({ messages }) => {
    const line = 'npm install -g @anthropic-ai/claude-code';
    messages.tell('info', `${openInstall('Claude Code', line)}.`);
  },
  'drover.selectAgent': async (context) => {
    const chosen = await pickAgent(context, {
      title: 'Select Agent',
      placeHolder: 'Which agent works on your tasks?',
    });
    if (chosen === null) return;
    if (chosen.kind === 'chosen') await save(context, chosen.agent, chosen.label);
    else {
      const toDo = openInstall(chosen.label, chosen.line);
      context.messages.tell('info', `${toDo}, then select it again.`);
    }
  },
  'drover.setApiKey': async ({ extension, messages }) => {
    const variable = readSettings(null).apiKeyVariable;
    if (!isVariableName(variable)) throw new Error(`${variable} is not the name of a variable.`);
    const key = await vscode.window.showInputBox({
      title: `Key for ${variable}`,
      prompt: 'Kept in the secret storage of VS Code; agents get it as a variable.',
      password: true,
      ignoreFocusOut: true,
    });
    if (key === undefined || key.trim() === '') return;
    await storeKey(extension.secrets, variable, key.trim());
    messages.tell('info', `The key is stored. Runs get it as ${variable}.`);
  },
  'drover.removeApiKey': async ({ extension, messages }) => {
    const variable = readSettings(null).apiKeyVariable;
    await removeKey(extension.secrets, variable);
    messages.tell('info', `The key for ${variable} was removed.`);
  },
};

interface AgentItem extends vscode.QuickPickItem {
  readonly row?: AgentRow;
}

type AgentAnswer =
  | { readonly kind: 'chosen'; readonly agent: AgentKind; readonly label: string }
  /** The agent is not installed: `line` installs it. */
  | {
      readonly kind: 'missing';
      readonly agent: AgentKind;
      readonly label: string;
      readonly line: string;
    };

/** The one list of agents: ready ones first. Returns null if the user canceled. */
export async function pickAgent(
  context: CommandContext,
  texts: { readonly title: string; readonly placeHolder: string },
): Promise<AgentAnswer | null> {
  const chosen = await vscode.window.showQuickPick(agentItems(context), {
    ...texts,
    matchOnDescription: true,
    ignoreFocusOut: true,
  });
  if (chosen?.row === undefined) return null;
  const { kind, label, install } = chosen.row;
  if (install === null) return { kind: 'chosen', agent: kind, label };
  return { kind: 'missing', agent: kind, label, line: install };
}

/**
 * Types the command line into a terminal and focuses the terminal, so ask every question first.
 * Returns the next step as the start of a sentence.
 */
export function openInstall(label: string, line: string): string {
  openTerminal(`Install ${label}`, line);
  return `Press Enter in the terminal to install ${label}`;
}

export function openSignIn(kind: string, line: string): string {
  const title = agentTitle(kind);
  openTerminal(`Sign In to ${title}`, line);
  return `Press Enter in the terminal to sign in to ${title}`;
}

/** The command is typed but not run, because installing is the person's decision. */
function openTerminal(name: string, line: string): void {
  const terminal = vscode.window.createTerminal({ name });
  terminal.show();
  void untilPrompt(terminal).then(() => {
    if (terminal.exitStatus === undefined) terminal.sendText(line, false);
  });
}

/** A shell without VS Code's integration does not report its prompt. */
const promptMaxMs = 3_000;

/** A line that is typed before the shell reads its input would be shown twice. */
function untilPrompt(terminal: vscode.Terminal): Promise<void> {
  return new Promise((resolve) => {
    const integrated = vscode.window.onDidChangeTerminalShellIntegration((change) => {
      if (change.terminal === terminal) end();
    });
    const timer = setTimeout(end, promptMaxMs);
    function end(): void {
      clearTimeout(timer);
      integrated.dispose();
      resolve();
    }
  });
}

/** `drover doctor` lists the agents of this machine; it starts no agent's work. */
async function agentItems({ access, projects }: CommandContext): Promise<readonly AgentItem[]> {
  const folder = projects.current?.root ?? vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const settings = readSettings(null);
  const doctor =
    folder === undefined
      ? ''
      : await access
          .command(['doctor', '--json'], folder, personEnvironment(settings))
          .then(({ stdout }) => stdout)
          .catch(() => '');
  return agentRows(doctor, settings.agent).flatMap((row): AgentItem[] => {
    const { label, description, detail, group } = row;
    const separator = { label: group, kind: vscode.QuickPickItemKind.Separator };
    return [...(group === '' ? [] : [separator]), { label, description, detail, row }];
  });
}

/** Where the choice is saved; without a project, only the person's own settings are available. */
async function save(
  { messages, projects: { current: project } }: CommandContext,
  agent: AgentKind,
  label: string,
): Promise<void> {
  const place = project === null ? 'user' : await pickPlace(project);
  switch (place) {
    case null:
      return;
    case 'user': {
      await writeUserSetting('agent', agent);
      messages.tell('info', `${label} works on your tasks (user setting drover.agent).`);
      return;
    }
    case 'project': {
      const { root, name } = project as Project;
      const change = (text: string): string | null => withTable(text, 'agent', { kind: agent });
      await changeProjectFile(root, 'the agent', change);
      const own = readSettings(null).agent;
      const saved = `${label} is the agent in .drover.toml of ${name}. Commit that file to share it.`;
      if (own === '' || own === agent) return messages.tell('info', saved);
      const words = `${saved} Your user setting drover.agent still selects ${own}.`;
      const remove = 'Remove My Setting';
      if ((await messages.show('warning', words, [remove])) === remove)
        await writeUserSetting('agent', '');
    }
  }
}

async function pickPlace({ name }: Project): Promise<'user' | 'project' | null> {
  const items = [
    {
      label: '$(account) For me, in all repositories',
      detail: 'Saved in your user settings as drover.agent.',
      place: 'user' as const,
    },
    {
      label: `$(repo) For everyone who works on ${name}`,
      detail: 'Saved in .drover.toml, a file to commit.',
      place: 'project' as const,
    },
  ];
  const title = 'Select Agent: Save';
  const placeHolder = 'For whom does this choice apply?';
  return (await vscode.window.showQuickPick(items, { title, placeHolder }))?.place ?? null;
}
