// The messages of an editor's language client in place of our own handshake and end. It starts with
// `initialize`, which carries the parameters of `hello`, and ends with `shutdown` and `exit`: both
// end only its connection.

import type { Answer } from '../../protocol/api.ts';
import { droverVersion } from '../../protocol/version.ts';

export const greetingName = 'initialize';
export const farewellName = 'shutdown';
export const endName = 'exit';

/**
 * The parameters of `hello` as the client's options bring them: nothing is known about them yet.
 */
export function helloParamsOf(raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || !('initializationOptions' in raw)) return null;
  return raw.initializationOptions;
}

export interface Initialized {
  readonly capabilities: { readonly experimental: Answer<'hello'> };
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly droverHello: Answer<'hello'>;
}

/** It offers no capability of the language protocol; a client finds the answer of `hello` in it. */
export function initialized(hello: Answer<'hello'>): Initialized {
  return {
    capabilities: { experimental: hello },
    serverInfo: { name: 'drover', version: droverVersion },
    droverHello: hello,
  };
}
