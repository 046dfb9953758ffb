// A person's text for the agent until it is sent. A message that is being sent is no longer
// remembered: otherwise it would come back as a draft after it was accepted, if the page was closed
// or showed another task by then.

import type { TaskView } from '../../../server/protocol/views.ts';
import type { Host } from '../../shared/host.ts';
import { followsUp, sendsBack } from '../header/task-actions.ts';

/** How a message reaches an agent. */
export interface Delivery {
  /** The error to report if it does not. */
  readonly refused: string;
  /** A hint is pending until the agent has read it. */
  readonly isHint: boolean;
  readonly send: () => Promise<unknown>;
}

/** Determined by the task's state: a follow-up, an answer to a review, or a hint. */
export function deliveryTo(
  host: Host,
  id: string,
  task: TaskView | null,
  { text, plansFirst }: ComposedMessage,
): Delivery {
  if (followsUp(task)) {
    const send = (): Promise<unknown> => host.action('followUp', { task: id, text, plansFirst });
    return { refused: 'No task was added', isHint: false, send };
  }
  if (sendsBack(task)) {
    const send = (): Promise<unknown> => host.action('sendBack', { id, text });
    return { refused: 'Not sent back', isHint: false, send };
  }
  const send = (): Promise<unknown> => host.backend('task.hint', { id, text });
  return { refused: 'The hint was not sent', isHint: true, send };
}

/** A message that a person sends from the composer. */
export interface ComposedMessage {
  readonly text: string;
  /** The agent should plan first; this applies only to a follow-up. */
  readonly plansFirst: boolean;
}

export interface HintDraftParts {
  readonly memory: Host['memory'];
  /** True if it was accepted. */
  readonly send: (message: ComposedMessage) => Promise<boolean>;
  readonly changed: () => void;
}

export class HintDraft {
  text: string;
  #sending: string | null = null;
  readonly #parts: HintDraftParts;

  constructor(text: string, parts: HintDraftParts) {
    this.text = text;
    this.#parts = parts;
  }

  get isSending(): boolean {
    return this.#sending !== null;
  }

  /** Excludes the message being sent, so the user can keep typing. */
  get kept(): string {
    const text = this.text.trimStart();
    if (this.#sending === null || !text.startsWith(this.#sending)) return this.text;
    return text.slice(this.#sending.length).trimStart();
  }

  async send(message: ComposedMessage): Promise<void> {
    const { text } = message;
    const { memory, send, changed } = this.#parts;
    this.#sending = text;
    memory.amend({ draft: this.kept });
    changed();
    const isTaken = await send(message);
    if (isTaken) this.text = this.kept;
    this.#sending = null;
    // The user may have left the page, but refused text must not be lost.
    if (!isTaken) memory.amend({ draft: this.text });
    changed();
  }
}
