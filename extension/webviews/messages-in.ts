// Messages of webviews are looked at before anything is done with them: a webview shows other people's text. Pure.

import {
  webviewRequests,
  type FromWebview,
  type HostActionName,
  type WebviewRequestName,
} from '../../webview/messages/messages.ts';

/** Every host action by name, so that the compiler asks for new ones. */
const hostActionNames: { readonly [N in HostActionName]: true } = {
  hello: true,
  runEpic: true,
  stopRun: true,
  openStream: true,
  openGrid: true,
  openBoard: true,
  review: true,
  takeOver: true,
  giveBack: true,
  openWorktree: true,
  undoLanding: true,
  command: true,
  copy: true,
  openFile: true,
  notify: true,
  pick: true,
  measured: true,
};

const selectionMax = 10_000;

/** The message, or null when it is none that a webview of ours would send. */
export function readMessage(raw: unknown): FromWebview | null {
  if (typeof raw !== 'object' || raw === null) return null;
  const message = raw as Readonly<Record<string, unknown>>;
  switch (message['type']) {
    case 'ask':
      return readAsk(message);
    case 'selection': {
      const ids = message['ids'];
      if (!Array.isArray(ids) || ids.length > selectionMax) return null;
      const texts = ids.filter((id) => typeof id === 'string');
      return texts.length === ids.length ? { type: 'selection', ids: texts } : null;
    }
    default:
      return null;
  }
}

function readAsk(message: Readonly<Record<string, unknown>>): FromWebview | null {
  const { ask, name, params } = message;
  if (typeof ask !== 'number' || typeof name !== 'string') return null;
  if (message['to'] === 'backend' && isWebviewRequest(name)) {
    return { type: 'ask', ask, to: 'backend', name, params: objectOf(params) };
  }
  if (message['to'] === 'host' && isHostAction(name)) {
    return { type: 'ask', ask, to: 'host', name, params: objectOf(params) };
  }
  return null;
}

/** The number of a question that is refused, so that whoever asked hears of it. */
export function refusedAsk(raw: unknown): number | null {
  if (typeof raw !== 'object' || raw === null || !('ask' in raw)) return null;
  return typeof raw.ask === 'number' ? raw.ask : null;
}

function objectOf(params: unknown): object {
  return typeof params === 'object' && params !== null ? params : {};
}

function isWebviewRequest(name: string): name is WebviewRequestName {
  return (webviewRequests as readonly string[]).includes(name);
}

function isHostAction(name: string): name is HostActionName {
  return Object.hasOwn(hostActionNames, name);
}
