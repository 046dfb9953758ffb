// Drover's MCP server for one agent, over standard input and output, until the agent closes them. A
// separate program, because each running agent has one: it loads nothing of the engine.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { droverVersion } from '../protocol/version.ts';
import { agentToolVariables, connectAgent } from '../agent-tools/connect-agent.ts';
import { defineReviewTools, defineTools, instructions } from '../agent-tools/mcp-tools.ts';

async function main(): Promise<void> {
  const server = new McpServer({ name: 'drover', version: droverVersion }, { instructions });
  // One connection per request: a working agent holds none, and the next backend is found
  // automatically.
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
