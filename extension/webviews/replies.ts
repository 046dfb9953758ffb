// Replies to the requests of one batch are sent together if they are ready at about the same time;
// long ones are compressed.

import type { Ask, Reply, WebviewRequestName } from '../../webview/messages/messages.ts';
import { deflated } from './board-bytes.ts';

/** Their answers are lists of objects that grow with a project's history. */
const longAnswers: ReadonlySet<string> = new Set<WebviewRequestName>([
  'report',
  'runs.list',
  'past.status',
]);
/** A shorter answer arrives sooner without compression. */
const packedCharsMin = 16_384;

/** The answer to a request, compressed if that is faster. */
export function replyTo({ ask, name }: Pick<Ask, 'ask' | 'name'>, result: unknown): Reply {
  const json = longAnswers.has(name) ? JSON.stringify(result) : '';
  return json.length < packedCharsMin
    ? { ask, ok: true, result }
    : { ask, ok: true, packed: deflated(json) };
}

/** Longest time that a reply waits for others: half a frame. */
const togetherMs = 8;

type Post = (replies: readonly Reply[]) => void;

/**
 * Posts each reply once; null is posted if no answer is expected. None of the promises may be
 * rejected.
 */
export function answerTogether(answers: readonly Promise<Reply | null>[], post: Post): void {
  const gathered = new GatheredReplies(answers.length, post);
  for (const answer of answers) void answer.then((reply) => gathered.take(reply));
}

class GatheredReplies {
  readonly #post: Post;
  #open: number;
  #ready: Reply[] = [];
  #timer: NodeJS.Timeout | null = null;

  constructor(open: number, post: Post) {
    this.#open = open;
    this.#post = post;
  }

  take(reply: Reply | null): void {
    this.#open -= 1;
    if (reply !== null) this.#ready.push(reply);
    if (this.#open === 0) this.#flush();
    else if (this.#ready.length > 0) this.#timer ??= setTimeout(() => this.#flush(), togetherMs);
  }

  #flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    if (this.#ready.length > 0) this.#post(this.#ready);
    this.#ready = [];
  }
}
