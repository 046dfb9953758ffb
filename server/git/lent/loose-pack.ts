// Packs the loose objects of a confined program without a process: two processes less for each
// import. What is not plainly an object of its name is left to git, which tells what is wrong.

import { createHash } from 'node:crypto';
import { type Dir, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync, inflateSync } from 'node:zlib';
import { readPlain } from '../files/small-files.ts';

export interface LoosePack {
  readonly count: number;
  readonly bytes: Buffer;
}

/** Above these, other processes do it: reading and packing stops all else here. */
const objectsMax = 200;
const foldersMax = 300;
const bytesMax = 2 * 1024 * 1024;

/** How a pack names the kinds of objects. */
const kinds: ReadonlyMap<string, number> = new Map([
  ['commit', 1],
  ['tree', 2],
  ['blob', 3],
  ['tag', 4],
]);

/** Null: git is to pack them. `objects`: a folder that no program writes any more. */
export function packOfLoose(objects: string, idBytes: 20 | 32): LoosePack | null {
  const algorithm = idBytes === 20 ? 'sha1' : 'sha256';
  const ids = looseIds(objects, idBytes);
  if (ids === null) return null;
  const parts: Buffer[] = [];
  let room = bytesMax;
  for (const id of ids) {
    const whole = readLoose(join(objects, id.slice(0, 2), id.slice(2)), room);
    if (whole === null || createHash(algorithm).update(whole).digest('hex') !== id) return null;
    const entry = entryOf(whole);
    if (entry === null) return null;
    room -= whole.length;
    parts.push(...entry);
  }
  const body = Buffer.concat([packHead(ids.length), ...parts]);
  const sum = createHash(algorithm).update(body).digest();
  return { count: ids.length, bytes: Buffer.concat([body, sum]) };
}

/** Null: there are too many, or packs beside them. Names that git passes over are left out. */
function looseIds(objects: string, idBytes: number): readonly string[] | null {
  if (namesUpTo(join(objects, 'pack'), 0) === null) return null;
  const ids: string[] = [];
  const rest = new RegExp(`^[0-9a-f]{${idBytes * 2 - 2}}$`);
  const folders = namesUpTo(objects, foldersMax);
  if (folders === null) return null;
  for (const folder of folders) {
    if (!/^[0-9a-f]{2}$/.test(folder)) continue;
    const names = namesUpTo(join(objects, folder), objectsMax - ids.length);
    if (names === null) return null;
    for (const name of names) if (rest.test(name)) ids.push(`${folder}${name}`);
  }
  return ids;
}

/** Null: there are more, however many: a program made them. */
function namesUpTo(folder: string, most: number): readonly string[] | null {
  let opened: Dir;
  try {
    opened = opendirSync(folder);
  } catch {
    return [];
  }
  try {
    const names: string[] = [];
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (names.length === most) return null;
      names.push(entry.name);
    }
    return names;
  } finally {
    opened.closeSync();
  }
}

function readLoose(file: string, room: number): Buffer | null {
  const packed = readPlain(file, bytesMax);
  if (packed === null || room <= 0) return null;
  try {
    return inflateSync(packed, { maxOutputLength: room });
  } catch {
    return null;
  }
}

/** From `<kind> <size>\0<content>`. */
function entryOf(whole: Buffer): readonly [Buffer, Buffer] | null {
  const end = whole.subarray(0, 32).indexOf(0);
  const [kind = '', size = ''] = whole.toString('latin1', 0, Math.max(0, end)).split(' ');
  const content = whole.subarray(end + 1);
  const number = kinds.get(kind);
  if (number === undefined || size !== String(content.length)) return null;
  // Git reads it once and packs it again in its own way: nothing is gained by packing it here.
  return [entryHead(number, content.length), deflateSync(content, { level: 0 })];
}

function packHead(count: number): Buffer {
  const head = Buffer.from('PACK\0\0\0\u0002\0\0\0\0', 'latin1');
  head.writeUInt32BE(count, 8);
  return head;
}

/** The kind with the lowest four bits of the size, then seven bits a byte while there are more. */
function entryHead(kind: number, size: number): Buffer {
  const bytes: number[] = [];
  let left = size >>> 4;
  let byte = (kind << 4) | (size & 0x0f);
  while (left > 0) {
    bytes.push(byte | 0x80);
    byte = left & 0x7f;
    left >>>= 7;
  }
  return Buffer.from([...bytes, byte]);
}
