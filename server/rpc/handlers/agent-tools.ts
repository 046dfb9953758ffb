// The requests that an agent may make for one part of one attempt. Its token allows nothing else.

import type { AgentHandlers } from '../../protocol/agent-requests.ts';
import { boardForAgent, taskForAgent } from './agent-board.ts';
import { addForAgent, blockForAgent } from './agent-plan.ts';
import { submitReview } from '../reviews/submit-review.ts';
import { rememberForAgent } from '../notes/remember.ts';
import { type AgentNotes, askForAgent } from './agent-messages.ts';
import type { AgentHandlerDeps } from './agent-deps.ts';
import type { AgentScope } from '../../workflows/kit/engine-ports.ts';

export function createAgentHandlers(
  deps: AgentHandlerDeps,
  scope: AgentScope,
  notes: AgentNotes,
): AgentHandlers {
  const { db } = deps.engine.store;
  return {
    'agent.task': ({ id }) => taskForAgent(db, scope, id),
    'agent.board': () => boardForAgent(db, scope),
    'agent.add': (given) => addForAgent(deps, scope, given),
    'agent.block': (given) => blockForAgent(deps, scope, given),
    'agent.ask': (given) => askForAgent(deps, scope, given),
    'agent.progress': (given) => notes.add(deps, scope, given),
    'agent.review': (given) => submitReview(deps, scope, given),
    'agent.remember': (given) => rememberForAgent(deps, scope, given),
  };
}
