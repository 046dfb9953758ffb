// The extension's entry. Activation only registers the entry points for VS Code; everything else is
// in a second bundle, which is loaded on the first request or if this window's repository has
// Drover set up.

import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import { personToolNames } from '../server/protocol/person-tools/tools.ts';
import { registerCodeActions } from './plan/code-actions.ts';
import type { DroverExports } from './tools/exports.ts';
import { commandIds, panelNames, sideViews, webviewIds } from './ids.ts';
import type { DroverWindow } from './drover-window.ts';
import { registerMcpServers } from './tools/mcp-servers.ts';

export function activate(context: vscode.ExtensionContext): DroverExports {
  const startedMs = performance.now();
  let loading: Promise<DroverWindow> | null = null;
  const load = (): Promise<DroverWindow> => {
    loading ??= import('./work/main.ts').then(({ openWindow }) => openWindow(context, startedMs));
    return loading;
  };
  for (const id of commandIds) {
    context.subscriptions.push(
      vscode.commands.registerCommand(id, async (...args: readonly unknown[]) => {
        await (await load()).runCommand(id, args);
      }),
    );
  }
  for (const name of sideViews) {
    const provider: vscode.WebviewViewProvider = {
      resolveWebviewView: async (view) => (await load()).resolveView(name, view),
    };
    context.subscriptions.push(
      vscode.window.registerWebviewViewProvider(webviewIds[name], provider),
    );
  }
  for (const name of panelNames) {
    const serializer: vscode.WebviewPanelSerializer = {
      deserializeWebviewPanel: async (panel, state: unknown) => {
        (await load()).restorePanel(name, panel, state);
      },
    };
    context.subscriptions.push(
      vscode.window.registerWebviewPanelSerializer(webviewIds[name], serializer),
    );
  }
  for (const name of personToolNames) {
    const tool: vscode.LanguageModelTool<unknown> = {
      prepareInvocation: async ({ input }) => (await load()).prepareTool(name, input),
      invoke: async ({ input }) => {
        const text = await (await load()).invokeTool(name, input);
        return new vscode.LanguageModelToolResult([new vscode.LanguageModelTextPart(text)]);
      },
    };
    context.subscriptions.push(vscode.lm.registerTool(name, tool));
  }
  context.subscriptions.push(
    vscode.window.registerUriHandler({ handleUri: async (uri) => (await load()).openLink(uri) }),
  );
  context.subscriptions.push(
    registerCodeActions(isSetUpHere),
    registerMcpServers(context.extensionUri, rootsHere, async (root) => {
      return await (await load()).mcpEnvironment(root);
    }),
  );
  if (isSetUpHere()) setImmediate(() => void load());
  const activationMs = performance.now() - startedMs;
  return { activationMs, ready: async () => (await load()).exports };
}

/**
 * Checks only names: it reads and runs nothing of the repository, so it is safe for untrusted ones
 * too.
 */
function isSetUpHere(): boolean {
  return rootsHere().length > 0;
}

function rootsHere(): readonly string[] {
  const roots = (vscode.workspace.workspaceFolders ?? []).flatMap(({ uri }) => {
    const root = uri.scheme === 'file' ? ancestors(uri.fsPath).find(holdsDrover) : undefined;
    return root === undefined ? [] : [root];
  });
  return [...new Set(roots)];
}

function holdsDrover(folder: string): boolean {
  return existsSync(join(folder, '.drover'));
}

function ancestors(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...ancestors(parent)];
}
