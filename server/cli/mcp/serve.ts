// Drover's MCP server for one agent, over standard input and output, until the agent closes them.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { AgentClient } from '../../protocol/agent-requests.ts';
import { droverVersion } from '../../protocol/version.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { type Ask, defineTools, instructions } from './tools.ts';

export async function serveAgent(context: CommandContext): Promise<number> {
  const { env, loadBackends } = context.surroundings;
  const backends = await loadBackends();
  const server = new McpServer({ name: 'drover', version: droverVersion }, { instructions });
  defineTools(
    server,
    askEachTime(() => backends.connectAgent(env)),
  );
  const ended = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => resolve());
  });
  await server.connect(new StdioServerTransport());
  await ended;
  await server.close();
  return exitCodes.done;
}

/** A connection for each request: an agent holds none while it works, and the next backend is found by itself. */
function askEachTime(connect: () => Promise<AgentClient>): Ask {
  return async (name, params) => {
    const client = await connect();
    try {
      return await client.call(name, params);
    } finally {
      client.close();
    }
  };
}
