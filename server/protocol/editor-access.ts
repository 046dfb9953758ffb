// Data from the server's code inside an editor's process before it is connected: the state of git
// and the folder, and a connection to a backend.

import type { Params } from './api.ts';

export interface OpenedBackend<Socket> {
  readonly socket: Socket;
  /** The handshake that the caller must send first. */
  readonly hello: Params<'hello'>;
  /** True if the backend was started for this connection. */
  readonly started: boolean;
}

export type GitState =
  | { readonly kind: 'ok'; readonly version: string }
  | { readonly kind: 'missing' | 'too_old'; readonly message: string };

export type RootState =
  | { readonly kind: 'project' | 'not_initialised'; readonly root: string }
  | { readonly kind: 'no_repository'; readonly message: string };

/** The result of running the `drover` command. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}
