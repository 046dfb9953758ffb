// A simulated agent's plan for a task, drawn when the agent starts.

import { failure } from '../../server/core/failure.ts';
import type { AgentOutcome, AgentRequest } from '../../server/agents/port.ts';
import type { AgentKind } from '../../server/core/plan/task.ts';
import type { SeededChance } from '../doubles/seeded-chance.ts';
import type { AgentAct, AgentPlan } from '../doubles/simulated-agents.ts';
import { capabilitiesOf } from '../doubles/simulated-driver.ts';
import { heldName } from '../doubles/simulated-git.ts';
import { toolCalls } from './agent-tool-calls.ts';
import { flaws } from './scenario.ts';
import type { World } from './world.ts';

const moods = {
  nothing: 5,
  failed: 5,
  brokenSetup: 1,
  limited: 6,
  blocked: 4,
  held: 4,
  stalled: 1,
  bad: 4,
  half: 6,
  shared: 10,
  detached: 3,
} as const;

/** Part of everything that an agent writes while it should only plan. */
export const planMark = '(planned)';

type Mood = keyof typeof moods | 'good';

export function planAgent(
  world: World,
  chance: SeededChance,
  request: AgentRequest,
  kind: AgentKind,
): AgentPlan {
  const mood: Mood =
    !world.calm && chance.percent(world.scenario.moodShare) ? chance.weighted(moods) : 'good';
  const own = `src/${request.taskId}`;
  const { paceMs } = world.scenario;
  const slow = chance.percent(10) ? 4 * paceMs : paceMs;
  const act = (item: AgentAct): AgentPlan['acts'][number] => ({
    afterMs: chance.between(5, slow),
    act: item,
  });
  const marked = request.planning === true ? `${request.runId} ${planMark}` : request.runId;
  const write = (path: string, flag = ''): AgentPlan['acts'][number] =>
    act({ kind: 'write', path, mark: `${marked} ${flag}` });
  const acts = [];
  if (mood === 'detached') acts.push(act({ kind: 'detach' }));
  if (mood !== 'nothing') acts.push(write(own, flagOf(mood, chance)));
  if (world.calm) acts.push(act({ kind: 'mend', flaw: flaws }));
  if (mood === 'shared') acts.push(act({ kind: 'append', path: 'shared', mark: marked }));
  if (mood === 'held') acts.push(write(heldName));
  if (mood !== 'nothing' && chance.percent(25)) {
    acts.push(act({ kind: 'commit' }));
    if (chance.percent(50)) acts.push(write(`${own}.more`));
  }
  if (capabilitiesOf[kind]?.questions === true && chance.percent(world.calm ? 5 : 15))
    acts.push(act({ kind: 'ask', requestId: `q${chance.below(1000)}` }));
  for (const call of toolCalls(world)) acts.push(act({ kind: 'tool', call }));
  if (world.scenario.spends)
    acts.splice(chance.below(acts.length + 1), 0, ...spending(chance, act));
  const afterMs = mood === 'stalled' ? 20_000 : chance.between(5, slow);
  return { acts, end: { afterMs, outcome: (nowMs) => outcomeOf(mood, nowMs, chance) } };
}

/**
 * Turns with their usage, some of them identical repeatedly, and occasionally an overloaded
 * provider.
 */
function spending(
  chance: SeededChance,
  act: (item: AgentAct) => AgentPlan['acts'][number],
): AgentPlan['acts'][number][] {
  const acts = [];
  const isLoop = chance.percent(20);
  for (let turn = 0; turn < chance.below(8); turn += 1) {
    const id = `call-${turn}`;
    const input = { line: isLoop ? 0 : turn };
    const usage = {
      inputTokens: 100 * (turn + 1),
      outputTokens: 10 * (turn + 1),
      cacheReadTokens: 0,
      costUsd: chance.percent(50) ? turn + 1 : null,
    };
    const overload = { attempt: 1, delayMs: 500, status: 529, error: 'overloaded' };
    if (chance.percent(5)) acts.push(act({ kind: 'say', event: { type: 'retry', ...overload } }));
    acts.push(
      act({ kind: 'say', event: { type: 'tool_call', id, name: 'Read', title: 'Read', input } }),
      act({ kind: 'say', event: { type: 'tool_result', id, isError: false, text: '' } }),
      act({ kind: 'say', event: { type: 'usage', usage } }),
    );
  }
  return acts;
}

function flagOf(mood: Mood, chance: SeededChance): string {
  if (mood === 'bad') return '(bad)';
  if (mood === 'half') return chance.percent(50) ? '(half one)' : '(half two)';
  return '';
}

function outcomeOf(mood: Mood, nowMs: number, chance: SeededChance): AgentOutcome {
  switch (mood) {
    case 'failed':
      return { kind: 'failed', failure: failure('agent_failed', 'it gave up') };
    case 'brokenSetup':
      return { kind: 'failed', failure: failure('agent_auth', 'it is not signed in') };
    case 'stalled':
      return { kind: 'failed', failure: failure('agent_stalled', 'no sign of life') };
    case 'limited': {
      const untilMs = chance.percent(30) ? null : nowMs + chance.between(1_000, 30_000);
      return { kind: 'limited', untilMs, message: 'the account has reached its limit' };
    }
    case 'blocked':
      return { kind: 'done', summary: '', deniedTools: [], blockedReason: 'a key is missing' };
    case 'good':
    case 'nothing':
    case 'held':
    case 'bad':
    case 'half':
    case 'shared':
    case 'detached':
      return { kind: 'done', summary: 'done as asked', deniedTools: [] };
  }
}
