// The value that activation returns: the extension's real parts, for tests that run in the
// extension host.

import type * as vscode from 'vscode';
import type {
  BackendRequestName,
  BackendRequests,
  Connection,
} from '../../webview/messages/messages.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';

export interface ProjectForTests {
  readonly root: string;
  readonly connection: Connection;
  readonly board: StatusSnapshot | null;
  request<N extends BackendRequestName>(
    name: N,
    params: BackendRequests[N]['params'],
  ): Promise<BackendRequests[N]['result']>;
}

export interface DroverExports {
  /** How long `activate` itself took. */
  readonly activationMs: number;
  /** Loads everything that activation defers. */
  ready(): Promise<ExportsWhenReady>;
}

export interface ExportsWhenReady {
  projects(): readonly ProjectForTests[];
  /** Resolves when the current project's state satisfies `holds`; checks again at every change. */
  until(
    holds: (connection: Connection, board: StatusSnapshot | null) => boolean,
    timeoutMs: number,
  ): Promise<ProjectForTests | null>;
  /** Sentences that were shown as messages, oldest first (bounded). */
  readonly shown: readonly string[];
  /** Measurements that webviews made of themselves, latest first (bounded). */
  readonly measurements: readonly { readonly name: string; readonly ms: number }[];
  /** The MCP servers that are offered to VS Code, before their environment is resolved. */
  mcpServers(): readonly vscode.McpStdioServerDefinition[];
  /** Opens a Drover address, as if VS Code had been asked to. */
  openLink(path: string): Promise<void>;
}
