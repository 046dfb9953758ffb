// The extension's first message to a webview, as a test wants it.

import type { HostState, WebviewName } from '../../../webview/messages/messages.ts';
import { smallBoard } from './boards.ts';

export function hostState(webview: WebviewName, change: Partial<HostState> = {}): HostState {
  return {
    webview,
    connection: { kind: 'connected', version: '0.1.0', root: '/home/person/project' },
    board: smallBoard(),
    subject: { id: null, attempt: null },
    agents: ['claude', 'demo'],
    settings: { showPreflight: true, reduceMotion: true },
    ...change,
  };
}
