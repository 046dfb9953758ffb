// The messages of an editor's language client, which replace our own handshake and end. It starts
// with `initialize`, which carries the parameters of `hello`, and ends with `shutdown` and `exit`,
// both of which end only its connection.

import type { Answer } from '../../protocol/api.ts';
import { droverVersion } from '../../protocol/version.ts';

export const greetingName = 'initialize';
export const farewellName = 'shutdown';
export const endName = 'exit';

/** The parameters of `hello` as sent by the client, not validated yet. */
export function parseHelloParams(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || !('initializationOptions' in raw)) return null;
  return raw.initializationOptions;
}

export interface Initialized {
  readonly capabilities: { readonly experimental: Answer<'hello'> };
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly droverHello: Answer<'hello'>;
}

/**
 * Announces no capabilities of the language server protocol. The client finds the response to
 * `hello` in it.
 */
export function initialized(hello: Answer<'hello'>): Initialized {
  return {
    capabilities: { experimental: hello },
    serverInfo: { name: 'drover', version: droverVersion },
    droverHello: hello,
  };
}
