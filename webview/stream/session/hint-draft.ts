// A person's text for the agent until it is sent. A message that is being sent is not remembered
// any more: it would come back as a draft after it was taken, if the page shows another task by
// then or is closed.

import type { TaskView } from '../../../server/protocol/views.ts';
import type { Host } from '../../shared/host.ts';
import { followsUp, sendsBack } from '../header/task-actions.ts';

/** How a message gets to an agent. */
export interface Delivery {
  /** The message to report if it does not. */
  readonly refused: string;
  /** A hint waits until the agent has read it. */
  readonly isHint: boolean;
  readonly send: () => Promise<unknown>;
}

/** Decides by the state of the task: a follow-up, an answer to a review, or a hint. */
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
  /** The agent is to plan first; it counts for a follow-up alone. */
  readonly plansFirst: boolean;
}

export interface HintDraftParts {
  readonly memory: Host['memory'];
  /** True when it was taken. */
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
    // The user may have left its page: refused text is still theirs.
    if (!isTaken) memory.amend({ draft: this.text });
    changed();
  }
}
