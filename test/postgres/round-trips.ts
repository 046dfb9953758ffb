// Counts the round trips of PostgreSQL's clients on the network: a client that sends after it got
// an answer has waited. The number does not depend on the machine's load.

import type { RoadListener } from './slow-road.ts';

export interface RoundTrips {
  /** All waits for an answer. */
  readonly all: number;
  /**
   * Waits during which the fleet's writers waited for this client, because it held the write turn.
   */
  readonly inTurns: number;
  readonly turns: number;
}

/** Messages that were sent together, and waited for together. */
export interface Burst {
  readonly atMs: number;
  readonly connection: number;
  readonly statements: readonly string[];
  /** Its first statement was sent in a turn that started in an earlier burst. */
  readonly isInTurn: boolean;
}

const startsTurn = /^begin isolation level read committed; select pg_advisory_xact_lock/;
const endsTurn = /^(commit|rollback)$/;

/** Observes a connection's bytes; `heard` gets each burst when its answer has arrived. */
export class RoundTripCounter {
  readonly #connections = new Map<number, Conversation>();
  readonly #heard: (burst: Burst) => void;
  #all = 0;
  #inTurns = 0;
  #turns = 0;

  constructor(heard: (burst: Burst) => void = () => undefined) {
    this.#heard = heard;
  }

  get counts(): RoundTrips {
    return { all: this.#all, inTurns: this.#inTurns, turns: this.#turns };
  }

  readonly listener: RoadListener = (connection, from, data) => {
    const known = this.#connections.get(connection);
    const conversation = known ?? new Conversation();
    if (known === undefined) this.#connections.set(connection, conversation);
    if (from === 'client') return conversation.take(data);
    const { statements, isInTurn, turns } = conversation.answered();
    if (statements.length === 0) return;
    this.#all += 1;
    this.#turns += turns;
    if (isInTurn) this.#inTurns += 1;
    this.#heard({ atMs: performance.now(), connection, statements, isInTurn });
  };
}

const typeBytes = 1;
const lengthBytes = 4;

class Conversation {
  #rest = Buffer.alloc(0);
  #hasStarted = false;
  readonly #prepared = new Map<string, string>();
  #statements: string[] = [];
  #isInTurn = false;
  #startedInTurn = false;
  #turns = 0;

  take(data: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, data]);
    for (;;) {
      const head = this.#hasStarted ? typeBytes : 0;
      if (this.#rest.length < head + lengthBytes) return;
      const end = head + this.#rest.readInt32BE(head);
      if (this.#rest.length < end) return;
      const body = this.#rest.subarray(head + lengthBytes, end);
      if (this.#hasStarted) this.#message(String.fromCharCode(this.#rest[0] ?? 0), body);
      this.#hasStarted = true;
      this.#rest = this.#rest.subarray(end);
    }
  }

  answered(): { statements: readonly string[]; isInTurn: boolean; turns: number } {
    const statements = this.#statements;
    const found = { statements, isInTurn: this.#startedInTurn, turns: this.#turns };
    if (statements.length > 0) {
      this.#statements = [];
      this.#turns = 0;
    }
    return found;
  }

  #message(type: string, body: Buffer): void {
    if (type === 'Q') this.#statement(textAt(body, 0));
    if (type === 'P') {
      const name = textAt(body, 0);
      this.#prepared.set(name, textAt(body, Buffer.byteLength(name) + 1));
    }
    if (type === 'B') {
      const portal = textAt(body, 0);
      const name = textAt(body, Buffer.byteLength(portal) + 1);
      this.#statement(this.#prepared.get(name) ?? '');
    }
  }

  #statement(text: string): void {
    const words = text.replace(/\s+/g, ' ').trim();
    if (this.#statements.length === 0) this.#startedInTurn = this.#isInTurn;
    this.#statements.push(words);
    if (startsTurn.test(words)) {
      this.#isInTurn = true;
      this.#turns += 1;
    }
    if (endsTurn.test(words)) this.#isInTurn = false;
  }
}

function textAt(body: Buffer, start: number): string {
  return body.toString('utf8', start, body.indexOf(0, start));
}
