// Runs a part (several chunks of the programs in one file, see build/bundled-parts.mjs) with the
// code that V8 compiled in an earlier process. Node's own compile cache excludes functions that are
// compiled on their first call, which is nearly all of them.
import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { createRequire, enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';

/** Stamp of the build: code compiled from other parts is not used. */
const build = process.env.DROVER_BUILD_STAMP;
const ofBundles = createRequire(import.meta.url);
/** Each command that reaches new functions makes the stored code larger. */
const wordsMax = 12;
/** A long-running program stores more code only if it has compiled much more. */
const growthMin = 1.1;
/** These programs wait for hours and occasionally print a line. */
const followers = ['run', 'resume'];

/** @typedef {{ script: Script, path: string, words: string[], bytes: number }} Part */
/** @type {Map<string, (chunk: string) => unknown>} */
const loaded = new Map();
/** @type {Part[]} */
const kept = [];
let program = '';
let folder = '';
/** The purpose of the process, or null if it has several purposes. */
let word = null;

/**
 * @param {string} name of the program that starts
 * @param {boolean} isLong
 */
export function begin(name, isLong) {
  program = name;
  word = isLong ? null : (/^[a-z][a-z-]{0,31}$/.exec(process.argv[2] ?? '')?.[0] ?? '');
  if (followers.includes(word)) doWithoutOptimizing();
  // If the folder is not writable, the programs start without it.
  folder = enableCompileCache?.(join(import.meta.dirname, '.compiled')).directory ?? '';
  if (folder !== '') process.on('exit', keepCode);
}

/**
 * V8's optimizing compilers load 10 MB of Node into memory when they first run. V8 refuses code
 * that was stored with other flags, so this program has its own stored code.
 */
function doWithoutOptimizing() {
  setFlagsFromString('--no-opt');
  setFlagsFromString('--no-maglev');
  // Objects that it reads at startup become old at once, so the space for young objects need not
  // grow for them.
  setFlagsFromString('--semi-space-growth-factor=1');
  program += '-lean';
}

/**
 * @param {string} part
 * @param {string} chunk
 */
export function chunkOf(part, chunk) {
  const known = loaded.get(part);
  if (known !== undefined) return known(chunk);
  const filename = join(import.meta.dirname, part);
  const path = join(folder, `drover-${process.version}-${process.arch}-${program}-${part}`);
  const { code, words } = folder === '' ? nothing : readCode(path);
  // The build leaves only ASCII in it.
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData: code });
  const isUsed = code !== undefined && script.cachedDataRejected === false;
  const bytes = isUsed ? code.length : 0;
  kept.push({ script, path, words: isUsed ? words : [], bytes });
  const chunks = script.runInThisContext()(ofBundles, filename, import.meta.dirname);
  loaded.set(part, chunks);
  return chunks(chunk);
}

/** @type {{ code?: Buffer, words: string[] }} */
const nothing = { words: [] };

/** The code, its source, and the source's length. */
function readCode(path) {
  try {
    const bytes = readFileSync(path);
    const end = bytes.length - 4;
    const about = JSON.parse(bytes.toString('latin1', end - bytes.readUInt32LE(end), end));
    if (about.build !== build) return nothing;
    return { code: bytes.subarray(0, about.bytes), words: about.words };
  } catch {
    return nothing;
  }
}

/** @param {number} exitCode */
function keepCode(exitCode) {
  if (exitCode > 1 || !isWritable(folder)) return;
  for (const { script, path, words, bytes } of kept) {
    if (word !== null && (words.includes(word) || words.length >= wordsMax)) continue;
    const code = script.createCachedData();
    if (word === null && code.length < bytes * growthMin) continue;
    writeCode(path, code, [...new Set([...words, word ?? ''])]);
  }
}

function isWritable(path) {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/** Written atomically, even across a power cut, because V8 does not check its input. */
function writeCode(path, code, words) {
  const about = Buffer.from(JSON.stringify({ build, words, bytes: code.length }), 'latin1');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(about.length);
  const draft = `${path}.${process.pid}`;
  try {
    const file = openSync(draft, 'wx', 0o600);
    try {
      for (const piece of [code, about, length]) {
        if (writeSync(file, piece) < piece.length) throw new Error('the disk is full');
      }
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch {
    try {
      rmSync(draft, { force: true });
    } catch {
      // The disk accepts no writes, and stored code could not be read back.
    }
  }
}
