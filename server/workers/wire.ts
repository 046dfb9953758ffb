// The worker contract's wire, shared by the worker runtime and the execution client: paths,
// headers, texts and how events are written. §n is a section of the contract: §2 authentication, §3
// endpoints, §5 event stream, §9 the additions of Drover's runtime to stock. Readers are tolerant
// (a stock runtime may send less, or fields that are not listed here), writers are strict.

import type { DoneEvent, LineEvent, WorkerEvent } from './wire-schemas.ts';

/** §3. The runtime chooses job ids; `isJobId` checks those from outside. */
export const healthPath = '/health';
export const workspacePath = '/workspace';
export const execPath = '/exec';
export const streamPath = (jobId: string): string => `${execPath}/${jobId}/stream`;
/** §9: only if the runtime announces `cancel`; a stock runtime answers 404 or 405. */
export const cancelPath = (jobId: string): string => `${execPath}/${jobId}/cancel`;

/** §2. Bodies of errors are one line of plain text with a newline. */
export const unauthorizedText = 'unauthorized';
export const unknownJobText = 'unknown job_id';

/** §9. Absent on a stock runtime. */
export const workerHeaderName = 'x-drover-worker';
/**
 * `cancel`: `POST /exec/{id}/cancel`. `keepalive`: headers at once and a comment line every 15 s.
 * `partial`: long lines come in chunks marked `"partial":true`, and `GET /workspace` may be asked
 * for while a job runs. `key`: `POST /exec` may be repeated with its key, and starts one job.
 */
export type WorkerFeature = 'cancel' | 'keepalive' | 'partial' | 'key';
export const workerFeatures: readonly WorkerFeature[] = ['cancel', 'keepalive', 'partial', 'key'];

export interface WorkerAbilities {
  /** 0 is a stock runtime. */
  readonly version: number;
  readonly features: ReadonlySet<string>;
}

/** The value of `X-Drover-Worker` that Drover's runtime sends with `GET /health`. */
export function workerHeader(): string {
  return `1; features=${workerFeatures.join(',')}`;
}

/** The abilities that a runtime announces; an unreadable value counts as stock. */
export function readWorkerHeader(value: string | undefined): WorkerAbilities {
  const match = /^\s*(\d{1,9})\s*(?:;\s*features=([\w,-]*))?/.exec(value ?? '');
  if (match === null) return { version: 0, features: new Set() };
  const names = (match[2] ?? '').split(',').filter((name) => name !== '');
  return { version: Number(match[1]), features: new Set(names) };
}

/** §9: the client's name of a job, by which a lost answer of `POST /exec` is asked for again. */
export const jobKeyPattern = /^[0-9a-f]{32}$/;

/**
 * §5.2: the line (on `stderr`) that replaces events which the buffer has lost. Its id is that of
 * the first lost event.
 */
export const gapNotice =
  'stream replay gap: some earlier events were evicted from the worker buffer';

/** §5.2: how many events of a job are kept, `done` included. A client relies on no number. */
export const keptEvents = 1000;
/** §9: between two comment lines of a quiet stream. */
export const keepaliveMs = 15_000;
/** §4: how long a job is kept after its end. */
export const jobKeptMs = 15 * 60_000;
/** §9: from TERM to KILL after a cancel. */
export const killAfterMs = 10_000;
/** §9.1: of a `partial` chunk, before escaping. */
export const partialBytes = 32 * 1024;
/** §9.1: of the body of `POST /exec`. */
export const execBodyBytes = 1024 * 1024;
/**
 * §9.1: of an upload, compressed and unpacked each; the runtime can be started with another one.
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

/** Writes text like stock: `<`, `>` and `&` are escaped as well. */
function writeText(text: string): string {
  return JSON.stringify(text).replace(needsEscape, (found) => escapes[found] ?? found);
}

/**
 * §5.1: one event as it appears in the stream, its keys sorted, including the blank line after it.
 */
export function writeEvent(id: number, event: WorkerEvent): string {
  return `id: ${String(id)}\ndata: {${event.done === true ? doneFields(event) : lineFields(event)}}\n\n`;
}

function doneFields({ exit_code: code, signal }: DoneEvent): string {
  const end = signal === undefined ? '' : `,"signal":${writeText(signal)}`;
  return `"done":true,"exit_code":${String(code)}${end}`;
}

/**
 * Written by hand: it runs for every line of output, and sorting a general object takes most of the
 * time.
 */
function lineFields({ line = '', partial, stream = 'stdout' }: LineEvent): string {
  const middle = partial === true ? '"partial":true,' : '';
  return `"line":${writeText(line)},${middle}"stream":${writeText(stream)}`;
}
