// The pull request of an epic: its waits, and the actions on it.

import type { PullView } from '../../protocol/run-views.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

export async function pullRequest(context: CommandContext, id: string): Promise<number> {
  const client = await context.client('data');
  const pull = await client.call('epic.pull', { id });
  const none = `${id} has no pull request: "drover run --epic ${id} --land pr" opens one.`;
  context.answer(pull, pull === null ? none : pullLines(pull).map(plainLine).join('\n'));
  return exitCodes.done;
}

function pullLines(pull: PullView): readonly string[] {
  const { number, state, url, branch, base, note, unread, given, stack, unsent } = pull;
  return [
    `PR #${number} ${state}: ${url}`,
    `${branch} into ${base}, at ${pull.head.slice(0, 12)}`,
    ...(note === null ? [] : [note]),
    ...stack.map((level) => `${level.state} PR #${level.number}: ${level.url} (${level.branch})`),
    ...unread.map(({ fact, why }) => `not read: ${fact} (${why})`),
    ...unsent.map(
      ({ kind, answer }) => `to be sent: ${kind}${answer === null ? '' : ` (${answer})`}`,
    ),
    ...given.map(({ about, task }) => `${about}: ${task ?? 'shown to you alone'}`),
  ];
}
