// A board for a webview: its JSON, deflated. VS Code copies every value of an object on each of its
// hops, and in a remote window sends it over a socket: with 10,000 tasks, this took most of the
// time until a panel appeared. Pure.

import { deflateRawSync } from 'node:zlib';
import { packTasks } from '../../server/protocol/packed-tasks.ts';
import type { StatusSnapshot } from '../../server/protocol/views.ts';
import type { PackedBoard } from '../../webview/messages/messages.ts';

const encoded = new WeakMap<StatusSnapshot, Uint8Array>();

export function packedBoard(board: StatusSnapshot): PackedBoard {
  return { ...board, tasks: packTasks(board.tasks) };
}

/** Returns the same bytes for the same board, because several panels show it. */
export function boardBytes(board: StatusSnapshot): Uint8Array {
  const known = encoded.get(board);
  if (known !== undefined) return known;
  const bytes = deflated(JSON.stringify(packedBoard(board)));
  encoded.set(board, bytes);
  return bytes;
}

export function deflated(json: string): Uint8Array {
  // The fastest level, because others save little with such repetitive data.
  return new Uint8Array(deflateRawSync(json, { level: 1 }));
}
