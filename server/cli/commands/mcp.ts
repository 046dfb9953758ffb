// `drover mcp`: an MCP server on standard input and output for the user's assistant, to plan, run,
// inspect and answer.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { droverVersion } from '../../protocol/version.ts';
import { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { untilInterrupted } from '../interrupt.ts';
import { defineTools, instructions, type Ask } from '../mcp/tools.ts';

/** Serves until the client closes its end. The protocol uses standard output exclusively. */
export async function mcp(context: CommandContext): Promise<number> {
  const { surroundings, directory } = context;
  const { findProject, initProject } = await surroundings.loadBackends();

  // Opens a client per call, so that the next call finds a new backend if the old one has exited or
  // was replaced.
  const ask: Ask = async (need, body) => {
    const call = new CommandContext(surroundings, { json: true, color: false, directory });
    try {
      return await body(await call.client(need));
    } finally {
      call.close();
    }
  };
  const ensureProject = async (): Promise<void> => {
    if (findProject(directory) === null) await initProject(directory, surroundings.env);
  };

  const server = new McpServer({ name: 'drover', version: droverVersion }, { instructions });
  defineTools(server, { ask, ensureProject, sleep: surroundings.sleep, nowMs: surroundings.nowMs });
  return await untilInterrupted(context, async (end) => {
    const { input, output } = surroundings.pipes();
    const transport = new StdioServerTransport(input, output);
    await server.connect(transport);
    const whenAnswered = watchRequests(transport);
    input.once('end', () => whenAnswered(() => end(exitCodes.done)));
    return () => void server.close();
  });
}

/** Calls back when all requests from before the end of the input have been answered. */
function watchRequests(transport: Transport): (listener: () => void) => void {
  const open = new Set<string | number>();
  let listener: (() => void) | null = null;
  const { onmessage } = transport;
  const send = transport.send.bind(transport);
  transport.onmessage = (message, extra) => {
    if ('method' in message && 'id' in message) open.add(message.id);
    // A canceled request gets no response.
    if ('method' in message && message.method === 'notifications/cancelled') {
      open.delete((message.params as { requestId: string | number }).requestId);
    }
    onmessage?.call(transport, message, extra);
  };
  transport.send = async (message, options) => {
    await send(message, options);
    if (!('method' in message) && message.id !== undefined) open.delete(message.id);
    if (open.size === 0) listener?.();
  };
  return (given) => {
    listener = given;
    if (open.size === 0) given();
  };
}
