// All webviews, each opened on something to show.

import type { HostState, WebviewName } from '../../../webview/messages/messages.ts';
import { answerReads, type LogTexts } from './answers.ts';
import { type OpenOptions, type OpenWebview, openWebview } from './webview-page.ts';

/** Each webview with words of the small board that show once it is ready. */
export const everyWebview: readonly (readonly [WebviewName, string])[] = [
  ['tree', 'Write the parser'],
  ['inbox', 'May I run'],
  ['stream', 'I look at the tree first.'],
  ['grid', 'Print the tree'],
  ['board', 'Check types'],
  ['run', 'Write the parser'],
  ['plan', 'Can start at once'],
  ['worktrees', 'slot-1'],
  ['rules', 'Approvals'],
];

export async function openAny(
  name: WebviewName,
  options: OpenOptions = {},
  texts?: LogTexts,
): Promise<OpenWebview> {
  const subject: HostState['subject'] =
    name === 'stream' ? { id: 'print', attempt: 1 } : { id: null, attempt: null };
  return await openWebview(name, {
    ...options,
    state: { subject, ...options.state },
    prepare: (host) => {
      answerReads(host, texts);
      options.prepare?.(host);
    },
  });
}
