// What people say is stored: titles, descriptions, hints, notes, whole files. Values of secret
// variables are taken out of it before, in the caller's process (whose environment nobody else
// knows) and in the one that stores it.

import { maskDeep, type Mask } from '../../agents/kit/log/masking.ts';
import type { Params, RequestName } from '../../protocol/api.ts';
import type { RequestHandlers } from '../../rpc/transport/local.ts';

const taskWords = ['title', 'description', 'accept', 'labels'] as const;

/**
 * Parameters that are somebody's words. Ids, commands and an agent's answer have to arrive as they
 * are.
 */
const words: { readonly [N in RequestName]?: readonly (keyof Params<N>)[] } = {
  'epic.add': ['title', 'description'],
  'epic.edit': ['title', 'description'],
  'task.add': taskWords,
  'task.edit': taskWords,
  import: ['text'],
  'task.unpause': ['hint'],
  'task.cancel': ['reason'],
  'task.hint': ['text'],
  'task.resolve': ['note'],
  'task.send_back': ['text'],
  'task.give_back': ['note'],
};

export function maskRequest<N extends RequestName>(
  name: N,
  params: Params<N>,
  mask: () => Mask,
): Params<N> {
  const keys: readonly (keyof Params<N>)[] | undefined = words[name];
  if (keys === undefined || typeof params !== 'object') return params;
  const masked: Params<N> = { ...params };
  const now = mask();
  for (const key of keys) if (key in params) masked[key] = maskDeep(params[key], now);
  return masked;
}

/** The same handlers; each masks the words that it is given. */
export function maskingHandlers(handlers: RequestHandlers, mask: () => Mask): RequestHandlers {
  const masking: Record<string, (params: never) => Promise<unknown>> = { ...handlers };
  for (const name of Object.keys(words) as (keyof typeof words & keyof RequestHandlers)[]) {
    const handler = handlers[name] as (params: unknown) => Promise<unknown>;
    masking[name] = async (params) => handler(maskRequest(name, params, mask));
  }
  return masking as unknown as RequestHandlers;
}
