// Replies to what was asked together go back together, so far as they are ready about then.

import type { Reply } from '../../webview/messages/messages.ts';

/** So long a reply waits for others at most: half a frame. */
const togetherMs = 8;

/** Posts each reply once; an answer is null where nobody waits for it. None may be rejected. */
export function answerTogether(
  answers: readonly Promise<Reply | null>[],
  post: (replies: readonly Reply[]) => void,
): void {
  let open = answers.length;
  let ready: Reply[] = [];
  let timer: NodeJS.Timeout | null = null;
  const flush = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (ready.length > 0) post(ready);
    ready = [];
  };
  for (const answer of answers) {
    void answer.then((reply) => {
      open -= 1;
      if (reply !== null) ready.push(reply);
      if (open === 0) flush();
      else if (ready.length > 0) timer ??= setTimeout(flush, togetherMs);
    });
  }
}
