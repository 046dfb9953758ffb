// One row of a table of refusals: the exit code, the sentence, and proof that nothing changed; for
// people and with `--json`.

import assert from 'node:assert/strict';
import { runDrover, type Call, type Ended } from './command.ts';
import { runHere } from './here.ts';
import { table } from './lanes.ts';
import { freshPlace, removePlace, type Base, type Place } from './place.ts';
import { endBackend, killLeftovers, leftProcesses } from './processes.ts';
import { snapshotOf, type Snapshot } from './snapshot.ts';

type Word = string | RegExp;

export interface Row {
  readonly title: string;
  /** The default is `project`. */
  readonly base?: Base;
  /** Creates the bad input; the returned function removes any leftovers of the row. */
  readonly prepare?: (place: Place) => void | (() => void) | Promise<void | (() => void)>;
  readonly args: readonly string[] | ((place: Place) => readonly string[]);
  readonly call?: Partial<Call> | ((place: Place) => Partial<Call>);
  readonly code: 0 | 1 | 3 | 64;
  /** Kind of the refusal in the JSON. */
  readonly kind?: string;
  /**
   * All of them must be in one sentence: the thing and the remedy. For code 0, on standard error.
   */
  readonly words: readonly Word[];
  /** The command succeeds: its output is checked once, without `--json`. */
  readonly works?: true;
  /** With `--json`, standard output contains more than the refusal. */
  readonly more?: (answer: Readonly<Record<string, unknown>>) => void;
}

const sentenceCharactersMax = 1_500;

type Runs = (call: Call) => Promise<Ended>;

/**
 * A table whose rows need no separate process: only the first row has one, to show that the result
 * is the same. Rows that create no bad input share a place, because all of them must leave it
 * unchanged; a backend that one of them starts serves them all.
 */
export function tableHere(title: string, rows: readonly Row[]): void {
  let shared: { readonly place: Place; readonly before: Snapshot } | null = null;
  const checkShared = async (row: Row): Promise<void> => {
    if (shared === null) {
      const place = await freshPlace('project');
      shared = { place, before: snapshotOf(place) };
    }
    const runs = row === rows[0] ? runDrover : runHere;
    await checkIn(row, shared.place, runs, shared.before);
  };
  const isAlone = ({ base, prepare, works }: Row): boolean =>
    (base ?? prepare ?? works) !== undefined;
  const end = async (): Promise<void> => {
    if (shared === null) return;
    const { place } = shared;
    try {
      await checkLeft(place);
    } finally {
      killLeftovers(place.folder);
      removePlace(place);
    }
  };
  const checkRow = (row: Row): Promise<void> =>
    isAlone(row) ? check(row, runHere) : checkShared(row);
  table(title, rows, checkRow, { lanes: 1, end });
}

export async function check(row: Row, runs: Runs = runDrover): Promise<void> {
  const place = await freshPlace(row.base ?? 'project');
  const undo = await row.prepare?.(place);
  try {
    await checkIn(row, place, runs, snapshotOf(place));
    await checkLeft(place);
  } finally {
    killLeftovers(place.folder);
    undo?.();
    removePlace(place);
  }
}

async function checkLeft(place: Place): Promise<void> {
  await endBackend(place.root);
  assert.deepEqual(await leftProcesses(place.folder), [], 'processes are left');
}

async function checkIn(row: Row, place: Place, runs: Runs, before: Snapshot): Promise<void> {
  let said = '';
  for (const json of row.works === true ? [false] : [false, true]) {
    const ended = await runRow(row, place, json, runs);
    said = `exit code ${ended.code}\n${ended.stdout}\n${ended.stderr}`.slice(0, 4_000);
    assert.equal(ended.isLate, false, `it did not end in time: ${said}`);
    assert.equal(ended.code, row.code, said);
    assert.doesNotMatch(ended.stderr, /^\s+at .+:\d+:\d+\)?$/m, 'a stack trace is no sentence');
    if (row.code === 0) checkWords(row.words, ended.stderr);
    else if (json) checkJson(row, ended);
    else checkText(row, ended);
  }
  if (row.works === true) return;
  assert.deepEqual(snapshotOf(place), before, `something was changed; it said: ${said}`);
}

async function runRow(row: Row, place: Place, json: boolean, runs: Runs): Promise<Ended> {
  const args = typeof row.args === 'function' ? row.args(place) : row.args;
  const call = typeof row.call === 'function' ? row.call(place) : row.call;
  return await runs({
    cwd: place.root,
    home: place.home,
    ...call,
    args: json ? ['--json', ...args] : args,
  });
}

function checkText(row: Row, { stdout, stderr }: Ended): void {
  assert.equal(stdout, '', 'standard output is for answers');
  const sentence = stderr.split('\n').findLast((line) => line.startsWith('drover: ')) ?? '';
  assert.notEqual(sentence, '', `no sentence: ${stderr}`);
  checkSentence(row, sentence);
}

function checkJson(row: Row, { stdout, stderr }: Ended): void {
  const answer = parsed(stdout);
  const error = answer['error'] as { kind?: unknown; message?: unknown } | undefined;
  assert.equal(typeof error?.message, 'string', `no error in ${stdout}`);
  checkSentence(row, String(error?.message));
  if (row.kind !== undefined) assert.equal(error?.kind, row.kind);
  if (row.code === 64) assert.equal(error?.kind, 'usage');
  assert.match(stderr, /^drover: /m, 'the sentence is for people too');
  row.more?.(answer);
}

/** Exactly one line with exactly one object. */
function parsed(stdout: string): Readonly<Record<string, unknown>> {
  assert.match(stdout, /^\{[^\n]*\}\n$/, 'standard output has to be one line of JSON');
  return JSON.parse(stdout) as Readonly<Record<string, unknown>>;
}

function checkSentence(row: Row, sentence: string): void {
  checkWords(row.words, sentence);
  assert.ok(sentence.length <= sentenceCharactersMax, `${sentence.length} characters are too many`);
  assert.doesNotMatch(sentence, /undefined|\[object|null\b/, sentence);
}

function checkWords(words: readonly Word[], text: string): void {
  for (const word of words) {
    const isThere = typeof word === 'string' ? text.includes(word) : word.test(text);
    assert.ok(isThere, `${String(word)} is not in: ${text.slice(0, 2_000)}`);
  }
}
