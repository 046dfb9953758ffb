// Simulated agents' requests to the backend while they work: sub-tasks, follow-ups and blockers,
// with the same handlers that real agents reach through the MCP server.

import { Refusal } from '../../server/core/failure.ts';
import type { AgentHandlers } from '../../server/protocol/agent-requests.ts';
import type { AgentRequest } from '../../server/agents/port.ts';
import { createAgentHandlers } from '../../server/rpc/handlers/agent-tools.ts';
import type { World } from './world.ts';
import { AgentNotes } from '../../server/rpc/handlers/agent-messages.ts';

/** Bounds a world, because added tasks have agents that also add tasks. */
const addedMax = 5;

type ToolCall = (request: AgentRequest, done: () => void) => void;

export function toolCalls(world: World): readonly ToolCall[] {
  const chance = world.toolChance;
  if (world.calm || !chance.percent(world.scenario.toolShare)) return [];
  return Array.from({ length: chance.between(1, 2) }, () => (request, done) => {
    const { life } = world;
    const scope = life?.scopes.get(request.logPath);
    // No backend is running, or the token is unknown: the agent gets an error, and continues.
    if (life === null || !life.alive || scope === undefined) return done();
    const settings = (): { maxAttempts: number; defaultLabels: string[] } => ({
      maxAttempts: 2,
      defaultLabels: [],
    });
    const deps = { engine: life.engine, settings };
    life.onDeath.push(done);
    ask(world, request, createAgentHandlers(deps, scope, new AgentNotes())).then(
      (words) => {
        if (!life.alive) return;
        world.tell(`${request.runId}: ${words}`);
        done();
      },
      (error: unknown) => {
        if (!life.alive) return;
        if (!(error instanceof Refusal)) return world.unexpected(error);
        world.tell(`${request.runId} is refused: ${error.message}`);
        done();
      },
    );
  });
}

async function ask(world: World, request: AgentRequest, handlers: AgentHandlers): Promise<string> {
  const chance = world.toolChance;
  const [count] = world.rows<{ n: number }>(
    "select count(*) as n from events where type = 'agent.added'",
  );
  if (chance.percent(30) || (count?.n ?? 0) >= addedMax) {
    const tasks = world.rows<{ id: string }>('select id from tasks order by position');
    const { id: by } = chance.pick(tasks);
    return (await handlers['agent.block']({ by })).message;
  }
  const kind = chance.percent(60) ? 'sub_task' : 'follow_up';
  const title = `${kind} ${chance.below(3)} of ${request.taskId}`;
  return (await handlers['agent.add']({ kind, title })).message;
}
