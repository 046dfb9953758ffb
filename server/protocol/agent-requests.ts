// The requests that an agent may send to the backend, by name. Both ends use these types.

import type { AgentAnswers, agentShapes } from './requests/agents.ts';
import type { ParamsOf } from './requests/fields.ts';

export type AgentRequestName = keyof typeof agentShapes;
export type AgentParams<N extends AgentRequestName> = Readonly<ParamsOf<(typeof agentShapes)[N]>>;
export type AgentResult<N extends AgentRequestName> = AgentAnswers[N];

export type AgentHandlers = {
  readonly [N in AgentRequestName]: (params: AgentParams<N>) => Promise<AgentResult<N>>;
};

/** The client of one attempt's agent. */
export interface AgentClient {
  call<N extends AgentRequestName>(name: N, params: AgentParams<N>): Promise<AgentResult<N>>;
  close(): void;
}
