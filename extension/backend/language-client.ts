// One connection to the backend through vscode-languageclient: greets in `initialize`, then
// requests and notifications.

import type { Socket } from 'node:net';
import type { LogOutputChannel } from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
} from 'vscode-languageclient/node';
import { protocolVersion } from '../../server/protocol/api.ts';
import type { Answer, Notifications } from '../../server/protocol/api.ts';
import type { BackendRequestName, BackendRequests } from '../../webview/messages/messages.ts';
import type { OpenedBackend } from '../../server/protocol/editor-access.ts';
import { BackendFailure, gone, toFailure } from './failure.ts';

export interface ClientEvents {
  readonly onEvents: (batch: Notifications['events']) => void;
  readonly onLeaving: (notice: Notifications['leaving']) => void;
  readonly onClosed: () => void;
}

/** Sends a request to the backend; throws BackendFailure. */
export type BackendRequest = <N extends BackendRequestName>(
  name: N,
  params: BackendRequests[N]['params'],
) => Promise<BackendRequests[N]['result']>;

export interface BackendClient {
  readonly hello: Answer<'hello'>;
  /** The only way to send a request; all callers share this function. */
  readonly request: BackendRequest;
  close(): void;
}

/** Shows no messages itself: Drover reports connection problems in one place. */
class QuietLanguageClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }

  override warn(message: string, data?: unknown): void {
    super.warn(message, data, false);
  }
}

/**
 * Connects and greets; `open` provides the socket. Throws BackendFailure if no connection can be
 * made.
 */
export async function connectClient(
  open: () => Promise<OpenedBackend<Socket>>,
  events: ClientEvents,
  outputChannel: LogOutputChannel,
): Promise<BackendClient> {
  const opened = await open();
  const { socket } = opened;
  let isOpen = true;
  const closed = (): void => {
    if (!isOpen) return;
    isOpen = false;
    events.onClosed();
  };
  const client = new QuietLanguageClient(
    'drover',
    'Drover',
    () => Promise.resolve({ reader: socket, writer: socket, detached: true }),
    {
      initializationOptions: opened.hello,
      outputChannel,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      // Rethrown, because otherwise the client would show its own message, or stop a connection
      // that never started.
      initializationFailedHandler: (error: unknown) => {
        throw error;
      },
      errorHandler: {
        error: () => ({ action: ErrorAction.Continue, handled: true }),
        closed: () => {
          closed();
          const message = 'The backend closed the connection.';
          return { action: CloseAction.DoNotRestart, handled: true, message };
        },
      },
    },
  );
  client.onNotification('events', events.onEvents);
  client.onNotification('leaving', events.onLeaving);
  const hello = await greet(client).catch((error: unknown) => {
    // A failed handshake reports its own error; it is not a lost connection.
    isOpen = false;
    socket.destroy();
    throw toFailure(error);
  });
  return {
    hello,
    request: async (name, params) => {
      if (!isOpen) throw gone();
      try {
        return await client.sendRequest(name, params);
      } catch (error) {
        throw toFailure(error);
      }
    },
    close() {
      isOpen = false;
      client
        .stop(1_000)
        .catch(() => undefined)
        .finally(() => socket.destroy());
    },
  };
}

async function greet(client: LanguageClient): Promise<Answer<'hello'>> {
  await client.start();
  const answer = client.initializeResult?.capabilities.experimental as Answer<'hello'> | undefined;
  if (answer === undefined || typeof answer.protocol !== 'number') {
    throw new BackendFailure('protocol', 'The running backend is older than this extension.');
  }
  if (answer.leaving) throw new BackendFailure('leaving', 'An older backend is shutting down.');
  if (answer.protocol !== protocolVersion) throw otherProtocol(answer);
  return answer;
}

function otherProtocol(answer: Answer<'hello'>): BackendFailure {
  const isOlder = answer.protocol < protocolVersion;
  return new BackendFailure(
    'protocol',
    isOlder
      ? `The running backend (version ${answer.version}) is older than this extension. Wait until it is idle, or stop it.`
      : `The running backend (version ${answer.version}) is newer than this extension. Update the extension.`,
  );
}
