// A panel's view of the backend: a separate connection, and a board that is updated by changes.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Client, StatusSnapshot } from '../../../server/protocol/api.ts';
import { applyChanges } from '../../../server/protocol/board.ts';
import { connectRunning } from '../../../server/main/connect.ts';
import { backendNodeArgs } from '../../../server/main/start-backend.ts';
import { eventually } from './eventually.ts';
import { droverProgram } from './program.ts';
import type { Project } from './project.ts';

/**
 * Connects to the project's backend, or starts one. It uses the bundle under test, because a
 * backend run from the sources computes for seconds before it answers.
 */
export async function panelClient({ root, env }: Project): Promise<Client> {
  const running = await connectRunning(root);
  if (running !== null) return running;
  const backend = join(dirname(droverProgram()), 'backend.cjs');
  const options = { cwd: root, env, detached: true, stdio: 'ignore' } as const;
  spawn(process.execPath, [...backendNodeArgs, backend, root], options).unref();
  return await eventually('the backend answers', () => connectRunning(root));
}

/** A board that is updated only by changes. */
export class FollowedBoard {
  readonly #client: Client;
  board: StatusSnapshot;

  private constructor(client: Client, board: StatusSnapshot) {
    this.#client = client;
    this.board = board;
  }

  static async begin(client: Client): Promise<FollowedBoard> {
    return new FollowedBoard(client, await client.call('status', {}));
  }

  async follow(): Promise<void> {
    const changes = await this.#client.call('board.changes', { after: this.board.seq });
    assert.equal(changes.snapshot, null);
    const next = applyChanges(this.board, changes);
    assert.ok(next !== null);
    this.board = next;
  }

  /** Equal to the board that is read, if nothing happens in between. */
  async check(): Promise<boolean> {
    await this.follow();
    const read = await this.#client.call('status', {});
    if (read.seq !== this.board.seq) return false;
    // A run's settings are accepted shortly before the event of its start.
    if (!isDeepStrictEqual(settingsOf(read), settingsOf(this.board))) return false;
    // The branch belongs to git, so it moves shortly after the event of a landing.
    assert.deepEqual({ ...this.board, target: null }, { ...read, target: null });
    return true;
  }
}

function settingsOf({ config, unaccepted }: StatusSnapshot): unknown {
  return { config, unaccepted };
}
