// An agent's connection to its backend, from the variables that its MCP server was started with.
// Loads little code, because each running agent has such a process.

import { Refusal } from '../core/failure.ts';
import type { AgentClient } from '../protocol/agent-requests.ts';
import { connectAgentSocket } from '../rpc/transport/client.ts';
import { ConnectFailure } from '../rpc/transport/errors.ts';
import { runningAddress } from '../project/project-places.ts';

/** How the server finds its backend and does its handshake. */
export const agentToolVariables = {
  root: 'DROVER_MCP_ROOT',
  token: 'DROVER_MCP_TOKEN',
  /** The agents' socket, because a confined agent cannot see the file that names the owner's. */
  socket: 'DROVER_MCP_SOCKET',
  /** `review` for an agent that reviews; otherwise absent. */
  role: 'DROVER_MCP_ROLE',
} as const;

export async function connectAgent(env: NodeJS.ProcessEnv): Promise<AgentClient> {
  const root = env[agentToolVariables.root] ?? '';
  const token = env[agentToolVariables.token] ?? '';
  if (root === '' || token === '') {
    throw new Refusal(
      'no_attempt',
      `${agentToolVariables.root} and ${agentToolVariables.token} are not set: only agents that Drover runs start this server.`,
    );
  }
  const own = env[agentToolVariables.socket] ?? '';
  const address = own === '' ? runningAddress(root) : { socket: own };
  try {
    if (address !== null) return await connectAgentSocket(address, token);
  } catch (error) {
    if (!(error instanceof ConnectFailure)) throw error;
    if (error.kind === 'refused') {
      throw new Refusal('token', 'The token does not belong to a running attempt.');
    }
  }
  throw new Refusal('backend', 'The Drover backend is not running. Try again later.');
}
