// Drover's MCP server for one agent, on standard input and output, until the agent closes them. It
// is a separate program that does not load the engine, because each running agent has one.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { droverVersion } from '../protocol/version.ts';
import { agentToolVariables, connectAgent } from '../agent-tools/connect-agent.ts';
import { defineReviewTools, defineTools, instructions } from '../agent-tools/mcp-tools.ts';

async function main(): Promise<void> {
  const server = new McpServer({ name: 'drover', version: droverVersion }, { instructions });
  // One connection per request, so that an agent holds none while it works and automatically finds
  // a restarted backend.
  const isReview = process.env[agentToolVariables.role] === 'review';
  const define = isReview ? defineReviewTools : defineTools;
  define(server, async (name, params) => {
    const client = await connectAgent(process.env);
    try {
      return await client.call(name, params);
    } finally {
      client.close();
    }
  });
  for (const event of ['end', 'close', 'error']) process.stdin.once(event, () => process.exit(0));
  await server.connect(new StdioServerTransport());
}

void main();
