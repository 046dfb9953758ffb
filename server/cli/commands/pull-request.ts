// The commands for an epic's pull request.

import { Refusal } from '../../core/failure.ts';
import { mergeModes } from '../../core/forge/pull-facts.ts';
import type { PullSwitches } from '../../core/forge/pull-switches.ts';
import { threadPlace } from '../../core/forge/pull-replies.ts';
import type { Params } from '../../protocol/api.ts';
import type { PullThreadView, PullView } from '../../protocol/run-views.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';

export interface PullRequestOptions {
  readonly reply?: string;
  readonly watch?: string;
  readonly fix?: string;
  readonly merge?: string;
}

export async function pullRequest(
  context: CommandContext,
  id: string,
  text: string | undefined,
  options: PullRequestOptions,
): Promise<number> {
  const { reply: thread } = options;
  if ((thread === undefined) !== (text === undefined)) {
    const example = `drover pr ${id} --reply <thread> "text"`;
    throw new Refusal('bad_request', `A reply needs a thread and a text: ${example}.`);
  }
  const client = await context.client('data');
  if (thread !== undefined && text !== undefined) {
    const pull = await client.call('epic.reply', { id, thread, text });
    const later = 'The backend sends it; this command without a text shows if it could.';
    context.answer(pull, `The reply is planned. ${later}`);
    return exitCodes.done;
  }
  const change = switchesIn(options);
  if (Object.keys(change).length > 0) await client.call('epic.switch', { id, ...change });
  const pull = await client.call('epic.pull', { id });
  const none = `${id} has no pull request: "drover run --epic ${id} --land pr" opens one.`;
  context.answer(pull, pull === null ? none : pullLines(pull).map(plainLine).join('\n'));
  return exitCodes.done;
}

function switchesIn({ watch, fix, merge }: PullRequestOptions): Omit<Params<'epic.switch'>, 'id'> {
  const mode = mergeModes.find((one) => one === merge);
  if (merge !== undefined && mode === undefined)
    throw new Refusal('bad_request', `--merge must be one of ${mergeModes.join(', ')}.`);
  return {
    ...(watch === undefined ? {} : { watch: isOn('--watch', watch) }),
    ...(fix === undefined ? {} : { fix: isOn('--fix', fix) }),
    ...(mode === undefined ? {} : { merge: mode }),
  };
}

function isOn(flag: string, word: string): boolean {
  if (word === 'on' || word === 'off') return word === 'on';
  throw new Refusal('bad_request', `${flag} must be on or off.`);
}

function switchWords({ watch, fix, merge }: PullSwitches): readonly string[] {
  const off = [...(watch ? [] : ['watch']), ...(fix ? [] : ['fix'])];
  return [
    ...(off.length === 0 ? [] : [`switched off: ${off.join(', ')}`]),
    ...(merge === null ? [] : [`merged by: ${merge}`]),
  ];
}

function pullLines(pull: PullView): readonly string[] {
  const { number, state, url, branch, base, note, unread, given, stack, unsent, threads } = pull;
  return [
    `PR #${number} ${state}: ${url}`,
    `${branch} into ${base}, at ${pull.head.slice(0, 12)}`,
    ...(note === null ? [] : [note]),
    ...switchWords(pull.switches),
    ...stack.map((level) => `${level.state} PR #${level.number}: ${level.url} (${level.branch})`),
    ...unread.map(({ fact, why }) => `not read: ${fact} (${why})`),
    ...unsent.map(
      ({ kind, answer }) => `to be sent: ${kind}${answer === null ? '' : ` (${answer})`}`,
    ),
    ...given.map(({ about, task }) => `${about}: ${task ?? 'shown to you alone'}`),
    ...threads.flatMap(threadLines),
  ];
}

function threadLines(thread: PullThreadView): readonly string[] {
  const { id, kind, is_open: isOpen, comments, replies } = thread;
  const state = kind === 'approval' ? 'approved' : isOpen ? 'open' : 'resolved';
  return [
    `${threadPlace(thread)}, ${state} (${id})`,
    ...comments.map(({ author, text }) => `- ${author}: ${text}`),
    ...replies.map(({ text, error }) =>
      error === null ? `- you, to be sent: ${text}` : `- you, not sent (${error}): ${text}`,
    ),
  ];
}
