// Edits of the plan on the board: adding and removing dependencies, each of which can be undone.

import type { StatusSnapshot } from '../../server/protocol/views.ts';
import { AskFailure } from '../shared/asks.ts';
import type { Host } from '../shared/host.ts';
import { dropEdit, EditHistory, type Edit } from '../shared/plan/edits.ts';
import { blockOn, type Drop } from '../shared/plan/places.ts';

export interface BoardVoice {
  /** Announced to screen readers, and shown for a while. */
  readonly say: (words: string) => void;
  readonly fail: (words: string) => void;
}

export class BoardPlan {
  readonly #host: Host;
  readonly #voice: BoardVoice;
  readonly #history = new EditHistory();

  constructor(host: Host, voice: BoardVoice) {
    this.#host = host;
    this.#voice = voice;
  }

  /** The effect of an edge from one task to another; a loop is refused by name. */
  linkAt(board: StatusSnapshot, blocker: string, dependent: string): Drop {
    return blockOn(board, [dependent], blocker);
  }

  link(board: StatusSnapshot, blocker: string, dependent: string): void {
    const drop = this.linkAt(board, blocker, dependent);
    if (drop.kind === 'refused') return this.#voice.fail(drop.words);
    const edit = dropEdit(board, drop);
    if (edit !== null) this.#run(edit);
  }

  unlink(board: StatusSnapshot, blocker: string, dependent: string): void {
    const titleOf = (id: string): string => board.tasks.find((task) => task.id === id)?.title ?? id;
    this.#run({
      words: `${titleOf(dependent)} no longer waits for ${titleOf(blocker)}`,
      run: (host) => host.backend('task.edit', { id: dependent, remove_blockers: [blocker] }),
      undo: (host) => host.backend('task.edit', { id: dependent, add_blockers: [blocker] }),
    });
  }

  undo(): void {
    this.ask(async () => {
      const edit = await this.#history.undo(this.#host);
      this.#voice.say(edit === null ? 'Nothing to undo.' : `Undone: ${edit.words}`);
    });
  }

  redo(): void {
    this.ask(async () => {
      const edit = await this.#history.redo(this.#host);
      this.#voice.say(edit === null ? 'Nothing to redo.' : `Done again: ${edit.words}`);
    });
  }

  /** A refusal is shown with its own message. */
  ask(body: () => Promise<unknown>): void {
    body().catch((error: unknown) => {
      this.#voice.fail(error instanceof AskFailure ? error.message : String(error));
    });
  }

  #run(edit: Edit): void {
    this.ask(async () => {
      await this.#history.run(this.#host, edit);
      this.#voice.say(edit.words);
    });
  }
}
