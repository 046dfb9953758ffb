// The worker contract's protocol, shared by the worker runtime and the execution client: paths,
// headers, texts and the format of events. §n is a section of the contract: §2 authentication, §3
// endpoints, §5 event stream, §9 the additions of Drover's runtime to the standard one. Readers are
// tolerant (a standard runtime may send less, or unlisted fields), writers are strict.

import type { DoneEvent, LineEvent, WorkerEvent } from './wire-schemas.ts';

/** §3. The runtime chooses job ids. `isJobId` checks ids from outside. */
export const healthPath = '/health';
export const workspacePath = '/workspace';
export const execPath = '/exec';
export const streamPath = (jobId: string): string => `${execPath}/${jobId}/stream`;
/** §9: only if the runtime announces `cancel`. A standard runtime responds with 404 or 405. */
export const cancelPath = (jobId: string): string => `${execPath}/${jobId}/cancel`;

/** §2. Bodies of errors are one line of plain text with a newline. */
export const unauthorizedText = 'unauthorized';
export const unknownJobText = 'unknown job_id';

/** §9. Absent on a standard runtime. */
export const workerHeaderName = 'x-drover-worker';
/**
 * `cancel`: `POST /exec/{id}/cancel`. `keepalive`: headers at once and a comment line every 15 s.
 * `partial`: long lines arrive in chunks marked `"partial":true`, and `GET /workspace` may be
 * requested while a job runs. `key`: `POST /exec` may be repeated with its key, and starts only one
 * job.
 */
export type WorkerFeature = 'cancel' | 'keepalive' | 'partial' | 'key';
export const workerFeatures: readonly WorkerFeature[] = ['cancel', 'keepalive', 'partial', 'key'];

export interface WorkerAbilities {
  /** 0 for a standard runtime. */
  readonly version: number;
  readonly features: ReadonlySet<string>;
}

/** The value of `X-Drover-Worker` that Drover's runtime sends with `GET /health`. */
export function workerHeader(): string {
  return `1; features=${workerFeatures.join(',')}`;
}

/** The features that a runtime announces. An unreadable value counts as a standard runtime. */
export function readWorkerHeader(value: string | undefined): WorkerAbilities {
  const match = /^\s*(\d{1,9})\s*(?:;\s*features=([\w,-]*))?/.exec(value ?? '');
  if (match === null) return { version: 0, features: new Set() };
  const names = (match[2] ?? '').split(',').filter((name) => name !== '');
  return { version: Number(match[1]), features: new Set(names) };
}

/** §9: the client's name for a job, by which a lost response to `POST /exec` is requested again. */
export const jobKeyPattern = /^[0-9a-f]{32}$/;

/**
 * §5.2: the line (on `stderr`) that replaces events dropped from the buffer. Its id is that of the
 * first dropped event.
 */
export const gapNotice =
  'stream replay gap: some earlier events were evicted from the worker buffer';

/**
 * §5.2: how many events of a job are kept, including `done`. Clients must not rely on the number.
 */
export const keptEvents = 1000;
/** §9: interval between two comment lines of a quiet stream. */
export const keepaliveMs = 15_000;
/** §4: how long a job is kept after its end. */
export const jobKeptMs = 15 * 60_000;
/** §9: time from TERM to KILL after a cancel. */
export const killAfterMs = 10_000;
/** §9.1: size of a `partial` chunk before escaping. */
export const partialBytes = 32 * 1024;
/** §9.1: maximum body of `POST /exec`. */
export const execBodyBytes = 1024 * 1024;
/**
 * §9.1: limit of an upload, for both its compressed and its unpacked size. The runtime can be
 * started with another one.
 */
export const uploadBytes = 500 * 1024 * 1024;
export const uploadEntries = 200_000;

const escapes: Readonly<Record<string, string>> = {
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
};
const needsEscape = /[<>&\u2028\u2029]/g;

/** Writes text like the standard runtime: `<`, `>` and `&` are escaped as well. */
function writeText(text: string): string {
  return JSON.stringify(text).replace(needsEscape, (found) => escapes[found] ?? found);
}

/** §5.1: one event as it appears in the stream, with sorted keys and the blank line after it. */
export function writeEvent(id: number, event: WorkerEvent): string {
  return `id: ${String(id)}\ndata: {${event.done === true ? doneFields(event) : lineFields(event)}}\n\n`;
}

function doneFields({ exit_code: code, signal }: DoneEvent): string {
  const end = signal === undefined ? '' : `,"signal":${writeText(signal)}`;
  return `"done":true,"exit_code":${String(code)}${end}`;
}

/**
 * Written by hand, because it runs for every line of output, and sorting a general object would
 * take most of the time.
 */
function lineFields({ line = '', partial, stream = 'stdout' }: LineEvent): string {
  const middle = partial === true ? '"partial":true,' : '';
  return `"line":${writeText(line)},${middle}"stream":${writeText(stream)}`;
}
