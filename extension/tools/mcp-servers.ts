// Offers `drover mcp` to all MCP clients in VS Code: one server for each repository of the window.

import { basename } from 'node:path';
import * as vscode from 'vscode';
import { droverVersion } from '../../server/protocol/version.ts';

export const mcpProviderId = 'drover.mcp';

/**
 * `environment`: the variables that a run of this repository needs in addition to VS Code's own.
 */
export function registerMcpServers(
  extensionUri: vscode.Uri,
  roots: () => readonly string[],
  environment: (root: string) => Promise<Readonly<Record<string, string>>>,
): vscode.Disposable {
  const changed = new vscode.EventEmitter<void>();
  const provider: vscode.McpServerDefinitionProvider<vscode.McpStdioServerDefinition> = {
    onDidChangeMcpServerDefinitions: changed.event,
    provideMcpServerDefinitions: () => mcpServers(extensionUri, roots()),
    resolveMcpServerDefinition: async (server) => {
      const root = server.cwd?.fsPath;
      if (root !== undefined) server.env = { ...server.env, ...(await environment(root)) };
      return server;
    },
  };
  return vscode.Disposable.from(
    changed,
    vscode.lm.registerMcpServerDefinitionProvider(mcpProviderId, provider),
    vscode.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    vscode.workspace.onDidGrantWorkspaceTrust(() => changed.fire()),
  );
}

/** Nothing of a repository runs before it is trusted. */
export function mcpServers(
  extensionUri: vscode.Uri,
  roots: readonly string[],
): vscode.McpStdioServerDefinition[] {
  if (!vscode.workspace.isTrusted) return [];
  const program = vscode.Uri.joinPath(extensionUri, 'dist', 'cli.js').fsPath;
  return roots.map((root) => {
    const label = roots.length === 1 ? 'Drover' : `Drover (${basename(root)})`;
    const args = ['--no-warnings', program, '-C', root, 'mcp'];
    // VS Code's own program is plain Node only with this variable.
    const env = { ELECTRON_RUN_AS_NODE: '1' };
    const server = new vscode.McpStdioServerDefinition(
      label,
      process.execPath,
      args,
      env,
      droverVersion,
    );
    server.cwd = vscode.Uri.file(root);
    return server;
  });
}
