// Pauses agents while this machine is disconnected from its fleet, instead of stopping them. A
// short outage of the database then costs nothing, and a paused agent cannot change work that
// another machine may have taken over.

import type { AgentProcess } from '../../agents/port.ts';
import type { StandStill } from '../../durable/port.ts';
import type { Claim } from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';
import { agentRunId } from './run-ids.ts';

const standsNote =
  'The database of the fleet does not answer: the agent stands still until it is back.';
const goesOnNote = 'The database of the fleet is back: the agent continues.';

/** Whether a part's agent runs here or on a worker. */
export interface AgentPlace {
  readonly part: string;
  readonly runsOn: 'local' | 'remote';
}

export class AgentStill implements StandStill {
  readonly #engine: Uses<'places' | 'processes' | 'report' | 'switchboard'>;
  readonly #taskId: string;
  readonly #runId: string;
  readonly #isHere: boolean;
  #process: AgentProcess | null = null;
  /** The paused process. */
  #still: AgentProcess | null = null;

  constructor(
    engine: Uses<'places' | 'processes' | 'report' | 'switchboard'>,
    claim: Pick<Claim, 'taskId' | 'attempt'>,
    { part, runsOn }: AgentPlace,
  ) {
    this.#engine = engine;
    this.#taskId = claim.taskId;
    this.#runId = agentRunId(engine, claim.taskId, claim.attempt, part);
    // This machine cannot signal an agent on a worker.
    this.#isHere = runsOn === 'local';
  }

  /** `process` is null after the agent has ended. */
  runsAs(process: AgentProcess | null): void {
    this.#process = process;
  }

  async begin(): Promise<boolean> {
    const process = this.#process;
    if (process === null || !this.#isHere) return false;
    const stands = await this.#tried(async () => {
      const isStill = await this.#engine.processes.standStill(this.#runId, process);
      if (isStill) this.#engine.switchboard.note(this.#taskId, standsNote);
      return isStill;
    });
    if (stands === true) this.#still = process;
    return stands === true;
  }

  async goOn(): Promise<void> {
    const process = this.#still;
    this.#still = null;
    if (process === null) return;
    await this.#tried(async () => {
      await this.#engine.processes.goOn(this.#runId, process);
      this.#engine.switchboard.note(this.#taskId, goesOnNote);
    });
  }

  async end(): Promise<void> {
    const process = this.#still;
    this.#still = null;
    await this.#tried(() => this.#engine.processes.endTree(this.#runId, process, 0));
  }

  async #tried<T>(body: () => Promise<T>): Promise<T | null> {
    try {
      return await body();
    } catch (error) {
      this.#engine.report(error, `letting the agent of ${this.#taskId} stand still`);
      return null;
    }
  }
}
