// Claude Code on a worker: its print mode, read with the same translation and judged by the same
// facts as over its control protocol.

import type { AgentOutcome, AgentRequest, AgentSettings } from '../port.ts';
import type { AgentEvent, Usage } from '../../protocol/agent-events.ts';
import type { OneWayAgent, OneWayEnd, OneWayOwnEnd, OneWayReader } from '../kit/run/one-way-run.ts';
import { claudeEnvironment, claudeOneWayArguments } from './invocation.ts';
import { claudeOutcome, endByRetry } from './outcome.ts';
import { Translator } from './translate.ts';
import { addUsage } from '../kit/wire/usage.ts';
import { parseLine, textAt, type Json } from '../kit/wire/json-line.ts';

export function claudeOneWay(
  settings: AgentSettings,
  trusted: boolean,
  request: AgentRequest,
): OneWayAgent {
  const planning = request.planning === true;
  return {
    title: 'Claude Code',
    args: claudeOneWayArguments(settings, { trusted, planning }),
    env: claudeEnvironment(request.env, settings),
    reader: (usageBefore) => new ClaudeReader(request, usageBefore),
  };
}

class ClaudeReader implements OneWayReader {
  readonly #request: AgentRequest;
  readonly #usageBefore: Usage;
  /** Created at its first line, the only one that contains its folder. */
  #translator: Translator | null = null;
  #limitUntilMs: number | null = null;

  constructor(request: AgentRequest, usageBefore: Usage) {
    this.#request = request;
    this.#usageBefore = usageBefore;
  }

  take(line: string): { readonly events: readonly AgentEvent[]; readonly end?: OneWayOwnEnd } {
    const parsed = parseLine(line);
    if (parsed === null) return { events: [{ type: 'output', stream: 'stdout', text: line }] };
    const events: AgentEvent[] = [];
    let end: OneWayOwnEnd | null = null;
    for (const notice of this.#translation(parsed).take(parsed)) {
      if (notice.kind === 'event') events.push(notice.event);
      if (notice.kind !== 'retry') continue;
      end = endByRetry(notice.status, notice.delayMs, notice.error);
      if (end === 'limited') this.#limitUntilMs = Date.now() + notice.delayMs;
    }
    return end === null ? { events } : { events, end };
  }

  get isWaitingForModel(): boolean {
    const facts = this.#translator?.facts;
    return facts !== undefined && facts.result === null && facts.openTools.size === 0;
  }

  get usage(): Usage {
    const facts = this.#translator?.facts;
    if (facts === undefined) return this.#usageBefore;
    return [...facts.unaccounted.values()].reduce(addUsage, facts.usage);
  }

  outcome(end: OneWayEnd): AgentOutcome {
    const { timeoutMs, planning } = this.#request;
    const { facts } = this.#translation({});
    const limitUntilMs = this.#limitUntilMs;
    return claudeOutcome(facts, { ...end, timeoutMs, limitUntilMs, planning: planning === true });
  }

  #translation(line: Json): Translator {
    const { cwd, sessionId } = this.#request;
    this.#translator ??= new Translator({
      cwd: textAt(line, 'cwd') ?? cwd,
      sessionId: textAt(line, 'session_id') ?? sessionId,
      resumed: false,
      usageBefore: this.#usageBefore,
    });
    return this.#translator;
  }
}
