// The unanswered requests of a webview. Requests in one turn of the page are sent as one message,
// because each message takes several hops through VS Code.

import type { Ask, FromWebview, Reply } from '../messages/messages.ts';
import { inflated } from './inflated.ts';

/** A refusal by the backend or the extension, with its sentence. */
export class AskFailure extends Error {
  readonly kind: string;

  constructor(kind: string, message: string) {
    super(message);
    this.kind = kind;
  }
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

const asksMax = 1000;

export class Asks {
  readonly #post: (message: FromWebview) => void;
  readonly #waiting = new Map<number, Waiting>();
  #unsent: Ask[] = [];
  #last = 0;

  constructor(post: (message: FromWebview) => void) {
    this.#post = post;
  }

  /** Sends requests to the backend, or to the extension itself. */
  to(to: Ask['to']): (name: Ask['name'], params: unknown) => Promise<unknown> {
    return (name, params) => {
      if (this.#waiting.size >= asksMax) {
        return Promise.reject(new AskFailure('busy', 'Too many requests at once.'));
      }
      this.#last += 1;
      const ask = this.#last;
      return new Promise((resolve, reject) => {
        this.#waiting.set(ask, { resolve, reject });
        this.#unsent.push({ ask, to, name, params } as Ask);
        if (this.#unsent.length === 1) queueMicrotask(() => this.#send());
      });
    };
  }

  answered(replies: readonly Reply[]): void {
    for (const reply of replies) {
      const asked = this.#take(reply.ask);
      if (!reply.ok) asked?.reject(new AskFailure(reply.error.kind, reply.error.message));
      else asked?.resolve('packed' in reply ? inflated(reply.packed) : reply.result);
    }
  }

  #send(): void {
    const asks = this.#unsent;
    this.#unsent = [];
    try {
      this.#post({ type: 'asks', asks });
    } catch (error) {
      // If one of them cannot be sent, its caller gets the error, and the next turn starts a new
      // batch.
      for (const { ask } of asks) this.#take(ask)?.reject(error);
    }
  }

  #take(ask: number): Waiting | undefined {
    const waiting = this.#waiting.get(ask);
    this.#waiting.delete(ask);
    return waiting;
  }
}
