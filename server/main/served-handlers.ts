// Processes a request before its handler: masks secret values in people's texts that will be stored
// (titles, descriptions, hints, notes, whole files). This happens both in the caller's process,
// which alone knows its environment, and in the one that stores them. If the answer depends on
// settings, their files are read first.

import { personName } from '../project/policy-files.ts';
import { maskDeep, type Mask } from '../agents/kit/log/masking.ts';
import type { Params, RequestName } from '../protocol/api.ts';
import { actingAs, currentDevice } from '../store/feed/actor.ts';
import type { RequestHandlers } from '../rpc/transport/local.ts';

const taskWords = ['title', 'description', 'accept', 'labels'] as const;

/**
 * Parameters that contain a user's text. Ids, commands and an agent's answer must arrive unchanged.
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

type ServedName = keyof RequestHandlers;

/** Requests whose answer depends on settings. */
const settingRequests: ReadonlySet<ServedName> = new Set([
  'status',
  'why',
  'task.add',
  'import',
  'task.retry',
  'run.start',
]);

/**
 * Wraps the handlers so that texts are masked and settings are current. Their events name the
 * caller.
 */
export function servedHandlers(
  handlers: RequestHandlers,
  mask: () => Mask,
  machine: () => string,
  refreshSettings: () => Promise<void> = () => Promise.resolve(),
): RequestHandlers {
  const served: Record<string, (params: never) => Promise<unknown>> = { ...handlers };
  for (const name of new Set([...settingRequests, ...(Object.keys(words) as ServedName[])])) {
    const handler = handlers[name] as (params: unknown) => Promise<unknown>;
    served[name] = async (params) => {
      const masked = maskRequest(name, params, mask);
      if (settingRequests.has(name)) await refreshSettings();
      return await handler(masked);
    };
  }
  for (const [name, handler] of Object.entries(served)) {
    served[name] = (params) => {
      const device = currentDevice();
      const place = { machine: machine(), ...(device !== null && { device }) };
      // Only this user can reach the socket.
      return actingAs({ person: personName(), ...place }, () => handler(params));
    };
  }
  return served as unknown as RequestHandlers;
}
