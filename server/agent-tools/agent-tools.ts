// Gives each part of an attempt a token, and the command that starts Drover's MCP server with it.
// The token is in a run file that only this user can read, so that the next backend recognizes an
// agent that outlives this one.

import { createHash, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { AgentTools } from '../agents/port.ts';
import type { AgentHandlers } from '../protocol/agent-requests.ts';
import { createAgentHandlers } from '../rpc/handlers/agent-tools.ts';
import type { AgentDoor } from '../rpc/transport/connection.ts';
import { agentToolVariables } from './connect-agent.ts';
import { ownProgram } from '../project/own-program.ts';
import type { Project } from '../project/opened-project.ts';
import { AgentNotes } from '../rpc/handlers/agent-messages.ts';
import type { AgentScope, AgentToolsDoor, Engine } from '../workflows/kit/engine-ports.ts';

interface OpenPart {
  readonly scope: AgentScope;
  readonly notes: AgentNotes;
}

export class AgentToolTokens implements AgentToolsDoor {
  readonly #root: string;
  /** Whether the current settings give agents tools. */
  readonly #isWanted: () => boolean;
  /** Keyed by the digest of the token, so that the time of a lookup reveals nothing about it. */
  readonly #parts = new Map<string, OpenPart>();
  readonly #byLog = new Map<string, string>();

  /** The socket through which agents reach the backend; null = the address that the owner uses. */
  readonly #socket: string | null;

  constructor(root: string, socket: string | null, isWanted: () => boolean) {
    this.#root = root;
    this.#socket = socket;
    this.#isWanted = isWanted;
  }

  async open(
    scope: AgentScope,
    logPath: string,
    mark: string,
  ): Promise<{ readonly tools: AgentTools; readonly token: string } | null> {
    if (!this.#isWanted()) return null;
    const configPath = configPathOf(logPath);
    const known = readToken(configPath);
    const token = known ?? randomBytes(32).toString('hex');
    const place = { root: this.#root, socket: this.#socket };
    const isReview = scope.review !== undefined;
    const tools = toolsFor(place, mark, token, { configPath, isReview });
    if (known === null) writeConfig(tools);
    const digest = digestOf(token);
    const notes = this.#parts.get(digest)?.notes ?? new AgentNotes();
    this.#parts.set(digest, { scope, notes });
    this.#byLog.set(logPath, digest);
    return { tools, token };
  }

  async close(logPath: string): Promise<void> {
    const digest = this.#byLog.get(logPath);
    if (digest !== undefined) this.#parts.delete(digest);
    this.#byLog.delete(logPath);
    rmSync(configPathOf(logPath), { force: true });
  }

  partOf(token: string): OpenPart | null {
    return this.#parts.get(digestOf(token)) ?? null;
  }
}

export function agentDoor(
  project: Project,
  engine: Engine,
  tokens: Pick<AgentToolTokens, 'partOf'>,
): AgentDoor {
  const deps = { engine, settings: () => project.live.settings };
  return {
    open: (token): AgentHandlers | null => {
      const part = tokens.partOf(token);
      return part === null ? null : createAgentHandlers(deps, part.scope, part.notes);
    },
  };
}

function configPathOf(logPath: string): string {
  return `${logPath}.mcp.json`;
}

function digestOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function toolsFor(
  { root, socket }: { readonly root: string; readonly socket: string | null },
  mark: string,
  token: string,
  { configPath, isReview }: { readonly configPath: string; readonly isReview: boolean },
): AgentTools {
  return {
    command: process.execPath,
    args: ['--no-warnings', ownProgram('mcp.cjs', 'mcp-main')],
    env: {
      [agentToolVariables.root]: root,
      [agentToolVariables.token]: token,
      ...(isReview ? { [agentToolVariables.role]: 'review' } : {}),
      ...(socket === null ? {} : { [agentToolVariables.socket]: socket }),
      // Killing the agent's processes also kills this one, which is found by this mark.
      DROVER_RUN: mark,
      // The backend may be run by an editor's program, which acts as Node only with this variable.
      ...(process.versions['electron'] === undefined ? {} : { ELECTRON_RUN_AS_NODE: '1' }),
    },
    configPath,
  };
}

function writeConfig({ command, args, env, configPath }: AgentTools): void {
  mkdirSync(dirname(configPath), { recursive: true });
  // Some agents ignore a server that lists no tools.
  const servers = { mcpServers: { drover: { type: 'stdio', command, args, env, tools: ['*'] } } };
  writeFileSync(configPath, JSON.stringify(servers), { mode: 0o600 });
}

/** The token that an earlier backend gave this part, or null. */
function readToken(configPath: string): string | null {
  try {
    const { mcpServers } = JSON.parse(readFileSync(configPath, 'utf8')) as {
      mcpServers?: { drover?: { env?: Record<string, unknown> } };
    };
    const token = mcpServers?.drover?.env?.[agentToolVariables.token];
    return typeof token === 'string' && /^[0-9a-f]{64}$/.test(token) ? token : null;
  } catch {
    return null;
  }
}
