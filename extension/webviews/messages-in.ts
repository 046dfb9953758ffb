// Checks messages of webviews before use, because a webview shows untrusted text. Pure.

import { isOneOf } from '../../server/core/one-of.ts';
import {
  readingRequests,
  webviewRequests,
  type Ask,
  type FromWebview,
  type HostActionName,
} from '../../webview/messages/messages.ts';

/** Every host action by name, so that the compiler requires new ones. */
const hostActionNames: { readonly [N in HostActionName]: true } = {
  hello: true,
  runEpic: true,
  runAll: true,
  runTask: true,
  retry: true,
  sendBack: true,
  resolve: true,
  landEpic: true,
  stopRun: true,
  openStream: true,
  previewTask: true,
  readPlace: true,
  openStepLog: true,
  pickFile: true,
  followUp: true,
  findFiles: true,
  sentMessages: true,
  pickImages: true,
  attachFiles: true,
  quoteSelection: true,
  readImage: true,
  readRules: true,
  readPlan: true,
  checkPlan: true,
  addPlan: true,
  editPlan: true,
  dropPlan: true,
  openGrid: true,
  openWorktrees: true,
  retryFailed: true,
  openBoard: true,
  review: true,
  takeOver: true,
  giveBack: true,
  openWorktree: true,
  compare: true,
  undoLanding: true,
  mergeConflict: true,
  command: true,
  copy: true,
  openFile: true,
  notify: true,
  pick: true,
  measured: true,
  keysHere: true,
  keysDone: true,
};

const selectionMax = 10_000;
const asksMax = 1_000;

export type MessageIn =
  | Extract<FromWebview, { type: 'selection' }>
  /** Each request is checked separately, so that a refused one does not affect the others. */
  | { readonly type: 'asks'; readonly asks: readonly unknown[] };

/** The message, or null if none of Drover's webviews would send it. */
export function readMessage(raw: unknown): MessageIn | null {
  const { type, asks, ids, hasFocus } = fieldsOf(raw);
  switch (type) {
    case 'asks':
      return Array.isArray(asks) && asks.length <= asksMax ? { type, asks } : null;
    case 'selection': {
      if (!Array.isArray(ids) || ids.length > selectionMax) return null;
      const texts = ids.filter((id) => typeof id === 'string');
      return texts.length === ids.length ? { type, ids: texts, hasFocus: hasFocus === true } : null;
    }
    default:
      return null;
  }
}

/** Returns null if a webview may not send this request. */
export function readAsk(raw: unknown): Ask | null {
  const { ask, name, to, params } = fieldsOf(raw);
  if (typeof ask !== 'number' || typeof name !== 'string') return null;
  if (to === 'backend' && isOneOf(webviewRequests, name)) {
    return { ask, to, name, params: fieldsOf(params) };
  }
  if (to === 'host' && isHostAction(name)) return { ask, to, name, params: fieldsOf(params) };
  return null;
}

const changingActions: ReadonlySet<string> = new Set<HostActionName>([
  'runTask',
  'retry',
  'sendBack',
  'resolve',
  'landEpic',
  'takeOver',
  'giveBack',
  'mergeConflict',
  'pickImages',
  'attachFiles',
]);

/** Whether a person uses it for something other than reading. */
export function isChange({ to, name }: Ask): boolean {
  return to === 'backend' ? !isOneOf(readingRequests, name) : changingActions.has(name);
}

/** The number of a refused request, so that its sender gets the refusal. */
export function refusedAsk(raw: unknown): number | null {
  const { ask } = fieldsOf(raw);
  return typeof ask === 'number' ? ask : null;
}

function fieldsOf(raw: unknown): Readonly<Record<string, unknown>> {
  return typeof raw === 'object' && raw !== null ? (raw as Record<string, unknown>) : {};
}

function isHostAction(name: string): name is HostActionName {
  return Object.hasOwn(hostActionNames, name);
}
